/** @module Endpoints of manifests: list, add, change, check and remove them. */
import { databaseTime } from "../../database/connect.ts";
import type { Source, Upload } from "../../database/schema.ts";
import {
  type About,
  addManifest,
  changeManifest,
  pauseManifest,
  removeManifest,
  requestRun,
  uploadFiles,
} from "../../runs/decide.ts";
import { fitsPattern } from "../../sources/git-url.ts";
import { manifestStatuses, momentWords } from "../documents.ts";
import type { Call, Handlers } from "../endpoint.ts";
import { decided, Problem } from "../problem.ts";
import { findManifest, manifestPage, manifestsOf, statusOf, tenants } from "../rows.ts";

interface Checking {
  readonly auto?: "safe" | "none";
  readonly intervalSeconds?: number;
}
interface NewManifest extends Checking {
  readonly tenant: string;
  readonly name: string;
  readonly source: Source;
  readonly files?: Upload;
}

export const manifestHandlers: Handlers = {
  async listManifests({ context, caller, query }) {
    const found = manifestsOf(context.database, tenants(caller, query));
    const status = manifestStatuses.find((known) => known === query.status);
    return manifestPage(status === undefined ? found : found.where(statusOf, "=", status), query);
  },
  async addManifest({ context, caller, body }: Call<NewManifest>) {
    const { tenant, name, source, files, auto, intervalSeconds = 600 } = body;
    const config = context.config.current();
    const known = Object.hasOwn(config.tenants, tenant) ? config.tenants[tenant] : undefined;
    if (known === undefined || (caller.tenant !== null && caller.tenant !== tenant))
      throw new Problem("not-found", "there is no such tenant");
    if ((source.type === "upload") !== (files !== undefined))
      throw new Problem("invalid-request", "files come with the source upload, and with no other");
    if (source.type === "git" && !config.git.allow.some((pattern) => fitsPattern(source.url, pattern)))
      throw new Problem("source-refused", "git.allow of the configuration does not list this address");
    const row = {
      tenant,
      name,
      source,
      files,
      auto: auto ?? known.auto,
      interval_seconds: intervalSeconds,
    };
    const added = decided(await addManifest(context, { ...row, actor: caller.actor }));
    return { ...added, manifest: await findManifest({ context, caller, path: { tenant, name } }) };
  },
  showManifest: findManifest,
  async changeManifest(call: Call<Checking>) {
    decided(await changeManifest(call.context, { ...call.body, ...(await about(call)) }));
    return findManifest(call);
  },
  removeManifest: async (call) => decided(await removeManifest(call.context, await about(call))),
  uploadFiles: async (call: Call<{ readonly files: Upload }>) =>
    decided(await uploadFiles(call.context, { ...call.body, ...(await about(call)) })),
  reconcile: async (call) => decided(await requestRun(call.context, await about(call))),
  async pause(call: Call<{ readonly until: string | null }>) {
    const { until } = call.body;
    if (until !== null && Date.parse(until) <= (await databaseTime(call.context.database)).getTime())
      throw new Problem("invalid-request", `the body at /until must be ${momentWords}`);
    return decided(await pauseManifest(call.context, { until, ...(await about(call)) }));
  },
};

/** The manifest that a decision is about, and the one who takes it. */
async function about(call: Pick<Call, "context" | "caller" | "path">): Promise<About> {
  return { id: (await findManifest(call)).id, actor: call.caller.actor };
}

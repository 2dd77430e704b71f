/** @module Endpoints of manifests: what is in the fleet, and how it is checked. */
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
import { bodies, manifestStatuses, nameSchema, type Schema } from "../documents.ts";
import { type Call, type Endpoint, endpoint } from "../endpoint.ts";
import { decided, Problem } from "../problem.ts";
import { findManifest, manifestPage, manifestsOf, statusOf, tenants } from "../rows.ts";

const one = "/api/v1/manifests/{tenant}/{name}";
const maxBody = 8 * 1024 * 1024;

/** Parameters of pages. `after` is the `next` of the page before. */
export const paging: { readonly limit: Schema; readonly after: Schema } = {
  limit: { type: "integer", minimum: 1, maximum: 500 },
  after: { type: "string", pattern: "^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$", maxLength: 150 },
};

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

export const manifestEndpoints: readonly Endpoint[] = [
  endpoint(
    "GET /api/v1/manifests",
    ["listManifests", "Lists manifests in the order of their names", "viewer"],
    {
      query: { tenant: nameSchema, status: { enum: manifestStatuses }, ...paging },
      answers: { 200: "Manifests" },
    },
    ({ world, caller, query }) => {
      const found = manifestsOf(world.database, tenants(caller, query));
      const status = manifestStatuses.find((one) => one === query.status);
      return manifestPage(status === undefined ? found : found.where(statusOf, "=", status), query);
    },
  ),
  endpoint<NewManifest>(
    "POST /api/v1/manifests",
    ["addManifest", "Adds a manifest from Git, or with its files, and asks for its first run", "admin"],
    { body: bodies.newManifest, maxBody, answers: { 201: "Added" } },
    async ({ world, caller, body }) => {
      const { tenant, name, source, files, auto, intervalSeconds = 600 } = body;
      const config = world.config.current();
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
      const added = decided(await addManifest(world, { ...row, actor: caller.actor }));
      return { ...added, manifest: await findManifest({ world, caller, path: { tenant, name } }) };
    },
  ),
  endpoint(
    `GET ${one}`,
    ["showManifest", "Shows a manifest", "viewer"],
    { answers: { 200: "Manifest" } },
    findManifest,
  ),
  endpoint<Checking>(
    `PATCH ${one}`,
    ["changeManifest", "Changes how a manifest is checked", "admin"],
    { body: bodies.change, answers: { 200: "Manifest" } },
    async (call) => {
      decided(await changeManifest(call.world, { ...call.body, ...(await about(call)) }));
      return findManifest(call);
    },
  ),
  endpoint(
    `DELETE ${one}`,
    ["removeManifest", "Takes a manifest out of the fleet; its databases and its state stay", "admin"],
    { answers: { 200: "Done" } },
    async (call) => decided(await removeManifest(call.world, await about(call))),
  ),
  endpoint<{ readonly files: Upload }>(
    `PUT ${one}/files`,
    ["uploadFiles", "Replaces files that came by upload, and asks for a run if they differ", "planner"],
    { body: bodies.upload, maxBody, answers: { 202: "Asked" } },
    async (call) => decided(await uploadFiles(call.world, { ...call.body, ...(await about(call)) })),
  ),
  endpoint(
    `POST ${one}/runs`,
    ["reconcile", "Asks for a run now", "planner"],
    { body: bodies.empty, answers: { 202: "Asked" } },
    async (call) => decided(await requestRun(call.world, await about(call))),
  ),
  endpoint<{ readonly until: string | null }>(
    `POST ${one}/pause`,
    ["pause", "Stops the checks of a manifest until a time; null ends the pause", "approver"],
    { body: bodies.pause, answers: { 200: "Done" } },
    async (call) => decided(await pauseManifest(call.world, { ...call.body, ...(await about(call)) })),
  ),
];

/** The manifest that a decision is about, and the one who takes it. */
async function about(call: Pick<Call, "world" | "caller" | "path">): Promise<About> {
  return { id: (await findManifest(call)).id, actor: call.caller.actor };
}

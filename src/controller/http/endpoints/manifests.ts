/** @module Endpoints of manifests: what is in the fleet, and how it is checked. */
import { createHash } from "node:crypto";
import type { Source, Upload } from "../../database/schema.ts";
import {
  addManifest,
  changeManifest,
  pauseManifest,
  removeManifest,
  requestRun,
  uploadFiles,
} from "../../runs/decide.ts";
import { fitsPattern } from "../../sources/git-url.ts";
import {
  empty,
  manifestChange,
  manifestStatuses,
  nameSchema,
  newManifest,
  pause,
  ref,
  upload,
} from "../documents.ts";
import { type Endpoint, endpoint, json, type Schema } from "../endpoint.ts";
import { decided, Problem } from "../problem.ts";
import { findManifest, manifestDocument, manifestPage, manifestsOf, statusOf, tenants } from "../rows.ts";

const one = "/api/v1/manifests/{tenant}/{name}";
/** Bytes of an upload. */
const maxUpload = 8 * 1024 * 1024;

/** Parameters of pages. `after` is the `next` of the page before. */
export const paging: { readonly limit: Schema; readonly after: Schema } = {
  limit: { type: "integer", minimum: 1, maximum: 500 },
  after: { type: "string", pattern: "^[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)?$", maxLength: 150 },
};

interface NewManifestBody {
  readonly tenant: string;
  readonly name: string;
  readonly source: Source;
  readonly files?: Upload;
  readonly auto?: "safe" | "none";
  readonly intervalSeconds?: number;
}

export const manifestEndpoints: readonly Endpoint[] = [
  endpoint({
    id: "listManifests",
    method: "GET",
    path: "/api/v1/manifests",
    summary: "Lists manifests in the order of their names",
    role: "viewer",
    query: { tenant: nameSchema, status: { enum: manifestStatuses }, ...paging },
    answers: { 200: ref("Manifests") },
    async handle({ world, caller, query }) {
      const { status } = query;
      const found = manifestsOf(world.database, tenants(caller, query));
      const some = status === undefined ? found : found.where(statusOf, "=", status as never);
      return json(200, await manifestPage(some, query));
    },
  }),
  endpoint<NewManifestBody>({
    id: "addManifest",
    method: "POST",
    path: "/api/v1/manifests",
    summary: "Adds a manifest from Git, or with its files, and asks for its first run",
    role: "admin",
    body: newManifest,
    maxBody: maxUpload,
    answers: { 201: ref("Added") },
    repeats: true,
    async handle({ world, caller, body }) {
      const { tenant, name, source, files, intervalSeconds = 600 } = body;
      const config = world.config.current();
      const known = Object.hasOwn(config.tenants, tenant) ? config.tenants[tenant] : undefined;
      if (known === undefined || (caller.tenant !== null && caller.tenant !== tenant))
        throw new Problem("not-found", "there is no such tenant");
      if ((source.type === "upload") !== (files !== undefined))
        throw new Problem("invalid-request", "files come with the source upload, and with no other");
      if (source.type === "git" && !config.git.allow.some((pattern) => fitsPattern(source.url, pattern)))
        throw new Problem("source-refused", "git.allow of the configuration does not list this address");
      const row = {
        ...{ tenant, name, source: JSON.stringify(source), interval_seconds: intervalSeconds },
        auto: body.auto ?? known.auto,
        upload: files === undefined ? null : JSON.stringify(files),
        commit: files === undefined ? null : digestOf(files),
      };
      const { run } = decided(await addManifest(world, row, caller.actor));
      const manifest = manifestDocument(await findManifest(world.database, caller, { tenant, name }));
      return json(201, { manifest, run });
    },
  }),
  endpoint({
    id: "showManifest",
    method: "GET",
    path: one,
    summary: "Shows a manifest",
    role: "viewer",
    answers: { 200: ref("Manifest") },
    handle: async ({ world, caller, path }) =>
      json(200, manifestDocument(await findManifest(world.database, caller, path))),
  }),
  endpoint<{ readonly auto?: "safe" | "none"; readonly intervalSeconds?: number }>({
    id: "changeManifest",
    method: "PATCH",
    path: one,
    summary: "Changes how a manifest is checked",
    role: "admin",
    body: manifestChange,
    answers: { 200: ref("Manifest") },
    repeats: true,
    async handle({ world, caller, path, body: { auto, intervalSeconds } }) {
      const { id } = await findManifest(world.database, caller, path);
      const columns = {
        ...(auto === undefined ? {} : { auto }),
        ...(intervalSeconds === undefined ? {} : { interval_seconds: intervalSeconds }),
      };
      decided(await changeManifest(world, id, { actor: caller.actor, ...columns }));
      return json(200, manifestDocument(await findManifest(world.database, caller, path)));
    },
  }),
  endpoint({
    id: "removeManifest",
    method: "DELETE",
    path: one,
    summary: "Takes a manifest out of the fleet; its databases and its state stay",
    role: "admin",
    answers: { 200: ref("Done") },
    repeats: true,
    async handle({ world, caller, path }) {
      const { id } = await findManifest(world.database, caller, path);
      return json(200, { result: decided(await removeManifest(world, id, caller.actor)) });
    },
  }),
  endpoint<{ readonly files: Upload }>({
    id: "uploadFiles",
    method: "PUT",
    path: `${one}/files`,
    summary: "Replaces the files of a manifest that comes by upload, and asks for a run if they differ",
    role: "planner",
    body: upload,
    maxBody: maxUpload,
    answers: { 202: ref("Asked") },
    repeats: true,
    async handle({ world, caller, path, body: { files } }) {
      const { id } = await findManifest(world.database, caller, path);
      const asked = await uploadFiles(world, id, { files, digest: digestOf(files), actor: caller.actor });
      return json(202, { run: decided(asked).run ?? null });
    },
  }),
  endpoint({
    id: "reconcile",
    method: "POST",
    path: `${one}/runs`,
    summary: "Asks for a run now",
    role: "planner",
    body: empty,
    answers: { 202: { ...ref("Asked") } },
    repeats: true,
    async handle({ world, caller, path }) {
      const { id } = await findManifest(world.database, caller, path);
      const asking = { kind: "reconcile", trigger: "request", actor: caller.actor } as const;
      return json(202, { run: decided(await requestRun(world, id, asking)).run });
    },
  }),
  endpoint<{ readonly until: string | null }>({
    id: "pause",
    method: "POST",
    path: `${one}/pause`,
    summary: "Stops the checks of a manifest until a time; null ends the pause",
    role: "approver",
    body: pause,
    answers: { 200: ref("Done") },
    repeats: true,
    async handle({ world, caller, path, body }) {
      const { id } = await findManifest(world.database, caller, path);
      const until = body.until === null ? null : new Date(body.until);
      return json(200, { result: decided(await pauseManifest(world, id, { until, actor: caller.actor })) });
    },
  }),
];

/** Names the files of an upload: the same for the same files, in whatever order they came. */
export function digestOf(files: Upload): string {
  const sorted = Object.entries(files).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}

/** @module JSON Schemas of the requests and answers of the API. */
import type { Selectable } from "kysely";
import type { ManifestRow, RunRow, Schema as Tables } from "../database/schema.ts";
import { statuses, type Verdict } from "../runs/transitions.ts";
import { fileName } from "../sources/checkout-folder.ts";
import { problemCodes } from "./problem.ts";

/** A JSON Schema of draft 2020-12. */
export interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: { readonly [name: string]: Schema };
  readonly [keyword: string]: unknown;
}

/** Names of tenants and manifests: they are parts of paths and of the names of states. */
const nameSchema: Schema = {
  type: "string",
  pattern: "^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$",
};
const idSchema: Schema = { type: "string", format: "uuid" };
const line = { type: "string", minLength: 1, maxLength: 1000, pattern: "^[^\\u0000-\\u001f\\u007f]+$" };
const text: Schema = { type: "string" };
const count: Schema = { type: "integer", minimum: 0 };

/** States of a manifest, worst first. */
export const manifestStatuses = [
  "waiting",
  "blocked",
  "errored",
  "approved",
  "applying",
  "drifted",
  "unchecked",
  "in-sync",
] as const;
export type ManifestStatus = (typeof manifestStatuses)[number];

/** An object with exactly these members; those named in `optional` may be missing. */
export function record(
  properties: { readonly [name: string]: Schema },
  optional: readonly string[] = [],
): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

const gitSource = record({ type: { const: "git" }, url: line, ref: line, path: line });

/** The words of a union. The checker refuses a list that lacks one, or has one more. */
function everyOf<Word extends string>(words: { readonly [word in Word]: true }): Schema {
  return { enum: Object.keys(words) };
}

/** The words for the end of a pause that is refused. */
export const momentWords =
  "a time of the calendar in the future, such as 2026-12-24T18:00:00Z, or null, which ends a pause";

/** Schemas by the names that tables of members use. */
const types: { readonly [name: string]: Schema } = {
  text,
  count,
  id: idSchema,
  name: nameSchema,
  time: { type: "string", format: "date-time" },
  moment: { type: "string", format: "date-time", description: momentWords },
  flag: { type: "boolean" },
  integer: { type: "integer" },
  object: { type: "object" },
  texts: { type: "array", items: text },
  ids: { type: "array", items: idSchema },
  counts: { type: "object", additionalProperties: count },
  fingerprint: { type: "string", minLength: 1, maxLength: 200 },
  auto: {
    ...everyOf<ManifestRow["auto"]>({ safe: true, none: true }),
    description: "What may be applied without a person.",
  },
  seconds: { type: "integer", minimum: 60, maximum: 31 * 86_400 },
  source: { anyOf: [gitSource, record({ type: { const: "upload" } })] },
  files: {
    type: "object",
    minProperties: 1,
    maxProperties: 500,
    propertyNames: { pattern: fileName.source },
    additionalProperties: text,
  },
  limit: { type: "integer", minimum: 1, maximum: 500 },
  // The `next` of the page before.
  page: { type: "string", pattern: "^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$", maxLength: 150 },
  act: { type: "string", pattern: "^\\d{1,15}$" },
  lock: { type: "string", minLength: 1, maxLength: 255 },
  status: { enum: manifestStatuses },
  runStatus: { enum: statuses },
  kind: everyOf<RunRow["kind"]>({ reconcile: true, drift: true }),
  verdict: everyOf<Verdict>({ safe: true, risky: true }),
  decision: everyOf<Selectable<Tables["approvals"]>["decision"]>({ approve: true, discard: true }),
};

/**
 * An object from a table of members: `id: id, commit: text?, runs: Run[]`. The type is a name of `types` or of a document; `?` allows null,
 * `[]` makes a list, and a `?` behind the member's name lets it be missing.
 */
export function members(table: string): Schema {
  const entries = table.split(",").map((entry) => {
    const [name = "", type = ""] = entry.split(":").map((part) => part.trim());
    const bare = type.replace(/[?[\]]/g, "");
    const one = types[bare] ?? ref(bare);
    const schema = type.endsWith("[]")
      ? { type: "array", items: one }
      : type.endsWith("?")
        ? { anyOf: [one, { type: "null" }] }
        : one;
    return [name, schema] as const;
  });
  const optional = entries.filter(([name]) => name.endsWith("?")).map(([name]) => name.slice(0, -1));
  return record(
    Object.fromEntries(entries.map(([name, schema]) => [name.replace("?", ""), schema])),
    optional,
  );
}

export const bodies: { readonly [name: string]: Schema } = {
  empty: record({}),
  newManifest: members(
    "tenant: name, name: name, source: source, files?: files, auto?: auto, intervalSeconds?: seconds",
  ),
  change: { ...members("auto?: auto, intervalSeconds?: seconds"), minProperties: 1 },
  upload: members("files: files"),
  pause: members("until: moment?"),
  approval: members("fingerprint: fingerprint"),
  cancel: members("force?: flag"),
};

const lockInfo = ["Operation", "Info", "Who", "Version", "Created", "Path"].map((key) => [key, text]);

/** Schemas of the parameters of paths, by name. */
export const pathSchemas: { readonly [name: string]: Schema } = {
  tenant: nameSchema,
  name: nameSchema,
  run: idSchema,
};

/** Documents of answers, by the names that they have in the OpenAPI document. */
export const components: { readonly [name: string]: Schema } = {
  Manifest:
    members(`id: id, tenant: name, name: name, source: source, auto: auto, intervalSeconds: count, status: status, waitingRun: id?, why: text?,
    commit: text?, approvedCommit: text?, trouble: text?, nextDueAt: time, checkedAt: time?, driftedAt: time?, pausedUntil: time?,
    createdAt: time`),
  Manifests: members("manifests: Manifest[], next: text?"),
  Run: members(`id: id, tenant: name, manifest: name, kind: kind, trigger: text, status: runStatus, why: text?, commit: text?, fingerprint: text?,
    verdict: verdict?, reasons: texts, counts: counts?, exitCode: integer?, actor: text, worker: text?, cancelRequestedAt: time?,
    createdAt: time, updatedAt: time, endedAt: time?`),
  Runs: members("runs: Run[], next: text?"),
  Decision: members("actor: text, decision: decision, fingerprint: text, at: time"),
  RunDetails: members("run: Run, decisions: Decision[]"),
  Plan: { type: "object", description: "The plan as its JSON document." },
  Tenant: members("name: name, manifests: count"),
  Tenants: members("tenants: Tenant[]"),
  Added: members("manifest: Manifest, run: id"),
  Asked: { ...members("run: id?"), description: "The run that does it; null if nothing has changed." },
  Redriven: members("runs: ids"),
  Done: members("result: text"),
  Drift: {
    ...members("total: count, checked: count, oldestCheckAt: time?, manifests: Manifest[], next: text?"),
    description:
      "The manifests that have drifted, with the number of all and of those that were ever checked.",
  },
  Lock: members(
    "state: text, id: text, who: text, host: text, operation: text, fence: count, since: text, heartbeatAt: time, expiresAt: time",
  ),
  Locks: members("locks: Lock[]"),
  Worker:
    members(`id: text, host: text, pid: count, version: text, slots: count, startedAt: time, seenAt: time, takeovers: count,
    fenced: count`),
  Workers: members("workers: Worker[]"),
  Act: members(
    "id: count, at: time, tenant: text?, actor: text, action: text, subject: text, details: object, hash: text",
  ),
  Audit: members("acts: Act[], next: text?"),
  AuditCheck: members("firstBroken: count?"),
  State: { type: "object", required: ["serial"], properties: { serial: count, lineage: text } },
  LockInfo: {
    type: "object",
    description: "Terraform's record of a lock.",
    required: ["ID"],
    properties: { ID: types["lock"] ?? {}, ...Object.fromEntries(lockInfo) },
  },
  Ready: members("status: text"),
  Healthy: members("status: text, version: text"),
  Problem: record({ type: text, title: text, status: count, code: { enum: problemCodes }, detail: text }, [
    "detail",
  ]),
};

/** The document that a schema describes, from rows: `endedAt` is the column `ended_at`. Columns that the schema does not name are left out. */
export function documentOf(schema: Schema, value: unknown): unknown {
  const { $ref, anyOf: [first] = [], items, properties, additionalProperties } = schema;
  if (typeof value !== "object" || value === null) return value;
  if ($ref !== undefined) return documentOf(components[$ref.replace(/^.*\//, "")] ?? {}, value);
  if (first?.$ref !== undefined) return documentOf(first, value);
  if (items !== undefined && Array.isArray(value)) return value.map((item) => documentOf(items, item));
  if (properties === undefined || additionalProperties !== false) return value;
  const row = new Map(Object.entries(value));
  const members = Object.entries(properties).map(([name, inner]) => {
    const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [name, documentOf(inner, row.get(row.has(name) ? name : column))] as const;
  });
  return Object.fromEntries(members);
}

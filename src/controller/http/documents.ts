/** @module JSON Schemas of what the API takes and answers. */
import { statuses } from "../runs/transitions.ts";
import type { Schema } from "./endpoint.ts";
import { problemCodes } from "./problem.ts";

/** Names of tenants and manifests: they are parts of paths and of the names of states. */
export const nameSchema: Schema = {
  type: "string",
  pattern: "^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$",
};
export const idSchema: Schema = { type: "string", format: "uuid" };

const text: Schema = { type: "string" };
const time: Schema = { type: "string", format: "date-time" };
const count: Schema = { type: "integer", minimum: 0 };
const texts: Schema = { type: "array", items: text };
const nullable = (schema: Schema): Schema => ({ anyOf: [schema, { type: "null" }] });
/** An object with exactly these members; those named in `optional` may be missing. */
export function record(
  properties: { readonly [name: string]: Schema },
  optional: readonly string[] = [],
): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

const fingerprint: Schema = { type: "string", minLength: 1, maxLength: 200 };
const auto: Schema = { enum: ["safe", "none"], description: "What may be applied without a person." };
const interval: Schema = {
  type: "integer",
  minimum: 60,
  maximum: 31 * 86_400,
  description: "Seconds between two checks.",
};
const line = { type: "string", minLength: 1, pattern: "^[^\\u0000-\\u001f\\u007f]+$" };
const gitSource = record({
  type: { const: "git" },
  url: { ...line, maxLength: 2000 },
  ref: { ...line, maxLength: 200 },
  path: { ...line, maxLength: 1000 },
});
const source: Schema = { anyOf: [gitSource, record({ type: { const: "upload" } })] };

/** Paths of uploaded files: relative, with `/`, and without steps upwards. */
const files: Schema = {
  type: "object",
  minProperties: 1,
  maxProperties: 500,
  propertyNames: {
    maxLength: 300,
    pattern: "^(?!\\.\\.?(?:/|$))(?!.*/\\.\\.?(?:/|$))(?!__proto__)[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*$",
  },
  additionalProperties: text,
};

/** Bodies of requests. */
export const newManifest: Schema = record(
  { tenant: nameSchema, name: nameSchema, source, files, auto, intervalSeconds: interval },
  ["files", "auto", "intervalSeconds"],
);
export const manifestChange: Schema = {
  ...record({ auto, intervalSeconds: interval }, ["auto", "intervalSeconds"]),
  minProperties: 1,
};
export const upload: Schema = record({ files });
export const pause: Schema = record({ until: nullable(time) });
export const approval: Schema = record({ fingerprint });
export const cancel: Schema = record({ force: { type: "boolean" } }, ["force"]);
export const empty: Schema = record({});

/** States of a manifest, worst first. */
export const manifestStatuses = [
  "waiting",
  "blocked",
  "errored",
  "applying",
  "drifted",
  "unchecked",
  "in-sync",
] as const;
export type ManifestStatus = (typeof manifestStatuses)[number];

/** Documents of answers, by the names that they have in the OpenAPI document. */
const manifest = record({
  id: idSchema,
  tenant: nameSchema,
  name: nameSchema,
  source,
  auto,
  intervalSeconds: count,
  status: { enum: manifestStatuses },
  waitingRun: { ...nullable(idSchema), description: "The run that waits for an approval." },
  commit: nullable(text),
  approvedCommit: { ...nullable(text), description: "The commit that drift is healed to." },
  trouble: nullable(text),
  nextDueAt: time,
  checkedAt: nullable(time),
  driftedAt: nullable(time),
  pausedUntil: nullable(time),
  createdAt: time,
});
const run = record({
  id: idSchema,
  tenant: nameSchema,
  manifest: nameSchema,
  kind: { enum: ["reconcile", "drift"] },
  trigger: text,
  status: { enum: statuses },
  commit: nullable(text),
  fingerprint: nullable(text),
  verdict: nullable({ enum: ["safe", "risky"] }),
  reasons: texts,
  counts: nullable({ type: "object", additionalProperties: count }),
  exitCode: { ...nullable({ type: "integer" }), description: "The exit code that apply would have had." },
  actor: text,
  worker: nullable(text),
  cancelRequestedAt: nullable(time),
  createdAt: time,
  updatedAt: time,
  endedAt: nullable(time),
});
const decision = record({
  actor: text,
  decision: { enum: ["approve", "discard"] },
  fingerprint: text,
  at: time,
});
const lock = record({
  state: text,
  id: text,
  who: text,
  host: text,
  operation: text,
  fence: count,
  heartbeatAt: time,
  expiresAt: time,
});
const worker = record({
  id: text,
  host: text,
  pid: count,
  version: text,
  slots: count,
  startedAt: time,
  seenAt: time,
  takeovers: count,
  fenced: count,
});
const act = record({
  id: count,
  at: time,
  tenant: nullable(text),
  actor: text,
  action: text,
  subject: text,
  details: { type: "object" },
  hash: text,
});

/** A page of documents; `next` is the `after` of the next one. */
function page(name: string, document: string): Schema {
  return record({ [name]: { type: "array", items: ref(document) }, next: nullable(text) });
}

/** A reference to a document. */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

export const components: { readonly [name: string]: Schema } = {
  Manifest: manifest,
  Manifests: page("manifests", "Manifest"),
  Run: run,
  Runs: page("runs", "Run"),
  RunDetails: record({ run: ref("Run"), decisions: { type: "array", items: decision } }),
  Plan: { type: "object", description: "The plan as its JSON document." },
  Tenants: record({ tenants: { type: "array", items: record({ name: nameSchema, manifests: count }) } }),
  Added: record({ manifest: ref("Manifest"), run: idSchema }),
  Asked: record({ run: { ...nullable(idSchema), description: "Null: nothing has changed." } }),
  Redriven: record({ runs: { type: "array", items: idSchema } }),
  Done: record({ result: text }),
  Drift: record({
    manifests: { ...count, description: "All manifests." },
    checked: { ...count, description: "Those that were ever checked." },
    oldestCheckAt: nullable(time),
    drifted: { type: "array", items: ref("Manifest") },
    next: nullable(text),
  }),
  Locks: record({ locks: { type: "array", items: lock } }),
  Workers: record({ workers: { type: "array", items: worker } }),
  Audit: page("acts", "Act"),
  Act: act,
  AuditCheck: record({ firstBroken: nullable(count) }),
  State: { type: "object", required: ["serial"], properties: { serial: count, lineage: text } },
  LockInfo: {
    type: "object",
    description: "Terraform's record of a lock.",
    required: ["ID"],
    properties: {
      ID: { type: "string", minLength: 1, maxLength: 255 },
      ...Object.fromEntries(
        ["Operation", "Info", "Who", "Version", "Created", "Path"].map((key) => [key, text]),
      ),
    },
  },
  Ready: record({ status: { const: "ready" } }),
  Healthy: record({ status: { const: "ok" }, version: text }),
  Problem: {
    ...record({ type: text, title: text, status: count, code: { enum: problemCodes }, detail: text }, [
      "detail",
    ]),
  },
};

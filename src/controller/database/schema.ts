/** @module The controller's tables: one text for each column makes the column in PostgreSQL, and the type of its values here. */
import type { ColumnType, Insertable, RawBuilder, Selectable } from "kysely";
import type { Counts, RunEvent, RunStatus, Verdict } from "../runs/transitions.ts";
import type { PlanDocument } from "../runs/verdict.ts";

/** Schema of the controller's tables, which the postgres store of states shares. */
export const schema = "graphform";

/** Tables with their columns, as `CREATE TABLE` has them. A later migration adds columns and tables of its own. */
export const tables = {
  /** A row for each tenant of the configuration: its lock orders the runs that begin to apply. */
  tenants: { name: "text PRIMARY KEY" },
  manifests: {
    id: "uuid PRIMARY KEY DEFAULT gen_random_uuid()",
    tenant: "text NOT NULL REFERENCES graphform.tenants",
    name: "text NOT NULL",
    source: "jsonb NOT NULL",
    /** safe: a safe plan is applied without a person. none: nothing is. */
    auto: "text NOT NULL",
    interval_seconds: "integer NOT NULL CHECK (interval_seconds > 0)",
    /** The stored moment of the next check: it moves by whole intervals, so that no check shifts the ones after it. */
    next_due_at: "timestamptz NOT NULL",
    paused_until: "timestamptz",
    /** Rises with each change of the manifest: a commit, an upload. A run of an older generation is superseded. */
    generation: "integer NOT NULL DEFAULT 1",
    /** The newest commit that was seen, or the digest of the newest upload. */
    commit: "text",
    /** The last commit that began to be applied, or was found to be in force: drift is healed to it. */
    approved_commit: "text",
    /** True if a run was asked for while another was at work: the transaction that ends that one begins it. */
    dirty: "boolean NOT NULL DEFAULT false",
    /** When the service was last compared with the manifest. */
    checked_at: "timestamptz",
    /** Since when the service differs from the manifest. */
    drifted_at: "timestamptz",
    /** Why the source could not be read the last time. */
    trouble: "text",
    created_at: "timestamptz NOT NULL DEFAULT clock_timestamp()",
    removed_at: "timestamptz",
  },
  /** Files that were uploaded: those of the newest commit of a manifest, and of the approved one. */
  uploads: {
    manifest_id: "uuid NOT NULL REFERENCES graphform.manifests",
    digest: "text NOT NULL",
    files: "jsonb NOT NULL",
  },
  runs: {
    id: "uuid PRIMARY KEY DEFAULT gen_random_uuid()",
    manifest_id: "uuid NOT NULL REFERENCES graphform.manifests",
    tenant: "text NOT NULL",
    /** reconcile: the manifest at the newest commit. drift: the manifest as it was approved last. */
    kind: "text NOT NULL",
    trigger: "text NOT NULL",
    status: "text NOT NULL",
    commit: "text",
    generation: "integer NOT NULL",
    /** Rises each time that a worker takes the run: writes of an older holder have no effect. */
    fence: "integer NOT NULL DEFAULT 0",
    worker: "text",
    /** Times that the run was taken in a row without progress. */
    attempts: "integer NOT NULL DEFAULT 0",
    fingerprint: "text",
    verdict: "text",
    /** Reasons of the verdict, of a refusal, of an end. Sentences without secrets. */
    reasons: "jsonb NOT NULL DEFAULT '[]'",
    counts: "jsonb",
    /** The exit code that `apply` would have had. */
    exit_code: "integer",
    actor: "text NOT NULL",
    cancel_requested_at: "timestamptz",
    created_at: "timestamptz NOT NULL DEFAULT clock_timestamp()",
    updated_at: "timestamptz NOT NULL DEFAULT clock_timestamp()",
    ended_at: "timestamptz",
  },
  plans: {
    run_id: "uuid PRIMARY KEY REFERENCES graphform.runs ON DELETE CASCADE",
    document: "jsonb NOT NULL",
  },
  run_events: {
    id: "bigserial PRIMARY KEY",
    run_id: "uuid NOT NULL REFERENCES graphform.runs ON DELETE CASCADE",
    at: "timestamptz NOT NULL DEFAULT clock_timestamp()",
    event: "jsonb NOT NULL",
  },
  approvals: {
    id: "bigserial PRIMARY KEY",
    run_id: "uuid NOT NULL REFERENCES graphform.runs ON DELETE CASCADE",
    fingerprint: "text NOT NULL",
    actor: "text NOT NULL",
    decision: "text NOT NULL",
    at: "timestamptz NOT NULL DEFAULT clock_timestamp()",
  },
  tokens: {
    id: "uuid PRIMARY KEY DEFAULT gen_random_uuid()",
    hash: "text NOT NULL UNIQUE",
    role: "text NOT NULL",
    /** Null: of every tenant. */
    tenant: "text",
    name: "text NOT NULL",
    created_at: "timestamptz NOT NULL DEFAULT clock_timestamp()",
    expires_at: "timestamptz",
    revoked_at: "timestamptz",
  },
  /** Acts of people and tokens. `hash` is that of the row with `previous`, the hash of the row before it. */
  audit: {
    id: "bigserial PRIMARY KEY",
    at: "timestamptz NOT NULL",
    tenant: "text",
    actor: "text NOT NULL",
    action: "text NOT NULL",
    subject: "text NOT NULL",
    details: "jsonb NOT NULL",
    previous: "text NOT NULL",
    hash: "text NOT NULL UNIQUE",
  },
  /** Workers, with the runs that they took over from one that died, and their writes that came too late to have an effect. */
  workers: {
    id: "text PRIMARY KEY",
    host: "text NOT NULL",
    pid: "integer NOT NULL",
    version: "text NOT NULL",
    slots: "integer NOT NULL",
    started_at: "timestamptz NOT NULL",
    seen_at: "timestamptz NOT NULL",
    takeovers: "integer NOT NULL DEFAULT 0",
    fenced: "integer NOT NULL DEFAULT 0",
  },
  /** The last notification of a receiver (its name in the configuration) about a manifest. There is no row for a topic that is over. */
  webhooks: {
    manifest_id: "uuid NOT NULL REFERENCES graphform.manifests",
    receiver: "text NOT NULL",
    topic: "text NOT NULL",
    /** Identifies the condition, for example by a fingerprint: another one is reported again. */
    about: "text NOT NULL",
    since: "timestamptz NOT NULL",
    said_at: "timestamptz NOT NULL",
  },
  /** Answers to requests that came with an Idempotency-Key. */
  answers: {
    key: "text NOT NULL",
    token_id: "uuid NOT NULL",
    digest: "text NOT NULL",
    status: "integer NOT NULL",
    body: "text NOT NULL",
    at: "timestamptz NOT NULL DEFAULT clock_timestamp()",
  },
} as const;

/** Columns and tables that later migrations have added. */
export const added = {
  manifests: {
    /** The moment of the copy of the database that was put back, until an approved plan was applied: what was done since is not known. */
    restored_to: "timestamptz",
    /** The newest commit of which a plan was made that nothing blocks. Checks plan the newest commit until it is that one. */
    planned_commit: "text",
  },
  tables: {
    /** The parts that tell this database from a copy of it. */
    origins: { part: "text PRIMARY KEY", value: "text NOT NULL" },
  },
} as const;

export type Source =
  | { readonly type: "git"; readonly url: string; readonly ref: string; readonly path: string }
  | { readonly type: "upload" };

export interface Upload {
  readonly [path: string]: string;
}

/** Roles of tokens in their order: each may do what those before it may. */
export const roles = ["viewer", "planner", "approver", "admin"] as const;

export type Role = (typeof roles)[number];

/**
 * Parts that tell the database from a copy: its cluster with its timeline and base backup, its tables, the number and the birth of its file.
 * Beside them, when the timeline changed, and when all manifests were marked last.
 */
export type OriginPart =
  | "cluster"
  | "timeline"
  | "backup"
  | "tables"
  | "folder"
  | "born"
  | "failover"
  | "marked";

/** Columns with fewer values than their type in the database has. */
interface Narrow {
  manifests: { source: Source; auto: "safe" | "none" };
  uploads: { files: Upload };
  runs: {
    kind: "reconcile" | "drift";
    trigger: "commit" | "upload" | "schedule" | "request" | "webhook";
    status: RunStatus;
    verdict: Verdict;
    reasons: readonly string[];
    counts: Counts;
  };
  plans: { document: PlanDocument };
  run_events: { event: RunEvent };
  approvals: { decision: "approve" | "discard" };
  tokens: { role: Role };
  origins: { part: OriginPart };
}

interface Values {
  uuid: string;
  text: string;
  integer: number;
  bigserial: number;
  boolean: boolean;
  timestamptz: Date;
  jsonb: object;
}

type Read<D, N> = [N] extends [never]
  ? Values[D extends `${infer T} ${string}` ? T & keyof Values : D & keyof Values]
  : N;
/** JSON is written as its text: the driver would take a list for one of PostgreSQL. */
type Written<D, R> = D extends `jsonb${string}` ? string : R extends Date ? Time : R;
type Time = Date | string | RawBuilder<Date>;
type Null<D> = D extends `${string}NOT NULL${string}` | `${string}PRIMARY KEY${string}` ? never : null;
type Absent<D> = D extends `${string}DEFAULT${string}` | `bigserial${string}`
  ? undefined
  : null extends Null<D>
    ? undefined
    : never;
type Column<D, N> = ColumnType<
  Read<D, N> | Null<D>,
  Written<D, Read<D, N>> | Null<D> | Absent<D>,
  Written<D, Read<D, N>> | Null<D>
>;
type NarrowOf<T, C> = T extends keyof Narrow ? (C extends keyof Narrow[T] ? Narrow[T][C] : never) : never;
type Own = Omit<typeof tables, "manifests"> &
  typeof added.tables & { readonly manifests: typeof tables.manifests & typeof added.manifests };

/** All tables. `locks` are those of states, as the postgres store writes them; they are only read here. */
export type Schema = {
  -readonly [T in keyof Own]: { -readonly [C in keyof Own[T]]: Column<Own[T][C], NarrowOf<T, C>> };
} & {
  readonly locks: {
    name: string;
    holder_id: string | null;
    holder: object | null;
    fence: number;
    heartbeat_at: Date;
    expires_at: Date;
  };
};

export type ManifestRow = Selectable<Schema["manifests"]>;
export type NewManifest = Insertable<Schema["manifests"]>;
export type RunRow = Selectable<Schema["runs"]>;

/** @module Types of the controller's tables; the tables of states, versions and locks are those of the postgres store. */
import type { ColumnType, Generated, Insertable, JSONColumnType, Selectable } from "kysely";
import type { Counts, RunEvent, RunStatus, Verdict } from "../runs/transitions.ts";

/** All tables. */
export interface Schema {
  readonly tenants: TenantTable;
  readonly manifests: ManifestTable;
  readonly runs: RunTable;
  readonly run_events: RunEventTable;
  readonly approvals: ApprovalTable;
  readonly tokens: TokenTable;
  readonly audit: AuditTable;
  readonly workers: WorkerTable;
  readonly webhooks: WebhookTable;
  readonly answers: AnswerTable;
  readonly locks: LockTable;
}

type Time = ColumnType<Date, Date | string, Date | string>;
type NullableTime = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
type MadeAt = ColumnType<Date, Date | undefined, never>;

/** A row for each tenant of the configuration: its lock orders the runs that begin to apply. */
interface TenantTable {
  name: string;
}

/** The source of a manifest's files. */
export type Source =
  | { readonly type: "git"; readonly url: string; readonly ref: string; readonly path: string }
  | { readonly type: "upload" };

/** Files of an upload: their paths, relative to the manifest's folder, with their texts. */
export interface Upload {
  readonly [path: string]: string;
}

interface ManifestTable {
  id: Generated<string>;
  tenant: string;
  name: string;
  source: JSONColumnType<Source>;
  /** The files of the newest upload. */
  upload: JSONColumnType<Upload> | null;
  /** safe: a safe plan is applied without a person. none: nothing is. */
  auto: "safe" | "none";
  interval_seconds: number;
  /** The stored moment of the next check: it moves by whole intervals, so that no check shifts the ones after it. */
  next_due_at: Time;
  paused_until: NullableTime;
  /** Rises with each change of what is wanted: a commit, an upload. A run of an older generation is superseded. */
  generation: Generated<number>;
  /** The newest commit that was seen, or the digest of the newest upload. */
  commit: string | null;
  /** The last commit that was applied, or found to be in force: drift is healed to it. */
  approved_commit: string | null;
  /** True if a run was asked for while another was at work: the transaction that ends that one begins it. */
  dirty: Generated<boolean>;
  /** When the service was last compared with the manifest. */
  checked_at: NullableTime;
  /** Since when the service differs from the manifest. */
  drifted_at: NullableTime;
  /** Why the source could not be read the last time. */
  trouble: string | null;
  created_at: MadeAt;
  removed_at: NullableTime;
}

interface RunTable {
  id: Generated<string>;
  manifest_id: string;
  tenant: string;
  /** reconcile: what is declared at the newest commit. drift: what was approved last. */
  kind: "reconcile" | "drift";
  trigger: "commit" | "upload" | "schedule" | "request" | "webhook";
  status: RunStatus;
  commit: string | null;
  generation: number;
  /** Rises each time that a worker takes the run: what an older holder writes has no effect. */
  fence: Generated<number>;
  worker: string | null;
  /** Times that the run was taken in a row without progress. */
  attempts: Generated<number>;
  fingerprint: string | null;
  verdict: Verdict | null;
  /** Reasons of the verdict, of a refusal, of an end. Sentences without secrets. */
  reasons: JSONColumnType<readonly string[]>;
  /** The plan as its JSON document. */
  plan: JSONColumnType<object> | null;
  /** The plan as the file of a saved plan; secrets in it are sealed with the key of the state. */
  counts: JSONColumnType<Counts> | null;
  /** The exit code that `apply` would have had. */
  exit_code: number | null;
  actor: string;
  cancel_requested_at: NullableTime;
  cancel_forced: Generated<boolean>;
  created_at: MadeAt;
  updated_at: Time;
  ended_at: NullableTime;
}

interface RunEventTable {
  id: Generated<number>;
  run_id: string;
  at: MadeAt;
  event: JSONColumnType<RunEvent>;
}

interface ApprovalTable {
  id: Generated<number>;
  run_id: string;
  fingerprint: string;
  actor: string;
  decision: "approve" | "discard";
  at: MadeAt;
}

/** Roles of tokens; each may do what those before it may. */
export type Role = "viewer" | "planner" | "approver" | "admin";

interface TokenTable {
  id: Generated<string>;
  /** SHA-256 of the token, as hexadecimal digits. */
  hash: string;
  role: Role;
  /** Null: of every tenant. */
  tenant: string | null;
  name: string;
  created_at: MadeAt;
  expires_at: NullableTime;
  revoked_at: NullableTime;
}

interface AuditTable {
  id: Generated<number>;
  at: Time;
  tenant: string | null;
  actor: string;
  action: string;
  subject: string;
  details: JSONColumnType<object>;
  /** Hash of the row before it, and of this one with it. */
  previous: string;
  hash: string;
}

interface WorkerTable {
  id: string;
  host: string;
  pid: number;
  version: string;
  slots: number;
  started_at: Time;
  seen_at: Time;
  /** Runs that it took over from a worker that died, and writes of its own that came too late to have an effect. */
  takeovers: Generated<number>;
  fenced: Generated<number>;
}

/** Things that receivers of webhooks are told about. */
export type Topic = "drift" | "approval" | "failure";

/** The last notification of a receiver of webhooks about a manifest. There is no row for a topic that is over. */
interface WebhookTable {
  manifest_id: string;
  /** Its name in the configuration. */
  receiver: string;
  topic: Topic;
  /** Names the state of affairs, a fingerprint for example: another one is told anew. */
  about: string;
  since: Time;
  said_at: Time;
}

/** Answers to requests that came with an Idempotency-Key. */
interface AnswerTable {
  key: string;
  token_id: string;
  digest: string;
  status: number;
  body: string;
  at: MadeAt;
}

/** Locks of states, as the postgres store writes them; only read here. */
interface LockTable {
  name: string;
  holder_id: string | null;
  holder: JSONColumnType<object> | null;
  fence: number;
  heartbeat_at: Date;
  expires_at: Date;
}

export type ManifestRow = Selectable<ManifestTable>;
export type NewManifest = Insertable<ManifestTable>;
export type RunRow = Selectable<RunTable>;
export type TokenRow = Selectable<TokenTable>;

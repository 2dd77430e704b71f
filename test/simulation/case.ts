import type { Address } from "../../src/model/address.ts";
import type { JsonObject } from "../../src/model/json.ts";

/** One schedule as data: what happens in it follows from these values and nothing else. */
export interface Case {
  /** Decides order, delays and how long work takes. */
  readonly seed: number;
  readonly service: ServiceCase;
  readonly runs: readonly RunCase[];
  /** The state is in a shared store. Absent: in a file. */
  readonly store?: StoreCase;
}

/** A shared store: whether it compares the lease at each write, as a database does, or the version alone. */
export interface StoreCase {
  readonly checksLease: boolean;
}

/** The freedom that this service takes. Durations in ms, each the longest that may happen. */
export interface ServiceCase {
  /** Whether the profile can create, list and delete networks. */
  readonly networks: boolean;
  /** Whether describe echoes what was declared (wire facts, summary 5). */
  readonly echo: boolean;
  /** How long a new object may be missing from lists, and from everything that names its id. */
  readonly listLag: number;
  readonly describeLag: number;
  /** How long a deleted object may stand in lists. */
  readonly linger: number;
  /** Whether what may be missing from lists comes and goes. */
  readonly flicker: boolean;
  /** How long an object may look as it did before an operation was accepted. */
  readonly stale: number;
  readonly latency: number;
  readonly work: number;
  /** Whether an object can be deleted in the middle of something else. */
  readonly deleteAnytime: boolean;
  /** Whether a person must offboard a cloud account before it goes. */
  readonly twoPhase: boolean;
  /** What the users of an instance that is gone are answered with: 404, or 500 (wire facts 1.6). */
  readonly usersOfNobody: 404 | 500;
  /** How far the service's clock is ahead of ours. */
  readonly skew: number;
  /** How old the `Date` of every other answer to a read is, in ms: it comes out of a cache. Default 0. */
  readonly cacheAge?: number;
  /** What it is like at its door, where the real client stands between it and the engine. */
  readonly wire?: WireCase;
}

/** Sessions and limits of a service. */
export interface WireCase {
  /** How long tokens live as their cookies say, in ms; some die sooner. */
  readonly tokenLife: number;
  readonly refreshLife: number;
  readonly perSecond: number;
  readonly atOnce: number;
  /** The Retry-After of a 429 in seconds; 0: it has none. */
  readonly retryAfter: number;
}

/** One resource of a manifest. Secrets stand in clear: they are planted, and looked for in everything that is written. */
export interface ResourceCase {
  readonly address: Address;
  /** Tells what is created for it, whatever its address: it stands in a field that the request carries. */
  readonly tag: number;
  readonly spec: JsonObject;
  readonly protect?: boolean;
  readonly onReplace?: "recreate";
  readonly onDelete?: "retain" | "backup";
  readonly dependsOn?: readonly Address[];
  /** Longest wait for a create, in ms. */
  readonly patience?: number;
  /** Binds one of the objects that were there before: its id. */
  readonly importId?: string;
}

/** One run of the program and what befalls it. Without faults, crash and others it is a calm one. */
export interface RunCase {
  readonly does: "apply" | "destroy";
  /** Only makes a plan and keeps it, or applies the one that was kept. */
  readonly plan?: "save" | "use";
  readonly resources: readonly ResourceCase[];
  readonly moved?: readonly (readonly [Address, Address])[];
  /** Let go of without deleting. */
  readonly released?: readonly Address[];
  readonly replace?: readonly Address[];
  readonly allowDestroy?: readonly Address[];
  /** What `--target` and `--exclude` name. */
  readonly targets?: readonly Address[];
  readonly exclude?: readonly Address[];
  readonly maxDeletes?: number;
  readonly faults?: readonly Fault[];
  readonly others?: readonly Other[];
  /** The events after which the process is killed, told to stop, and told to stop at once. */
  readonly crash?: number;
  readonly stop?: number;
  readonly abort?: number;
  /** How long a person looks at the plan before saying yes, in ms. */
  readonly pause?: number;
  /** Ms between the end of the run before and this one. */
  readonly later?: number;
  readonly rival?: Rival;
  /** The event after which the process does not reach its store for so many ms. */
  readonly away?: { readonly at: number; readonly ms: number };
  /** It is pointed at another service, or is another manifest, with the state of this one. */
  readonly elsewhere?: "service" | "manifest";
  /** The service shows it nothing, only a part, or nothing of one tier, of what is there: its rights were taken from it. */
  readonly blind?: "all" | "some" | "startup";
}

/** A second process on the same state. */
export interface Rival {
  /** The event at which it starts. */
  readonly at: number;
  readonly does: "apply" | "plan";
  /** How long it waits for the lock, in ms. */
  readonly wait: number;
}

/** What happens to the n-th request of this sort in a run (counted from 1), or to the n-th write of the state. */
export interface Fault {
  readonly on: "create" | "update" | "delete" | "verb" | "describe" | "list" | "ping" | "state" | "session";
  readonly nth: number;
  readonly effect: Effect;
}

/** For a moment, the service denies everything, or a part of it, to whoever asks; or only its lists lack everything. */
export type Wrong = "wrong-all" | "wrong-some" | "wrong-lists";

/**
 * Kinds of trouble. Before and after mean the work: the answer is an error, a refusal, an exception of the client's own or
 * nothing all the same. A twin is made by
 * somebody else, in all that shows the same, just as the answer to a create is lost. An elder is as old as a minute, was
 * missing from the list before the create, and the create has made nothing.
 */
export type Effect =
  | "lost-before"
  | "lost-after"
  | "late"
  | "twin"
  | "elder"
  | "500-before"
  | "500-after"
  | "503-before"
  | "503-after"
  | "nonsense-before"
  | "nonsense-after"
  | "unavailable"
  | "rate-limited"
  | "rate-limited-until"
  | "forbidden"
  | "unauthorized"
  | "busy"
  | "slow"
  | "invalid-after"
  | "forbidden-after"
  | "unauthorized-after"
  | "busy-after"
  | "rate-limited-after"
  | "exception-after"
  | "fails"
  | "sticks"
  | "unwritable"
  | Wrong;

/**
 * Somebody else at work, after the event `at` of a run (0: before it), or while a person looks at its plan. `pick` chooses
 * among what there is.
 */
export interface Other {
  readonly at: number | "pause";
  readonly does:
    | "stop"
    | "start"
    | "delete"
    | "rename"
    | "regrant"
    | "create"
    | "backup"
    | "person"
    | "reuse";
  readonly pick: number;
}

/** How long the profile that is simulated gives the service, in ms; a case may use all of it. */
export const bounds: { readonly listLag: number; readonly stale: number } = { listLag: 30_000, stale: 5000 };

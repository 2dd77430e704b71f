/** @module Defines a service: its profile, the calls to it, and their answers. */
import type { Json, JsonObject } from "./json.ts";
import type { Hide } from "./known-secrets.ts";
import type { PhaseName } from "./observed.ts";

/** One operation of the service: its path, its spelling of names, and the values of its answer. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly host: "platform" | "users";
  /** `{names}` are filled in, URL-encoded, from the call's parameters and the profile's keys. */
  readonly path: string;
  /** Query name -> template (`{subscriptionId}`); left out if the parameter has no value. */
  readonly query: { readonly [name: string]: string };
  /** Our body key -> the service's. Keys not named are sent as they are. */
  readonly body: { readonly [name: string]: string };
  /** Our answer key -> dotted paths in the answer, the first one present wins. */
  readonly answer: { readonly [name: string]: readonly string[] };
  /** True if the answer leaves an empty list out. */
  readonly omitsEmptyList?: boolean;
}

/** The product tiers, the largest first. */
export const tiers: readonly string[] = ["enterprise-byoa", "enterprise", "pro", "startup", "free"];

export interface TierKeys {
  readonly serviceModelKey: string;
  readonly productTierKey: string;
  /** Manifest's component -> the service's resource key. */
  readonly components: { readonly [component: string]: string };
  /** `listed`: only the instance types of the profile; `any`: whatever the service takes. */
  readonly instanceTypes: "listed" | "any";
}

/** Session tokens: their cookies, keys and lifetimes. */
export interface SessionProfile {
  readonly send: "cookie" | "bearer";
  readonly tokenCookie: string;
  readonly refreshCookie: string;
  /** Dotted paths of the token in the sign-in answer, for services that send no cookie. */
  readonly tokenAnswer: readonly string[];
  readonly refreshAnswer: readonly string[];
  /** Lifetimes in ms, if the answer does not say. */
  readonly tokenLifetime: number;
  readonly refreshLifetime: number;
  /** A 400 whose message matches means that the token was missing, not that the request was bad. */
  readonly missingToken: string;
}

/** Delays and durations of the service, in ms. */
export interface Timing {
  /** Longest time after a 202 that the service may show the previous status. */
  readonly settle: number;
  /** Longest time that lists may omit a created object. */
  readonly listLag: number;
  /** Largest difference between two clocks of the service: the `Date` of its answers, and the times that it shows of objects. */
  readonly clock: number;
  /** Longest time until the endpoint of a ready resource answers; after it a warning. 0: it is not tried. */
  readonly endpoint: number;
  /** First and longest pause between two looks at one resource. */
  readonly poll: { readonly first: number; readonly longest: number };
  /** Forecast per operation: create, update, delete, start, stop, restart, ... */
  readonly expect: { readonly [operation: string]: number };
  /** Longest wait per operation if the manifest says nothing. */
  readonly timeout: { readonly [operation: string]: number };
}

/**
 * The entry of the topology that a database is reached through. Paths are dotted and count from the entry; the entries
 * are what the answer of `instance.describe` calls `topology`.
 */
export interface TopologyRules {
  readonly host: readonly string[];
  readonly port: readonly string[];
  readonly networkingType: readonly string[];
  /** The instance's networkType -> the networking types of entries that serve it; any if it is not named. */
  readonly networkingTypes: { readonly [networkType: string]: readonly string[] };
  /** Path -> pattern, without case; an entry with a value that matches is never the database's. */
  readonly never: { readonly [path: string]: string };
  /** Path of a flag; an entry with the flag is taken before others. */
  readonly first?: string;
}

/** Differences of cloud accounts from databases at this service. */
export interface AccountRules {
  /** Statuses that mean something else for an account. */
  readonly statuses?: { readonly [status: string]: PhaseName | "deleting" };
  /** Providers whose name a create repeats inside its parameters. */
  readonly repeatProvider?: readonly string[];
  /** Parameters that are sent as true and false, not as text. */
  readonly booleans?: readonly string[];
}

export interface Limits {
  readonly inFlight?: number;
  /** Requests per second, to each host. */
  readonly perSecond?: number;
  /** Requests that may come at once after a rest. */
  readonly burst?: number;
}

/** A vendor's wire details as data; see `profiles/`. */
export interface Profile {
  readonly name: string;
  readonly platformUrl?: string;
  readonly usersUrl?: string;
  /** Fixed path parameters: provider, service, ... */
  readonly keys: { readonly [name: string]: string };
  readonly session: SessionProfile;
  readonly signIn: Endpoint;
  readonly refresh?: Endpoint;
  /** Operation name (`instance.create`) -> endpoint. An optional operation that is absent is not offered. */
  readonly operations: { readonly [operation: string]: Endpoint };
  readonly tiers: { readonly [tier: string]: TierKeys };
  /** `per-tier`: each tier has one of its own, looked up if none is named; otherwise one serves everything. */
  readonly subscriptions?: "one" | "per-tier";
  /** `x-wire` of a field, or its last word -> the service's spelling, in bodies and in parameters that an answer repeats. */
  readonly fields: { readonly [name: string]: string };
  /** Service's status (compared without case) -> what it means. Unknown ones are pending. */
  readonly statuses: { readonly [status: string]: PhaseName | "deleting" };
  readonly accounts?: AccountRules;
  /** Text that means: an operation is already in progress. */
  readonly busy: string;
  /** Settings that no plan of the service has. */
  readonly lacks: readonly string[];
  /** The operations that ask for a backup, the preferred one first; one that the service does not know gives way. */
  readonly backupBy: readonly string[];
  /** Phase that an update requires. Default: any. */
  readonly updateNeeds?: PhaseName;
  readonly networkTypes: readonly string[];
  /** Without it only the answer's own `host` and `port` are an endpoint. */
  readonly topology?: TopologyRules;
  readonly timing: Timing;
  /** Without it the rate is learned from refusals. */
  readonly limits?: Limits;
  /** `advisory`: an instance type that is not listed is warned of; otherwise it is refused. */
  readonly listed?: "binding" | "advisory";
  readonly instanceTypes: { readonly [provider: string]: { readonly [type: string]: InstanceType } };
  readonly users: UserRules;
}

export interface InstanceType {
  readonly cpus: number;
  readonly memoryGB: number;
}

export interface UserRules {
  readonly usernameMin: number;
  readonly passwordMin: number;
  readonly commands: readonly string[];
}

/** One request in our words; the profile knows its path, spelling and host. */
export interface Call {
  /** For example `instance.describe`. */
  readonly operation: string;
  readonly params: { readonly [name: string]: string };
  readonly body?: JsonObject;
}

/** The answer: its body, and the values that the profile's `answer` names. */
export interface Answer {
  readonly body: Json;
  readonly values: { readonly [name: string]: Json };
}

/** The reading half of the service. Planning is handed this and nothing more, so it cannot write. */
export interface Reads {
  readonly profile: Profile;
  /** Hides the secrets of the run in the words of others: those of the service, of its databases, of exceptions. */
  readonly hide: Hide;
  /** PEM file of an authority to trust besides the system's. */
  readonly caFile?: string;
  /** Longest time that a run waits for an answer, and for a resource, in ms. Left out: as the client and the profile have it. */
  readonly patience?: number;
  offers(operation: string): boolean;
  /** Sends a GET; safe faults are retried. Rejects with ServiceError. */
  read(call: Call, signal: AbortSignal): Promise<Answer>;
  /** The service's clock, in ms since 1970: the newest `Date` of the host that serves this operation. Undefined if there is none yet. */
  date(operation: string): number | undefined;
}

/** Reading and writing. A write is never repeated if it may have worked. */
export interface Service extends Reads {
  /**
   * Sends a write; rejects as `aborted`, not sent, if `unsent` is aborted before it has left. `signal`, aborted no earlier, lets go of it in
   * flight as well. `look` is asked at the moment at which it leaves: a promise holds it back until it is settled, and may abort `unsent`.
   */
  write(
    call: Call,
    signal: AbortSignal,
    unsent?: AbortSignal,
    look?: () => Promise<void> | undefined,
  ): Promise<Answer>;
}

/** True for `localhost`, `[::1]` and 127.0.0.0/8. The host of a parsed URL: numbers in any notation are four decimal ones there. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

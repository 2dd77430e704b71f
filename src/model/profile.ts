import type { PhaseName } from "./observed.ts";

/** One operation of the service: where it is, how names are spelled there, and what its answer holds. */
export interface Endpoint {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly host: "platform" | "users";
  /** `{names}` are filled in, URL-encoded, from the call's parameters and the profile's keys. */
  readonly path: string;
  /** Query name -> template (`{subscriptionId}`); left out where the parameter has no value. */
  readonly query: { readonly [name: string]: string };
  /** Our body key -> the service's. Keys not named are sent as they are. */
  readonly body: { readonly [name: string]: string };
  /** Our answer key -> dotted paths in the answer, the first one present wins. */
  readonly answer: { readonly [name: string]: readonly string[] };
  /** True where the answer leaves an empty list out. */
  readonly omitsEmptyList?: boolean;
}

/** A tier as the service's paths spell it. */
export interface TierKeys {
  readonly serviceModelKey: string;
  readonly productTierKey: string;
  /** Manifest's component -> the service's resource key. */
  readonly components: { readonly [component: string]: string };
  /** `listed`: only the instance types of the profile; `any`: whatever the service takes. */
  readonly instanceTypes: "listed" | "any";
}

/** Session of specification 5.1. */
export interface SessionProfile {
  readonly send: "cookie" | "bearer";
  readonly tokenCookie: string;
  readonly refreshCookie: string;
  /** Dotted paths of the token in the sign-in answer, for services that send no cookie. */
  readonly tokenAnswer: readonly string[];
  readonly refreshAnswer: readonly string[];
  /** Lifetimes in ms, where the answer does not say. */
  readonly tokenLifetime: number;
  readonly refreshLifetime: number;
  /** A 400 whose message matches means that the token was missing, not that the request was bad. */
  readonly missingToken: string;
}

/** How long things take, in ms: what to expect, and what to wait before believing. */
export interface Timing {
  /** After a 202: how long an unchanged status may still be the old one. */
  readonly settle: number;
  /** How long a created object may be absent from lists. */
  readonly listLag: number;
  /** How long an endpoint may take to answer once the status is right; after that it is a warning. 0: it is not asked. */
  readonly endpoint: number;
  /** First and longest pause between two looks at one resource. */
  readonly poll: { readonly first: number; readonly longest: number };
  /** Forecast per operation: create, update, delete, start, stop, restart, ... */
  readonly expect: { readonly [operation: string]: number };
  /** Longest wait per operation where the manifest says nothing. */
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
  /** The instance's networkType -> the networking types of entries that serve it; any where it is not named. */
  readonly networkingTypes: { readonly [networkType: string]: readonly string[] };
  /** Path -> pattern, without case; an entry with a value that matches is never the database's. */
  readonly never: { readonly [path: string]: string };
  /** Path of what is true in the entry that is taken before others. */
  readonly first?: string;
}

/** How this service's cloud accounts differ from its databases, and from the specification. */
export interface AccountRules {
  /** Statuses that mean something else for an account. */
  readonly statuses?: { readonly [status: string]: PhaseName | "deleting" };
  /** Providers whose name a create repeats inside its parameters. */
  readonly repeatProvider?: readonly string[];
  /** Parameters that are sent as true and false, not as text. */
  readonly booleans?: readonly string[];
}

/** How much a service takes, where its vendor says so. */
export interface Limits {
  /** Requests in flight at once. */
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
  /** `per-tier`: each tier has one of its own, looked up where nobody names it; otherwise one serves everything. */
  readonly subscriptions?: "one" | "per-tier";
  /** Field of the specification -> the service's spelling. */
  readonly fields: { readonly [name: string]: string };
  /** Service's status (compared without case) -> what it means. Unknown ones are pending. */
  readonly statuses: { readonly [status: string]: PhaseName | "deleting" };
  readonly accounts?: AccountRules;
  /** Text that means: an operation is already in progress. */
  readonly busy: string;
  /** Settings of the specification that the service has in no plan. */
  readonly lacks: readonly string[];
  /** The operations that ask for a backup, the preferred one first; one that the service does not know gives way. */
  readonly backupBy: readonly string[];
  /** What an update needs the resource to be first: a phase, or nothing. */
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

/** What the users host accepts (specification 2.7). */
export interface UserRules {
  readonly usernameMin: number;
  readonly passwordMin: number;
  readonly commands: readonly string[];
}

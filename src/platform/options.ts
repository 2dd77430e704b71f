/** @module Lists the options of a local platform and fills in their defaults. */
import { defined } from "../model/json.ts";
import type { FaultRule } from "./control/faults.ts";
import type { Dialect, DialectName } from "./dialect/dialect.ts";
import type { InstanceTypes } from "./model/instance-types.ts";
import type { NetworkSeed, OperationName } from "./model/records.ts";

export interface PlatformOptions {
  readonly dataDir: string;
  /** 0: any free port. */
  readonly port: number;
  /** Port of the users host. Default: both hosts share one port. */
  readonly usersPort?: number;
  /** The service profile that the platform speaks. Default: the profile of the data folder, at first "default". */
  readonly profile?: DialectName;
  /** The resource key in a failover's path: of the node's resource, or of the component. Default: both are accepted. */
  readonly failoverPath?: "node" | "component" | "either";
  /** Entries of one page of a list; further pages are requested by a token. Default: the profile's. */
  readonly pageSize?: number;
  readonly host?: string;
  /** "none" runs without databases; otherwise a server program. Default: searched for, see `findEngine`. */
  readonly engine?: string;
  readonly faults?: readonly FaultRule[];
  /** Lifetimes in seconds; fractions are allowed. Defaults 3600 and 86400. */
  readonly sessionLifetime?: number;
  readonly refreshLifetime?: number;
  /** Time that each operation takes in addition to the real work, in ms: one number, or one per operation. Default 50. */
  readonly delays?: number | { readonly [name in OperationName]?: number };
  /** Time for which the previous status is still shown after a 202, in ms. Default 0. */
  readonly staleStatus?: number;
  /** Describe shows the request parameters as strings, the password in clear, as the real service does. Default: the profile's. */
  readonly echo?: boolean;
  /** "full": networks can be created, listed and deleted. Default: the profile's. */
  readonly networks?: "full" | "adopt-only";
  readonly networkSeeds?: readonly NetworkSeed[];
  /** Every bootstrap and offboard is run at once by a simulated person. Default false. */
  readonly autoBootstrap?: boolean;
  /** Interval of automated snapshots of every running instance, in ms. Default 0: none. */
  readonly snapshotInterval?: number;
  /** Requests per minute and client address on the users host. Default 100. */
  readonly usersPerMinute?: number;
  /** The clock of time stamps, in ms since the epoch. Default: the system's. */
  readonly now?: () => number;
  /** Monotonic milliseconds for ages and limits: the system's clock may be set. Default: the process's. */
  readonly elapsed?: () => number;
  /** The process runs nothing but the platform, so that its global Request and Response may be replaced by faster ones. Default false. */
  readonly ownsProcess?: boolean;
  readonly instanceTypes?: InstanceTypes;
}

export type Settings = Required<
  Omit<PlatformOptions, "usersPort" | "engine" | "instanceTypes" | "delays" | "profile">
> & {
  readonly delayOf: (operation: OperationName) => number;
};

const defaults = {
  failoverPath: "either",
  host: "127.0.0.1",
  faults: [],
  sessionLifetime: 3600,
  refreshLifetime: 86_400,
  staleStatus: 0,
  networkSeeds: [],
  autoBootstrap: false,
  snapshotInterval: 0,
  usersPerMinute: 100,
  now: Date.now,
  elapsed: (): number => performance.now(),
  ownsProcess: false,
} as const;

/** Settings from options; `settings` are the defaults of the dialect. */
export function settingsOf(options: PlatformOptions, { settings }: Pick<Dialect, "settings">): Settings {
  const { delays = 50 } = options;
  const chosen = { ...defaults, ...settings, ...defined(options) };
  const { dataDir, port } = options;
  return {
    ...{ ...chosen, dataDir, port },
    pageSize: Math.max(1, Math.floor(chosen.pageSize)),
    delayOf: (operation) => (typeof delays === "number" ? delays : (delays[operation] ?? 50)),
  };
}

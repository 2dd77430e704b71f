import type { FaultRule } from "./control/fault-rule.ts";
import type { Dialect, DialectName } from "./dialect/dialect.ts";
import type { InstanceTypes } from "./model/instance-types.ts";
import type { OperationName } from "./model/records.ts";

/** A custom network that exists from the start. */
export interface NetworkSeed {
  readonly id: string;
  readonly name: string;
  readonly cloudProvider: string;
  readonly region: string;
  readonly cidr?: string;
}

/** Settings of a local platform. All but the folder and the port have defaults. */
export interface PlatformOptions {
  readonly dataDir: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** A port of its own for the users host; without it both hosts share one. */
  readonly usersPort?: number;
  /** The service profile whose wire is spoken. Default: the one of the data folder, at first "default". */
  readonly profile?: DialectName;
  /** The resource that a failover's path names: the one that the node stands in, or the component. Default: either will do. */
  readonly failoverPath?: "node" | "component" | "either";
  /** Entries that a list answers at a time, with a token for the next ones. Default: the profile's. */
  readonly pageSize?: number;
  /** Where to listen. Default 127.0.0.1. */
  readonly host?: string;
  /** "none" is a control plane without data; otherwise a server program. Default: found (see the engine). */
  readonly engine?: string;
  readonly faults?: readonly FaultRule[];
  /** Lifetimes in seconds; fractions are fine. Defaults 3600 and 86400 (specification 5.1). */
  readonly sessionLifetime?: number;
  readonly refreshLifetime?: number;
  /** What each operation takes beyond the real work, in ms: one figure for all, or by name. Default 50. */
  readonly delays?: number | { readonly [name in OperationName]?: number };
  /** How long the old status still shows after a 202, in ms. Default 0. */
  readonly staleStatus?: number;
  /** Describe echoes the request parameters as strings, the password in clear (as the real service). Default: the profile's. */
  readonly echo?: boolean;
  /** Whether networks can be created, listed and deleted. Default: the profile's. */
  readonly networks?: "full" | "adopt-only";
  readonly networkSeeds?: readonly NetworkSeed[];
  /** A simulated person runs every bootstrap and offboard at once. Default false. */
  readonly autoBootstrap?: boolean;
  /** Takes an automated snapshot of every running instance at this interval in ms. Default 0: never. */
  readonly snapshotInterval?: number;
  /** Requests per minute and address on the users host. Default 100. */
  readonly usersPerMinute?: number;
  /** The clock that time stamps follow, in ms since the epoch. Default: the system's. */
  readonly now?: () => number;
  /** Milliseconds that only grow, which ages and limits follow: clocks are set. Default: the process's. */
  readonly elapsed?: () => number;
  /** The process is the platform's own: its Request and Response may be replaced by faster ones. Default false. */
  readonly ownsProcess?: boolean;
  /** Instance types in place of those of the default profile. */
  readonly instanceTypes?: InstanceTypes;
}

/** The settings with every default filled in. */
export type Settings = Required<
  Omit<PlatformOptions, "usersPort" | "engine" | "instanceTypes" | "delays" | "profile">
> & {
  readonly delayOf: (operation: OperationName) => number;
};

/** Fills in the defaults. */
export function settingsOf(options: PlatformOptions, { settings }: Pick<Dialect, "settings">): Settings {
  const { delays = 50 } = options;
  return {
    dataDir: options.dataDir,
    port: options.port,
    failoverPath: options.failoverPath ?? "either",
    pageSize: Math.max(1, Math.floor(options.pageSize ?? settings.pageSize)),
    host: options.host ?? "127.0.0.1",
    faults: options.faults ?? [],
    sessionLifetime: options.sessionLifetime ?? 3600,
    refreshLifetime: options.refreshLifetime ?? 86_400,
    staleStatus: options.staleStatus ?? 0,
    echo: options.echo ?? settings.echo,
    networks: options.networks ?? settings.networks,
    networkSeeds: options.networkSeeds ?? [],
    autoBootstrap: options.autoBootstrap ?? false,
    snapshotInterval: options.snapshotInterval ?? 0,
    usersPerMinute: options.usersPerMinute ?? 100,
    now: options.now ?? Date.now,
    elapsed: options.elapsed ?? (() => performance.now()),
    ownsProcess: options.ownsProcess ?? false,
    delayOf: (operation) => (typeof delays === "number" ? delays : (delays[operation] ?? 50)),
  };
}

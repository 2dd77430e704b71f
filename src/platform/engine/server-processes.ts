import { basename, dirname, isAbsolute } from "node:path";
import {
  allPids,
  hasEndedWithin,
  isRunning,
  lookInto,
  type PinnedProcess,
  pinned,
  signalTo,
} from "../../files/process-identity.ts";

/** A database server that runs, or a child that it forked to write its data. */
export interface FoundServer extends PinnedProcess {
  /** Folder of the node on whose data it works. */
  readonly folder: string;
  /** A child may outlive its server, and would still write into the data. */
  readonly isChild: boolean;
  /** The data were removed under it. */
  readonly isHomeless: boolean;
  readonly parent: number;
}

/**
 * Every database server of this machine that works on the data of a node, servers before their children. It is known by the
 * folder that it works in, as the system tells it, and by its arguments, which are those that a server of ours is started
 * with: a process that only has such a path among its arguments is none.
 */
export function findServers(): readonly FoundServer[] {
  const found = allPids().flatMap((pid) => serverOf(pid) ?? []);
  const pids = new Set(found.map(({ pid }) => pid));
  // A child that was forked a moment ago still looks like its server.
  const servers = found.map((server) => ({ ...server, isChild: server.isChild || pids.has(server.parent) }));
  return servers.sort((a, b) => Number(a.isChild) - Number(b.isChild));
}

/** The servers that work on the data of exactly this node. */
export function serversOf(folder: string): readonly FoundServer[] {
  return findServers().filter((server) => server.folder === folder);
}

/** Ends servers, gently for `grace` ms and then at once, and resolves when none is left. */
export async function endServers(servers: readonly FoundServer[], grace: number): Promise<void> {
  await Promise.all(
    servers.map(async (server) => {
      if (grace > 0) {
        // One that is halted hears nothing.
        signalTo(server, "SIGCONT");
        signalTo(server, "SIGTERM");
        if (await hasEndedWithin(server, grace)) return;
      }
      signalTo(server, "SIGKILL");
      if (!(await hasEndedWithin(server, 10_000)))
        throw new Error(`the database server of ${server.folder} (process ${server.pid}) does not end`);
    }),
  );
}

function serverOf(pid: number): FoundServer | undefined {
  const process = pinned(pid);
  const seen = lookInto(pid);
  if (seen === undefined || basename(seen.folder) !== "data") return undefined;
  const folder = dirname(seen.folder);
  const id = basename(folder);
  if (!/^node-\d+$/.test(id)) return undefined;
  const [program = "", config = "", ...more] = seen.words;
  const isServer = more.length === 0 && isAbsolute(config) && config.endsWith(`/${id}/server.conf`);
  // Children go by a title of their own, such as `valkey-rdb-bgsave`.
  const isChild = !isServer && /^(?:redis|valkey)-(?:rdb|aof|module)-/.test(program);
  const { isHomeless, parent } = seen;
  return (isServer || isChild) && isRunning(process)
    ? { ...process, folder, isChild, isHomeless, parent }
    : undefined;
}

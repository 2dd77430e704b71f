/** @module Finds and ends the database servers of this machine. */
import { basename, dirname, isAbsolute } from "node:path";
import {
  allPids,
  hasEndedWithin,
  isRunning,
  lookInto,
  type PinnedProcess,
  pinned,
  type SeenProcess,
  signalTo,
} from "../../files/process-identity.ts";

/** A running database server, or a child that it forked to write its data. */
export interface FoundServer
  extends PinnedProcess,
    Pick<SeenProcess, "folder" | "isFolderRemoved" | "parent"> {
  /** True for a forked child, which may outlive its server and still write into the data. */
  readonly isChild: boolean;
}

/**
 * Every database server over a node's data, servers before their children: identified by its working folder and the exact
 * arguments, so that no process counts that only mentions such a path.
 */
export function findServers(): readonly FoundServer[] {
  const found = allPids().flatMap((pid) => serverOf(pid) ?? []);
  const pids = new Set(found.map(({ pid }) => pid));
  // A child that was just forked still has the arguments of its server.
  const servers = found.map((server) => ({ ...server, isChild: server.isChild || pids.has(server.parent) }));
  return servers.sort((a, b) => Number(a.isChild) - Number(b.isChild));
}

export function serversOf(folder: string): readonly FoundServer[] {
  return findServers().filter((server) => server.folder === folder);
}

/** Ends servers with SIGTERM, and with SIGKILL after `grace` ms; resolves when none is left. */
export async function endServers(servers: readonly FoundServer[], grace: number): Promise<void> {
  await Promise.all(
    servers.map(async (server) => {
      if (grace > 0) {
        // A halted process does not handle SIGTERM.
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
  // Children have their own process title, such as `valkey-rdb-bgsave`.
  const isChild = !isServer && /^(?:redis|valkey)-(?:rdb|aof|module)-/.test(program);
  const { isFolderRemoved, parent } = seen;
  return (isServer || isChild) && isRunning(process)
    ? { ...process, folder, isChild, isFolderRemoved, parent }
    : undefined;
}

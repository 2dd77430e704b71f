/** @module Notes by which facts a node shows that nothing wrote to it, and compares two such notes. */
import { createHash } from "node:crypto";
import { linesIn } from "../../database/parameters.ts";
import type { Node } from "./nodes.ts";

/**
 * A node at one moment. No single fact is enough: a save sets the changes to 0, a library is no change, a restart sets all counters to 0.
 * The offset of replication is not among them, since it grows by pings. Plain data, which another run can compare as well.
 */
export interface NodeFacts {
  readonly runId: string;
  readonly role: string;
  /** Snapshots since the start; one that happens in a pause makes the changes say nothing. */
  readonly saves: number;
  /** Changes since the last snapshot. */
  readonly changes: number;
  /** Calls of all commands that can write. */
  readonly writes: number;
  /** Digest of the libraries of functions: loading one is not held by a pause. */
  readonly libraries: string;
  /** The counters of commands were set back since the start: they say less than there was. */
  readonly wereReset: boolean;
}

/** Commands that cannot write, as INFO commandstats names them. An unknown command counts as a write. */
const reads = new Set(
  `info ping auth hello select echo quit reset role readonly readwrite monitor dbsize scan type exists dump ttl pttl expiretime
  pexpiretime touch keys randomkey multi exec discard watch unwatch wait waitaof get mget strlen hget hgetall hmget hlen hscan
  hkeys hvals hexists lrange llen lindex smembers sismember scard sscan zrange zcard zscore zscan xrange xlen xread time
  lastsave save bgsave bgrewriteaof replconf psync sync replicaof subscribe psubscribe unsubscribe punsubscribe publish asking
  graph.info graph.list graph.ro_query graph.explain graph.config graph.memory graph.slowlog graph.udf graph.debug`.split(
    /\s+/,
  ),
);
const readContainers =
  /^(client|memory|slowlog|module|command|config|acl|latency|object|cluster|xinfo|pubsub)\b/;

/** Reads the facts of a node, in one write. Rejects with the Error of a refused command, too. */
export async function factsOf({ control }: Node): Promise<NodeFacts> {
  const sections = ["server", "replication", "persistence", "commandstats"];
  const [info = null, libraries = null] = await control.all([
    ["INFO", ...sections],
    ["GRAPH.UDF", "LIST", "WITHCODE"],
  ]);
  if (info instanceof Error) throw info;
  // An engine without libraries does not know the command.
  const isUnknown = libraries instanceof Error && /unknown command/i.test(libraries.message);
  if (libraries instanceof Error && !isUnknown) throw libraries;
  const lines = linesIn(info);
  return {
    runId: lines["run_id"] ?? "",
    role: lines["role"] ?? "",
    saves: Number(lines["rdb_saves"] ?? 0),
    changes: Number(lines["rdb_changes_since_last_save"] ?? 0),
    writes: writesIn(lines),
    libraries: createHash("sha256").update(JSON.stringify(libraries)).digest("hex"),
    wereReset: lines["cmdstat_config|resetstat"] !== undefined,
  };
}

function writesIn(lines: { readonly [line: string]: string }): number {
  let calls = 0;
  for (const [line, text] of Object.entries(lines)) {
    const command = /^cmdstat_(.*)$/.exec(line)?.[1]?.toLowerCase();
    if (command === undefined || reads.has(command) || readContainers.test(command)) continue;
    calls += Number(/\bcalls=(\d+)/.exec(text)?.[1] ?? 0);
  }
  return calls;
}

/** The first fact that differs, in words; undefined if nothing wrote between the two. */
export function changeBetween(before: NodeFacts, after: NodeFacts): string | undefined {
  if (before.runId !== after.runId) return "its process was started anew";
  if (before.role !== after.role) return `its role changed from ${before.role} to ${after.role}: a failover`;
  if (before.libraries !== after.libraries) return "its libraries of functions were changed";
  if (before.saves !== after.saves) return "it saved a snapshot, after which its changes cannot be counted";
  if (before.changes !== after.changes) return "its data was changed";
  if (before.writes !== after.writes) return "a command that can write was executed";
  return undefined;
}

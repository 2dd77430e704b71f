/** @module Decides from two inventories, and from the rights of both users, whether the data can be moved. */
import { linesIn } from "../../database/parameters.ts";
import { isHeld } from "./freeze.ts";
import { type Engine, type Inventory, isUnready } from "./inventory.ts";
import { graphType } from "./keys.ts";
import type { Side } from "./nodes.ts";
import { megabytes } from "./progress.ts";
import { type RefusalCode, Refused } from "./refusals.ts";

/** Largest dump of one value in bytes: above 512 MB the engine resets the connection instead of restoring it. */
export const largestValue = 400_000_000;

/** Types that a dump carries; any other is that of a module that the new database may not have. */
const types = new Set(["string", "list", "set", "zset", "hash", "stream", graphType]);

/** Memory of a dump and of its making, as multiples of the dump: at the source, and at the target until it is restored. */
const [sourceShare, targetShare] = [2, 3.5];

/** A new database as far as it is known; it may not exist yet. */
export interface TargetFacts {
  /** Limit of its memory in bytes; 0 means no limit. */
  readonly maxMemory?: number;
  /** Absent before it exists. */
  readonly engine?: Engine;
  readonly isCluster?: boolean;
  readonly isOnDisk?: boolean;
  /** Bytes of the largest dump, once a rehearsal measured it; otherwise it is estimated from the largest graph. */
  readonly largest?: number;
}

/** Reasons that the data and the new database give. Pure. */
export function refusalsOf(source: Inventory, target: TargetFacts): readonly Refused[] {
  const found: Refused[] = [];
  const names = new Set<string>();
  const refuse = (code: RefusalCode, message: string): void => void found.push(new Refused(code, message));
  for (const [side, { isCluster }] of Object.entries({ old: source, new: target }))
    if (isCluster === true)
      refuse("cluster", `the ${side} database is a cluster, whose keys lie on several primaries`);
  if (target.engine !== undefined) found.push(...engineRefusals(source.engine, target.engine));
  for (const { number, types: counts, graphs } of source.databases) {
    for (const [type, count] of Object.entries(counts))
      if (!types.has(type)) refuse("key-type", `database ${number} has ${count} keys of the type ${type}`);
    for (const { name, indexes, constraints } of graphs) {
      if (names.has(name)) refuse("graph-name-twice", `two databases have a graph ${name}`);
      names.add(name);
      for (const { title, status } of [...constraints, ...indexes].filter(isUnready))
        refuse(
          status === "FAILED" ? "constraint-failed" : "under-construction",
          `the ${title} in graph ${name} is ${status.toLowerCase()}`,
        );
    }
  }
  return [...found, ...sizeRefusals(source, target)];
}

function engineRefusals(source: Engine, target: Engine): readonly Refused[] {
  const name = ({ server, version, module }: Engine): string => `${server} ${version} with module ${module}`;
  const both = `from ${name(source)} to ${name(target)}`;
  const pairs = [
    [source.version, target.version],
    [source.module, target.module],
  ].map((pair) => pair.map((version) => version.split(".").map(Number)));
  if (source.server !== target.server || pairs.some(([a, b]) => a?.[0] !== b?.[0]))
    return [new Refused("engine-across-majors", `the data would go ${both}: they may read it differently`)];
  const isOlder = pairs.some(([a = [], b = []]) => {
    const at = a.findIndex((part, index) => part !== b[index]);
    return at !== -1 && (b[at] ?? 0) < (a[at] ?? 0);
  });
  return isOlder ? [new Refused("engine-older", `the data would go ${both}, which is older`)] : [];
}

function sizeRefusals({ memory, databases }: Inventory, target: TargetFacts): readonly Refused[] {
  const found: Refused[] = [];
  const graphs = databases.flatMap((database) => database.graphs);
  // A dump is about half as large as its graph is in memory.
  const guessed = Math.max(0, ...graphs.map(({ memory: bytes = 0 }) => bytes / 2));
  const largest = target.largest ?? guessed;
  if (largest > largestValue) {
    const size = target.largest === undefined ? "has about" : "has";
    const message = `the largest value ${size} ${megabytes(largest)} as a dump; the limit is ${megabytes(largestValue)}`;
    found.push(new Refused("value-too-large", message));
  }
  if (memory.max > 0 && memory.used + sourceShare * largest > memory.max) {
    const message = `the database uses ${megabytes(memory.used)} of ${megabytes(memory.max)}; a dump of its largest value takes ${megabytes(sourceShare * largest)} more`;
    found.push(new Refused("source-memory", message));
  }
  const { maxMemory = 0 } = target;
  const needed = Math.max(memory.used / 0.8, memory.used - largest + targetShare * (target.largest ?? 0));
  if (maxMemory > 0 && needed > maxMemory) {
    const message = `the new database has ${megabytes(maxMemory)} of memory; the data takes ${megabytes(needed)} while it is copied`;
    found.push(new Refused("target-too-small", message));
  }
  return found;
}

/** Each is refused for its arguments by a server that permits it, and does nothing. CLIENT UNPAUSE has none: it is queued and discarded. */
const trials = {
  source: `CLIENT PAUSE x WRITE; CLIENT KILL ID x; CLIENT LIST ID x; GRAPH.CONFIG SET NO_SUCH 1; GRAPH.INFO x; SCAN x;
    DUMP graphform:no-such-key; GRAPH.RO_QUERY graphform:no-such-key x; MULTI; CLIENT UNPAUSE; DISCARD`,
  target: `RESTORE graphform:no-such-key -1 x; GRAPH.DELETE graphform:no-such-key; GRAPH.CONFIG SET NO_SUCH 1;
    GRAPH.UDF LOAD; FLUSHALL x; WAITAOF x 0 0; WAIT x 0; DUMP graphform:no-such-key`,
};

/** Reasons that the running nodes give: missing rights, found without executing anything; replicas that are not among the nodes; a pause of others. */
export async function refusalsOfSide(
  side: Side,
  use: "source" | "target",
  signal: AbortSignal,
): Promise<readonly Refused[]> {
  const found: Refused[] = [];
  const refuse = (code: RefusalCode, message: string): void => void found.push(new Refused(code, message));
  const commands = trials[use].split(";").map((line) => line.trim().split(" "));
  for (const { control, target } of side.nodes)
    for (const [at, reply] of (await control.all(commands)).entries())
      if (reply instanceof Error && /^NOPERM/.test(reply.message) && commands[at]?.[1] !== undefined) {
        const command = commands[at]?.slice(0, 2).join(" ");
        refuse("right-missing", `the user may not run ${command} at ${target.host}:${target.port}`);
      }
  const info = linesIn(await side.primary.control.one(["INFO", "replication"]));
  const known = Number(info["connected_slaves"]);
  if (known !== side.replicas.length) {
    const message = `the primary has ${known} replicas, and ${side.replicas.length} are among the nodes that the service lists`;
    refuse("unknown-replica", message);
  }
  try {
    if (await isHeld(side.primary, signal))
      refuse("paused-already", "the writes of the database are paused by another client");
  } catch (error) {
    if (!(error instanceof Error) || !/^NOPERM/.test(error.message)) throw error;
    refuse("right-missing", "the user may not run DEL, by which a pause of writes is proved");
  }
  return found;
}

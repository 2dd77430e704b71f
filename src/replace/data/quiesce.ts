/** @module Brings a database to rest: no write runs, none can begin, and then its writes are paused. */
import { setTimeout as sleep } from "node:timers/promises";
import { linesIn } from "../../database/parameters.ts";
import { clientsIn, type ListedClient, listOf, pairsOf } from "../../database/replies.ts";
import { type Freeze, holdFreeze, type Paused, pauseNode, unpause } from "./freeze.ts";
import { databasesOf, graphsOf } from "./keys.ts";
import type { Node, Side } from "./nodes.ts";
import { Refused } from "./refusals.ts";

/** QUERY_MEM_CAPACITY now. Record it before `quiesce`: the cap of a killed run stays. */
export async function readCap({ primary }: Side): Promise<number> {
  const reply = await primary.control.one(["GRAPH.CONFIG", "GET", "QUERY_MEM_CAPACITY"]);
  return Number(listOf(reply)[1]);
}

/** Sets QUERY_MEM_CAPACITY. With 1 every query that writes fails. */
export async function setCap({ primary }: Side, cap: number): Promise<void> {
  await primary.control.one(capCommand(cap).split(" "));
}

/** Sets QUERY_MEM_CAPACITY to what it was, and ends the pause. Called again it does the same; later runs call it, too. Rejects if a node did not take that. */
export async function letWrite(side: Side, cap: number | undefined): Promise<void> {
  if (cap !== undefined) await setCap(side, cap);
  if (!(await unpause(side))) throw new Error("its pause of writes could not be ended on every node");
}

/** The command that puts the cap back by hand. */
export function capCommand(cap: number): string {
  return `GRAPH.CONFIG SET QUERY_MEM_CAPACITY ${cap}`;
}

export interface QuiesceOptions {
  /** Value of `readCap`, which is recorded already. */
  readonly cap: number;
  /** Length of one pause in ms, renewed every third. It ends by itself after that if this process ends. Default 30 s. */
  readonly pause?: number;
  /** Longest time until nothing runs, in ms. Default 2 s. */
  readonly idleWithin?: number;
  /** Longest time in ms until every node has built its constraints, saved its snapshot and ended long writes; others begin meanwhile. Default 60 s. */
  readonly settledWithin?: number;
}

/**
 * Waits until every node has settled, caps the memory of queries so that no write can begin, waits until none runs or waits, pauses writes
 * on every node (replicas once they have caught up), and puts the cap back. Rejects with a Refused, which leaves the database as it was, and if a node
 * breaks: the cap and the pause are gone then wherever a node still answers.
 */
export async function quiesce(
  side: Side,
  { cap, pause = 30_000, idleWithin = 2000, settledWithin = 60_000 }: QuiesceOptions,
  signal: AbortSignal,
): Promise<Freeze> {
  const settledUntil = performance.now() + settledWithin;
  const haveSettled = async (): Promise<boolean> =>
    (await Promise.all(side.nodes.map((node) => hasSettled(node, signal)))).every(Boolean);
  const late = `a constraint was still built, a snapshot saved, or a long write at work after ${settledWithin} ms`;
  if (!(await isTrueBefore(settledUntil, signal, 100, haveSettled))) throw new Refused("not-settled", late);
  try {
    const paused = await pauseAtRest(side, pause, idleWithin, signal).finally(() => setCap(side, cap));
    return await holdFreeze(side, paused, pause, signal);
  } catch (error) {
    if (error instanceof Refused) await letWrite(side, undefined);
    else await unpause(side);
    throw error;
  }
}

/** No pause may begin beside a running write: with an append-only file or a replica that crashes the server. */
async function pauseAtRest(
  side: Side,
  pause: number,
  idleWithin: number,
  signal: AbortSignal,
): Promise<readonly Paused[]> {
  const { primary, replicas } = side;
  await setCap(side, 1);
  const end = performance.now() + idleWithin;
  const notIdle = new Refused(
    "not-idle",
    `queries still ran after ${idleWithin} ms, though none could begin`,
  );
  const list = async (): Promise<string> => String(await primary.control.one(["CLIENT", "LIST"]));
  if (!(await isAtRestBefore(end, await list(), primary, signal))) throw notIdle;
  let first: Paused;
  // The cap does not stop the copy of a graph, and GRAPH.INFO does not show it: one that has begun ends before the pause.
  do {
    if (!(await isTrueBefore(end, signal, 1, async () => !isCopying(await list())))) throw notIdle;
    first = await pauseNode(primary, pause);
    if (isCopying(first.clients)) await primary.control.one(["CLIENT", "UNPAUSE"]);
  } while (isCopying(first.clients));
  const paused: Paused[] = [first];
  // Queries that were accepted since must fail by the cap: without it they would write in the pause.
  if (!(await isAtRestBefore(end, first.clients, primary, signal))) throw notIdle;
  const offset = Number(linesIn(await primary.control.one(["INFO", "replication"]))["master_repl_offset"]);
  const late = performance.now() + idleWithin;
  for (const replica of replicas) {
    const { host, port } = replica.target;
    const hasCaughtUp = await isTrueBefore(late, signal, 5, async () => {
      const info = linesIn(await replica.control.one(["INFO", "replication"]));
      return Number(info["slave_repl_offset"]) >= offset;
    });
    const behind = `the replica at ${host}:${port} had not caught up after ${idleWithin} ms`;
    if (!hasCaughtUp || !(await isAtRestBefore(late, "", replica, signal)))
      throw new Refused("replica-behind", behind);
    paused.push(await pauseNode(replica, pause));
  }
  return paused;
}

/**
 * True if a node builds no constraint, saves no snapshot and runs no long write. A constraint that becomes operational in a pause crashes a server with an append-only
 * file; a replica builds its own, later than the primary. A snapshot that ends in a pause changes the number of changes, which then proves nothing.
 * The cap would end a long write half-way: the engine keeps its new labels and keys, and may not load what later writes make of them.
 */
async function hasSettled({ control, open }: Node, signal: AbortSignal): Promise<boolean> {
  if (linesIn(await control.one(["INFO", "persistence"]))["rdb_bgsave_in_progress"] !== "0") return false;
  for (const number of await databasesOf(control)) {
    const link = await open(signal, number);
    const graphs = await graphsOf(link);
    const ask = (name: Buffer) => ["GRAPH.RO_QUERY", name, "CALL db.constraints() YIELD status"];
    const replies = await link.all(graphs.map(ask)).finally(link.close);
    if (/UNDER CONSTRUCTION|PENDING/.test(JSON.stringify(replies))) return false;
  }
  const info = listOf(await control.one(["GRAPH.INFO"]));
  const running = listOf(info[info.indexOf("# Running queries") + 1]).map(pairsOf);
  return !running.some((each) => writing.test(String(each.get("Query"))) && Number(each.get(age)) > 100);
}

/** Words of queries that may write, and the field with the ms for which a query runs. */
const [writing, age] = [/create|merge|delete|remove|drop|\bset\b/i, "Execution duration"];

/** Repeats a look every so many ms until it is true; false once the time is over. */
async function isTrueBefore(
  end: number,
  signal: AbortSignal,
  every: number,
  look: () => Promise<boolean>,
): Promise<boolean> {
  while (performance.now() < end) {
    signal.throwIfAborted();
    if (await look()) return true;
    await sleep(every);
  }
  return false;
}

/**
 * True once every client that waited for the answer of a query in a list of clients has had it, and GRAPH.INFO shows no running and no waiting
 * query twice. A query is answered after its changes went to the file and to the replicas. GRAPH.INFO alone does not show a query that a busy
 * machine interrupts while it moves between its lists.
 */
function isAtRestBefore(
  end: number,
  clients: string,
  { control }: Node,
  signal: AbortSignal,
): Promise<boolean> {
  let waiting = waitingIn(clients);
  let idle = 0;
  return isTrueBefore(end, signal, 1, async () => {
    if (waiting.size > 0) {
      const now = waitingIn(String(await control.one(["CLIENT", "LIST"])));
      waiting = new Map([...waiting].filter(([id, commands]) => now.get(id) === commands));
      if (waiting.size > 0) return false;
    }
    const reply = listOf(await control.one(["GRAPH.INFO"]));
    const queries = ["# Running queries", "# Waiting queries"].map(
      (title) => reply[reply.indexOf(title) + 1],
    );
    const isIdle = queries.every((list) => Array.isArray(list) && list.length === 0);
    idle = isIdle ? idle + 1 : 0;
    return idle === 2;
  });
}

function isCopying(clients: string): boolean {
  return clientsIn(clients).some((client) => isBlockedBy("graph.copy", client));
}

/** True for a client that waits for the answer of a command whose name begins so. */
function isBlockedBy(command: string, { flags = "", cmd = "" }: ListedClient): boolean {
  return flags.includes("b") && cmd.toLowerCase().startsWith(command);
}

/** Clients whose query has no answer yet, with the number of commands that they have had answered. An older engine lacks it: all of them count then. */
function waitingIn(clients: string): ReadonlyMap<string, string> {
  const waiting = new Map<string, string>();
  for (const client of clientsIn(clients)) {
    const { id, "tot-cmds": commands = "" } = client;
    if (id !== undefined && isBlockedBy("graph.", client)) waiting.set(id, commands);
  }
  return waiting;
}

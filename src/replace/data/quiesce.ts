/** @module Brings a database to rest: no write runs, none can begin, and then its writes are paused. */
import { setTimeout as sleep } from "node:timers/promises";
import { linesIn } from "../../database/settings.ts";
import { type Freeze, holdFreeze, type Paused, pauseNode, unpause } from "./freeze.ts";
import type { Node, Side } from "./nodes.ts";
import { isRefusal, type Refusal, refusal } from "./refusals.ts";
import { clientsIn, listOf } from "./replies.ts";

/** QUERY_MEM_CAPACITY now. Record it before `quiesce`: the cap of a killed run stays. */
export async function readCap({ primary }: Side): Promise<number> {
  const reply = await primary.control.one(["GRAPH.CONFIG", "GET", "QUERY_MEM_CAPACITY"]);
  return Number(listOf(reply)[1]);
}

/** Sets QUERY_MEM_CAPACITY. With 1 every query that writes fails. */
export async function setCap({ primary }: Side, cap: number): Promise<void> {
  await primary.control.one(capCommand(cap).split(" "));
}

/** Sets QUERY_MEM_CAPACITY to what it was, and ends the pause. Called again it does the same; later runs call it, too. */
export async function letWrite(side: Side, cap: number | undefined): Promise<void> {
  if (cap !== undefined) await setCap(side, cap);
  await unpause(side);
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
}

/**
 * Caps the memory of queries so that no write can begin, waits until none runs or waits, pauses writes on every node (replicas
 * once they have caught up), and puts the cap back. A refusal leaves the database as it was. Rejects if a node breaks; the cap
 * and the pause are gone then wherever a node still answers.
 */
export async function quiesce(
  side: Side,
  { cap, pause = 30_000, idleWithin = 2000 }: QuiesceOptions,
  signal: AbortSignal,
): Promise<Freeze | Refusal> {
  let paused: readonly Paused[] | Refusal | undefined;
  let freeze: Freeze | Refusal | undefined;
  try {
    try {
      paused = await pauseAtRest(side, pause, idleWithin, signal);
    } finally {
      await setCap(side, cap);
    }
    freeze = isRefusal(paused) ? paused : await holdFreeze(side, paused, pause, signal);
    return freeze;
  } finally {
    if (freeze === undefined || isRefusal(freeze)) await unpause(side);
  }
}

/** No pause may begin beside a running write: with an append-only file or a replica that ends the server. */
async function pauseAtRest(
  side: Side,
  pause: number,
  idleWithin: number,
  signal: AbortSignal,
): Promise<readonly Paused[] | Refusal> {
  const { primary, replicas } = side;
  await setCap(side, 1);
  const end = performance.now() + idleWithin;
  const notIdle = refusal("not-idle", `queries still ran after ${idleWithin} ms, though none could begin`);
  const clients = String(await primary.control.one(["CLIENT", "LIST"]));
  if (!(await isAtRestBefore(end, clients, primary, signal))) return notIdle;
  const first = await pauseNode(primary, pause);
  const paused: Paused[] = [first];
  // Queries that were accepted since must fail by the cap: without it they would write in the pause.
  if (!(await isAtRestBefore(end, first.clients, primary, signal))) return notIdle;
  const offset = Number(linesIn(await primary.control.one(["INFO", "replication"]))["master_repl_offset"]);
  const late = performance.now() + idleWithin;
  for (const replica of replicas) {
    const { host, port } = replica.target;
    if (!(await hasCaughtUp(late, replica, offset, signal)) || !(await isIdleBefore(late, replica, signal)))
      return refusal(
        "replica-behind",
        `the replica at ${host}:${port} had not caught up after ${idleWithin} ms`,
      );
    paused.push(await pauseNode(replica, pause));
  }
  return paused;
}

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

/** True once the queries of these clients are answered, and none runs or waits. */
async function isAtRestBefore(
  end: number,
  clients: string,
  node: Node,
  signal: AbortSignal,
): Promise<boolean> {
  return (await haveAnsweredBefore(end, clients, node, signal)) && (await isIdleBefore(end, node, signal));
}

/**
 * True once every client that waited for the answer of a query in a list of clients has had it: a query is answered after its changes went to
 * the file and to the replicas. GRAPH.INFO alone does not show a query that a busy machine interrupts while it moves between its lists.
 */
function haveAnsweredBefore(
  end: number,
  clients: string,
  { control }: Node,
  signal: AbortSignal,
): Promise<boolean> {
  let waiting = waitingIn(clients);
  return isTrueBefore(end, signal, 1, async () => {
    const now = waitingIn(String(await control.one(["CLIENT", "LIST"])));
    waiting = new Map([...waiting].filter(([id, commands]) => now.get(id) === commands));
    return waiting.size === 0;
  });
}

/** Clients whose query has no answer yet, with the number of commands that they have had answered. */
function waitingIn(clients: string): ReadonlyMap<string, string> {
  const waiting = new Map<string, string>();
  for (const { id, flags = "", cmd = "", "tot-cmds": commands } of clientsIn(clients)) {
    const isQuery = cmd.toLowerCase().startsWith("graph.");
    if (id !== undefined && commands !== undefined && isQuery && flags.includes("b"))
      waiting.set(id, commands);
  }
  return waiting;
}

/** True once GRAPH.INFO shows no running and no waiting query twice: a query is in neither list while it moves from one to the other. */
function isIdleBefore(end: number, { control }: Node, signal: AbortSignal): Promise<boolean> {
  let idle = 0;
  return isTrueBefore(end, signal, 1, async () => {
    const reply = listOf(await control.one(["GRAPH.INFO"]));
    const queries = ["# Running queries", "# Waiting queries"].map(
      (title) => reply[reply.indexOf(title) + 1],
    );
    const isIdle = queries.every((list) => Array.isArray(list) && list.length === 0);
    idle = isIdle ? idle + 1 : 0;
    return idle === 2;
  });
}

function hasCaughtUp(end: number, { control }: Node, offset: number, signal: AbortSignal): Promise<boolean> {
  return isTrueBefore(end, signal, 5, async () => {
    const info = linesIn(await control.one(["INFO", "replication"]));
    return Number(info["slave_repl_offset"]) >= offset;
  });
}

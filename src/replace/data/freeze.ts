/** @module Holds a pause of writes on every node, renews it, and proves that it was never interrupted. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "../../database/command-socket.ts";
import { clientsIn } from "../../database/replies.ts";
import { asError } from "../../model/errors.ts";
import type { Node, Side } from "./nodes.ts";
import { changeBetween, factsOf, type NodeFacts } from "./proof.ts";
import { Refused } from "./refusals.ts";

/** A proven pause of writes. */
export interface Freeze {
  /** Aborted with a Refused as soon as the pause is not proved any more: nothing that is read after may be trusted. */
  readonly lost: AbortSignal;
  /** Compares each node with its facts at the beginning, and tests that a write waits. Undefined: proved until now. It never rejects. */
  prove(): Promise<Refused | undefined>;
  /**
   * Ends the connections of all other clients, so that what waits in them is never executed, and proves once more. From then on it looks all the
   * time, and takes a node for stopped as long as it cannot be reached.
   */
  endConnections(): Promise<Refused | undefined>;
  /** Stops renewing and ends the pause on every node; waiting writes are executed then. False if a node did not take that. It never rejects. */
  release(): Promise<boolean>;
  /** Stops renewing, and leaves the pause to its end: for a database that was stopped. */
  abandon(): void;
}

/** A node that was paused. */
export interface Paused {
  readonly node: Node;
  /** The pause holds until then at least, in ms of `performance.now`. */
  readonly until: number;
  /** CLIENT LIST just before: no other command was executed between. */
  readonly clients: string;
}

/**
 * Takes over a pause that was just begun on every node, and renews it every third of its length `pause`, in ms. A pause is renewed only while it
 * is proved: one that begins beside running writes crashes the server. Rejects with a Refused if it is not proved at first.
 */
export async function holdFreeze(
  side: Side,
  paused: readonly Paused[],
  pause: number,
  signal: AbortSignal,
): Promise<Freeze> {
  const facts = await Promise.all(side.nodes.map(async (node) => [node, await factsOf(node)] as const));
  const until = new Map(paused.map((entry) => [entry.node, entry.until]));
  const lost = new AbortController();
  let reason: Refused | undefined;
  let isOver = false;
  let connectionsEnded = false;
  let timer: NodeJS.Timeout | undefined;
  let renewing: Promise<void> | undefined;

  const lose = (message: string): Refused => {
    stop();
    const error = new Refused("freeze-lost", message);
    reason ??= error;
    lost.abort(error);
    return reason;
  };
  const stop = (): void => {
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  };
  const nodeChange = async (node: Node, before: NodeFacts): Promise<string | undefined> => {
    const { host, port } = node.target;
    try {
      const found = await factsOf(node);
      // A stop saves the database, which changes these two.
      const now = connectionsEnded ? { ...found, saves: before.saves, changes: before.changes } : found;
      const change = changeBetween(before, now);
      if (change !== undefined) return `writes are not proved to wait at ${host}:${port}: ${change}`;
      if (node.role === "replica" || (await isHeld(node, signal))) return undefined;
      return `the pause of writes at ${host}:${port} was ended by another client`;
    } catch (error) {
      // A server that ends refuses new connections for some time before it closes ours.
      if (connectionsEnded) await sleep(probeTime);
      for (let n = 20; n > 0 && connectionsEnded && node.control.isOpen; n -= 1) await sleep(probeTime);
      if (!node.control.isOpen && connectionsEnded) {
        // A node that ended, and can be reached, was started anew, and may have been written to.
        const link = await node.open(signal).catch(() => undefined);
        link?.close();
        return link && `writes are not proved to wait at ${host}:${port}: it ended and was started anew`;
      }
      return `writes are not proved to wait: ${asError(error).message}`;
    }
  };
  const prove = async (): Promise<Refused | undefined> => {
    if (reason !== undefined) return reason;
    const changes = await Promise.all(facts.map(([node, before]) => nodeChange(node, before)));
    // A run that is interrupted closes its own connections: no node is proved stopped by that.
    const change = signal.aborted ? "the run was interrupted" : changes.find((found) => found !== undefined);
    return change === undefined ? undefined : lose(change);
  };
  const renew = async (): Promise<void> => {
    if ((await prove()) !== undefined || isOver) return;
    for (const node of side.nodes) {
      if (connectionsEnded && !node.control.isOpen) continue;
      // A stalled server takes the command late: it must find the old pause still in force.
      if ((until.get(node) ?? 0) - performance.now() < pause / 3) {
        lose("the pause of writes could not be renewed in time");
        return;
      }
      try {
        until.set(node, (await pauseNode(node, pause)).until);
      } catch (error) {
        if (connectionsEnded) continue;
        lose(`the pause of writes could not be renewed: ${asError(error).message}`);
        return;
      }
    }
    schedule();
  };
  const schedule = (): void => {
    clearTimeout(timer);
    const begin = (): void => {
      renewing = renew();
    };
    if (!isOver) timer = setTimeout(begin, connectionsEnded ? probeTime : pause / 3);
  };

  signal.addEventListener("abort", stop, { once: true });
  schedule();
  const problem = await prove();
  if (problem !== undefined) throw problem;
  return {
    lost: lost.signal,
    prove,
    async endConnections() {
      // Wait: a connection that a proof is just opening would be ended as that of a stranger.
      clearTimeout(timer);
      await renewing;
      await Promise.all(side.nodes.map(killClients));
      const lost = await prove();
      connectionsEnded = true;
      schedule();
      return lost;
    },
    async release() {
      stop();
      return unpause(side);
    },
    abandon: stop,
  };
}

/** Pauses the writes of one node for so many ms. */
export async function pauseNode(node: Node, pause: number): Promise<Paused> {
  const until = performance.now() + pause;
  const [clients = null, paused] = await node.control.all([
    ["CLIENT", "LIST"],
    ["CLIENT", "PAUSE", String(Math.ceil(pause)), "WRITE"],
  ]);
  for (const reply of [clients, paused]) if (reply instanceof Error) throw reply;
  return { node, until, clients: String(clients) };
}

/** Ends the pause of every node that can be reached. False if a node did not take that. */
export async function unpause(side: Side): Promise<boolean> {
  const ends = await Promise.allSettled(side.nodes.map(({ control }) => control.one(["CLIENT", "UNPAUSE"])));
  return ends.every(({ status }) => status === "fulfilled");
}

/** Time in ms after which a write that has no answer is held. It is cut into turns, so that a busy process of ours still reads the answer. */
const [probeTime, turns] = [150, 10];

/**
 * True if a write waits at the primary: a DEL of a key that does not exist has no answer, though the PING before it had one. Nothing else shows a
 * pause. Rejects with the Error of a user without the right to DEL. It is sent over a connection of its own, which is closed before the write can be executed.
 */
export async function isHeld(primary: Node, signal: AbortSignal): Promise<boolean> {
  const link = await primary.open(signal);
  try {
    let answer: Reply | undefined;
    const ping = link.one(["PING"]);
    const write = link.all([["DEL", `graphform:${randomUUID()}`]]);
    write.then(
      ([reply = null]) => {
        answer = reply;
      },
      () => undefined,
    );
    await ping;
    for (let turn = 0; turn < turns && answer === undefined; turn += 1) await sleep(probeTime / turns);
    if (answer instanceof Error && /^NOPERM/.test(answer.message)) throw answer;
    if (answer === undefined && !link.isOpen) throw new Error("the connection was closed");
    return answer === undefined;
  } finally {
    link.close();
  }
}

/** Ends all connections of a node but our own and those of replication. TYPE and SKIPME would end our own ones, too. */
async function killClients(node: Node): Promise<void> {
  // Clients come back; a pass that finds none is the last one.
  for (let pass = 0; pass < 3 && node.control.isOpen; pass += 1) {
    const list = String(await node.control.one(["CLIENT", "LIST"]));
    const own = node.ownIds();
    const others = clientsIn(list).flatMap(({ id, flags = "" }) =>
      id === undefined || own.has(Number(id)) || /[SM]/.test(flags) ? [] : [id],
    );
    if (others.length === 0) break;
    await node.control.all(others.map((id) => ["CLIENT", "KILL", "ID", id]));
  }
}

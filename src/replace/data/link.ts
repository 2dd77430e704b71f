/** @module Sends commands over one connection that stays open: many at once, values as bytes, each with a time limit. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Command, openExchange, type Reply } from "../../database/command-socket.ts";
import { openSocket } from "../../database/connection.ts";
import { broken, DatabaseError, refused } from "../../database/failures.ts";
import type { DatabaseLogin } from "../../model/kind.ts";

export interface AskOptions {
  /** Texts of the replies as bytes. */
  readonly binary?: boolean;
  /** Longest time for all replies in ms. Default 2 minutes: a dump stalls the server for many seconds. */
  readonly within?: number;
}

/** One signed-in connection. It is never opened again: a new one may find another server. */
export interface Link {
  /** Its id in CLIENT LIST. */
  readonly id: number;
  /** The number of its database. */
  readonly database: number;
  readonly isOpen: boolean;
  /** Replies in order; a refused command is an Error among them, but one for which the queue had no room is sent again. Rejects with a DatabaseError if the connection breaks or the time is over. */
  all(commands: readonly Command[], options?: AskOptions): Promise<readonly Reply[]>;
  /** One reply. Rejects with the Error of a refused command, too. */
  one(command: Command, options?: AskOptions): Promise<Reply>;
  close(): void;
}

const limit = 120_000;

/** Connects, signs in and selects a database. The signal closes the connection. Rejects with a DatabaseError, or with the reason of the signal. */
export async function openLink(target: DatabaseLogin, signal: AbortSignal, database = 0): Promise<Link> {
  signal.throwIfAborted();
  const socket = await openSocket(target, signal);
  const exchange = openExchange(socket, (error) => broken(target, error));
  const { fail } = exchange;
  const abort = (): void => fail(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", abort));
  const sendWithin = async (
    commands: readonly Command[],
    { binary, within = limit }: AskOptions,
  ): Promise<readonly Reply[]> => {
    const silent = `the database at ${target.host}:${target.port} did not answer within ${within} ms`;
    const giveUp = (): void => fail(new DatabaseError("unreachable", silent, undefined, "silent"));
    const timer = setTimeout(giveUp, within);
    return exchange.send(commands, binary).finally(() => clearTimeout(timer));
  };
  const all: Link["all"] = async (commands, options = {}) => {
    const end = performance.now() + (options.within ?? limit);
    const replies = [...(await sendWithin(commands, options))];
    for (;;) {
      const refused = replies.flatMap((reply, at) => (isQueueFull(reply) ? [at] : []));
      if (refused.length === 0 || performance.now() > end) return replies;
      await sleep(20);
      const again = refused.flatMap((at) => (commands[at] === undefined ? [] : [commands[at]]));
      for (const [index, reply] of (await sendWithin(again, options)).entries())
        replies[refused[index] ?? 0] = reply;
    }
  };
  const one: Link["one"] = async (command, options) => {
    const [reply = null] = await all([command], options);
    if (reply instanceof Error) throw reply;
    return reply;
  };

  const { username, password, timeout = 2000 } = target;
  const login =
    password === undefined ? [] : [["AUTH", ...(username === undefined ? [] : [username]), password]];
  try {
    const [first, ...rest] = await all([...login, ["CLIENT", "ID"], ["SELECT", String(database)]], {
      within: timeout,
    });
    const [id, selected] = login.length === 0 ? [first, ...rest] : rest;
    if (login.length > 0 && first instanceof Error) throw refused(target, first);
    for (const reply of [id, selected]) if (reply instanceof Error) throw broken(target, reply);
    return {
      id: Number(id),
      database,
      get isOpen() {
        return exchange.isOpen;
      },
      all,
      one,
      close: () => fail(broken(target, new Error("it was closed"))),
    };
  } catch (error) {
    fail(error);
    throw error;
  }
}

/** True for a query that was not begun, since too many others waited. */
function isQueueFull(reply: Reply): boolean {
  return reply instanceof Error && reply.message.startsWith("Max pending queries exceeded");
}

/** @module Sends commands over one connection that stays open: many at once, values as bytes, each with a time limit. */
import { setTimeout as sleep } from "node:timers/promises";
import { Decoder, RESP_TYPES } from "@redis/client/dist/lib/RESP/decoder.js";
import { openSocket } from "../../database/connection.ts";
import { broken, DatabaseError, type DatabaseTarget, refused } from "../../database/failures.ts";

export type Command = readonly (string | Buffer)[];

/** A reply; bytes instead of texts if they were asked for. */
export type Reply = string | number | Buffer | null | readonly Reply[] | Error;

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
  readonly isOpen: boolean;
  /** Replies in order; a refused command is an Error among them, but one for which the queue had no room is sent again. Rejects with a DatabaseError if the connection breaks or the time is over. */
  all(commands: readonly Command[], options?: AskOptions): Promise<readonly Reply[]>;
  /** One reply. Rejects with the Error of a refused command, too. */
  one(command: Command, options?: AskOptions): Promise<Reply>;
  close(): void;
}

/** A batch of commands that waits for its replies. */
interface Batch {
  readonly replies: Reply[];
  readonly count: number;
  readonly binary: boolean;
  readonly done: PromiseWithResolvers<readonly Reply[]>;
}

const texts = {};
const bytes = { [RESP_TYPES.BLOB_STRING]: Buffer };
const limit = 120_000;

/**
 * Connects, signs in and selects a database. The signal closes the connection, whenever it is aborted. Rejects with a DatabaseError,
 * or with the reason of the signal.
 */
export async function openLink(target: DatabaseTarget, signal: AbortSignal, database = 0): Promise<Link> {
  signal.throwIfAborted();
  const socket = await openSocket(target, signal);
  const batches: Batch[] = [];
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error;
    signal.removeEventListener("abort", abort);
    socket.destroy();
    for (const { done } of batches.splice(0)) done.reject(failure);
  };
  const abort = (): void => fail(signal.reason);
  const keep = (reply: Reply): void => {
    const [batch] = batches;
    batch?.replies.push(reply);
    if (batch === undefined || batch.replies.length < batch.count) return;
    batches.shift();
    batch.done.resolve(batch.replies);
  };
  const decoder = new Decoder({
    onReply: keep,
    onErrorReply: keep,
    onPush: () => undefined,
    getTypeMapping: () => (batches[0]?.binary === true ? bytes : texts),
  });
  signal.addEventListener("abort", abort, { once: true });
  socket.setNoDelay(true);
  socket.on("error", (error) => fail(broken(target, error)));
  socket.on("close", () => fail(broken(target, new Error("it closed the connection"))));
  socket.on("data", (chunk: Buffer) => {
    try {
      decoder.write(chunk);
    } catch (cause) {
      fail(broken(target, new Error("it does not speak the protocol of a database", { cause })));
    }
  });

  const send: Link["all"] = async (commands, { binary = false, within = limit } = {}) => {
    if (failure !== undefined) throw failure;
    if (commands.length === 0) return [];
    const batch = {
      replies: [],
      count: commands.length,
      binary,
      done: Promise.withResolvers<readonly Reply[]>(),
    };
    batches.push(batch);
    const timer = setTimeout(() => fail(silent(target, within)), within);
    for (const part of commands.flatMap(encoded)) socket.write(part);
    return batch.done.promise.finally(() => clearTimeout(timer));
  };
  const all: Link["all"] = async (commands, options = {}) => {
    const end = performance.now() + (options.within ?? limit);
    const replies = [...(await send(commands, options))];
    for (;;) {
      const refused = replies.flatMap((reply, at) => (isQueueFull(reply) ? [at] : []));
      if (refused.length === 0 || performance.now() > end) return replies;
      await sleep(20);
      const again = refused.flatMap((at) => (commands[at] === undefined ? [] : [commands[at]]));
      for (const [index, reply] of (await send(again, options)).entries())
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
      get isOpen() {
        return failure === undefined;
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

function silent({ host, port }: DatabaseTarget, ms: number): DatabaseError {
  const message = `the database at ${host}:${port} did not answer within ${ms} ms`;
  return new DatabaseError("unreachable", message, undefined, "silent");
}

/** A command as a list of words with their lengths; large values are not copied. */
function encoded(command: Command): readonly (string | Buffer)[] {
  const parts: (string | Buffer)[] = [];
  let text = `*${command.length}\r\n`;
  for (const word of command) {
    if (typeof word === "string") text += `$${Buffer.byteLength(word)}\r\n${word}\r\n`;
    else {
      parts.push(`${text}$${word.length}\r\n`, word);
      text = "\r\n";
    }
  }
  return [...parts, text];
}

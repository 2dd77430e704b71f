/** @module Exchanges commands and replies with a database over one open socket, by its protocol. */
import type { Socket } from "node:net";
import { Decoder, RESP_TYPES } from "@redis/client/dist/lib/RESP/decoder.js";
import encoder from "@redis/client/dist/lib/RESP/encoder.js";

export type Command = readonly (string | Buffer)[];

/** A reply; bytes instead of texts if they were asked for. */
export type Reply = string | number | Buffer | null | readonly Reply[] | Error;

export interface Exchange {
  /** Writes commands at once, and resolves with their replies in order; a refused command is an Error among them. Rejects with the failure. */
  send(commands: readonly Command[], binary?: boolean): Promise<readonly Reply[]>;
  /** Closes the socket: everything that waits rejects with the first failure. */
  fail(error: unknown): void;
  readonly isOpen: boolean;
}

/** Commands that wait for their replies. */
interface Batch {
  readonly replies: Reply[];
  readonly count: number;
  readonly binary: boolean;
  readonly done: PromiseWithResolvers<readonly Reply[]>;
}

/** Takes over a socket. `failed` words what ends it; `most` limits the bytes of all replies. */
export function openExchange(
  socket: Socket,
  failed: (error: unknown) => unknown,
  most: number = Number.POSITIVE_INFINITY,
): Exchange {
  const batches: Batch[] = [];
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error;
    socket.destroy();
    for (const { done } of batches.splice(0)) done.reject(failure);
  };
  const keep = (reply: Reply): void => {
    const [batch] = batches;
    batch?.replies.push(reply);
    if (batch === undefined || batch.replies.length < batch.count) return;
    batches.shift();
    batch.done.resolve(batch.replies);
  };
  const read = replyReader(keep, most, () => batches[0]?.binary === true);
  socket.setNoDelay(true);
  socket.on("error", (error) => fail(failed(error)));
  socket.on("close", () => fail(failed(new Error("it closed the connection"))));
  socket.on("data", (chunk: Buffer) => {
    try {
      read(chunk);
    } catch (error) {
      fail(failed(error));
    }
  });
  return {
    async send(commands, binary = false) {
      if (failure !== undefined) throw failure;
      const count = commands.length;
      if (count === 0) return [];
      const done = Promise.withResolvers<readonly Reply[]>();
      batches.push({ replies: [], count, binary, done });
      socket.cork();
      for (const part of commands.flatMap((command) => encoder.default(command))) socket.write(part);
      socket.uncork();
      return done.promise;
    },
    fail,
    get isOpen() {
      return failure === undefined;
    },
  };
}

const texts = {};
const bytes = { [RESP_TYPES.BLOB_STRING]: Buffer };

/** Reads replies; a refusal is an Error with the database's words. The reader throws for what is no reply, and for answers that are too long. */
export function replyReader(
  keep: (reply: Reply) => void,
  most: number,
  isBinary: () => boolean = () => false,
): (chunk: Buffer) => void {
  const decoder = new Decoder({
    onReply: keep,
    onErrorReply: keep,
    onPush: () => undefined,
    getTypeMapping: () => (isBinary() ? bytes : texts),
  });
  let length = 0;
  return (chunk) => {
    length += chunk.length;
    if (length > most) throw new Error("its answer is too long");
    try {
      decoder.write(chunk);
    } catch (cause) {
      throw new Error("it does not speak the protocol of a database", { cause });
    }
  };
}

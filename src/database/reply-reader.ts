/** @module Reads replies of the database's protocol, with the reader of the client library. */
import { Decoder } from "@redis/client/dist/lib/RESP/decoder.js";

/** The most bytes of all answers of one connection: a probe's are far fewer. */
const most = 1_000_000;

/** Takes bytes as they come. */
export interface ReplyReader {
  /** Replies so far; a refusal is an Error with the database's words. */
  readonly replies: readonly unknown[];
  /** Throws for what is no reply, and for answers that are too long. */
  read(bytes: Buffer): void;
}

/** A reader of the replies of one connection. */
export function replyReader(): ReplyReader {
  const replies: unknown[] = [];
  const keep = (reply: unknown): void => void replies.push(reply);
  const decoder = new Decoder({
    onReply: keep,
    onErrorReply: keep,
    onPush: () => undefined,
    getTypeMapping: () => ({}),
  });
  let length = 0;
  return {
    replies,
    read(bytes) {
      length += bytes.length;
      if (length > most) throw new Error("its answer is too long");
      try {
        decoder.write(bytes);
      } catch (cause) {
        throw new Error("it does not speak the protocol of a database", { cause });
      }
    },
  };
}

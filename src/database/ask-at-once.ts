/** @module Asks a database everything in one write: a thousand of them are asked beside one plan. */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Decoder } from "@redis/client/dist/lib/RESP/decoder.js";
import { isDatabaseError } from "./database-error.ts";
import { authorities, broken, endOf, refused } from "./failures.ts";
import { lookupWithin } from "./names.ts";
import type { DatabaseTarget } from "./target.ts";

/**
 * Signs in and sends the commands, all in one write over one connection, and resolves with their replies in order; a refused
 * command is an Error among them. Rejects with a DatabaseError, or with the reason of the signal. (The client
 * library's connection takes several times as long for this; only its reader of the protocol is used.)
 */
export async function askAtOnce(
  target: DatabaseTarget,
  commands: readonly (readonly string[])[],
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  signal.throwIfAborted();
  const { username, password } = target;
  const login =
    password === undefined ? [] : [["AUTH", ...(username === undefined ? [] : [username]), password]];
  const all = [...login, ...commands];
  const closing = new AbortController();
  const end = endOf(target, signal);
  let socket: Socket | undefined;
  try {
    socket = await opened(target, closing.signal);
    const replies = await Promise.race([answered(socket, all), end.reached]);
    const [first] = replies;
    if (login.length > 0 && first instanceof Error) throw refused(target, first);
    return replies.slice(login.length);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw isDatabaseError(error) ? error : broken(target, error);
  } finally {
    end.cancel();
    closing.abort();
    socket?.destroy();
  }
}

async function opened({ host, port, tls = false }: DatabaseTarget, closing: AbortSignal): Promise<Socket> {
  const at = { host, port, lookup: lookupWithin(closing) };
  if (tls === false) return connect(at);
  const caFile = tls === true ? undefined : tls.caFile;
  const ca = caFile === undefined ? {} : { ca: await authorities(caFile) };
  return connectTls({ ...at, ...ca, servername: /^[\d.:]+$/.test(host) ? "" : host });
}

/** Writes all commands at once, and resolves when each has its reply. */
function answered(socket: Socket, commands: readonly (readonly string[])[]): Promise<readonly unknown[]> {
  return new Promise((resolve, reject) => {
    const reader = replyReader();
    socket.setNoDelay(true);
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("it closed the connection")));
    socket.on("data", (chunk: Buffer) => {
      try {
        reader.read(chunk);
      } catch (error) {
        reject(error);
      }
      if (reader.replies.length >= commands.length) resolve(reader.replies);
    });
    socket.write(commands.map(encoded).join(""));
  });
}

/** A command as a list of texts with their lengths. */
function encoded(command: readonly string[]): string {
  const words = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${command.length}\r\n${words.join("")}`;
}

/** The most bytes of all answers of one connection: a probe's are far fewer. */
const most = 1_000_000;

/** Takes bytes as they come. */
interface ReplyReader {
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

/** @module Talks to a database over one connection, with as few writes as possible: a thousand of them are asked beside one plan. */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Decoder } from "@redis/client/dist/lib/RESP/decoder.js";
import { authorities, broken, type DatabaseTarget, endOf, isDatabaseError, refused } from "./failures.ts";
import { lookupWithin } from "./names.ts";

/** Sends commands in one write and resolves with their replies in order; a refused command is an Error among them. */
export type Ask = (commands: readonly (readonly string[])[]) => Promise<readonly unknown[]>;

/** Signs in and sends the commands, all in one write. Rejects as `talk`. */
export function askAtOnce(
  target: DatabaseTarget,
  commands: readonly (readonly string[])[],
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  return talk(target, signal, (ask) => ask(commands));
}

/**
 * Works with one connection: no reconnecting, no retries. The login goes with the first write. Everything must be over within
 * the target's timeout. Rejects with the error of `work`, with a DatabaseError, or with the reason of the signal. (The client
 * library's connection takes several times as long; only its reader of the protocol is used.)
 */
export async function talk<T>(
  target: DatabaseTarget,
  signal: AbortSignal,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const { username, password } = target;
  let login =
    password === undefined ? [] : [["AUTH", ...(username === undefined ? [] : [username]), password]];
  const closing = new AbortController();
  const end = endOf(target, signal);
  let socket: Socket | undefined;
  try {
    socket = await openSocket(target, closing.signal);
    const send = exchange(socket);
    const ask: Ask = async (commands) => {
      const signIn = login;
      login = [];
      try {
        const replies = await Promise.race([send([...signIn, ...commands]), end.reached]);
        const [first] = replies;
        if (signIn.length > 0 && first instanceof Error) throw refused(target, first);
        return replies.slice(signIn.length);
      } catch (error) {
        throw isDatabaseError(error) || signal.aborted ? error : broken(target, error);
      }
    };
    return await work(ask);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    end.cancel();
    closing.abort();
    socket?.destroy();
  }
}

/** Begins a connection; it emits `error` if it fails. The signal ends only the look-up of the name. */
export async function openSocket(
  { host, port, tls = false }: DatabaseTarget,
  closing: AbortSignal,
): Promise<Socket> {
  const at = { host, port, lookup: lookupWithin(closing) };
  if (tls === false) return connect(at);
  const caFile = tls === true ? undefined : tls.caFile;
  const ca = caFile === undefined ? {} : { ca: await authorities(caFile) };
  return connectTls({ ...at, ...ca, servername: /^[\d.:]+$/.test(host) ? "" : host });
}

/** Writes commands at once, and resolves when each has its reply. One write waits for its replies before the next. */
function exchange(socket: Socket): Ask {
  const reader = replyReader();
  let onChange: () => void = () => undefined;
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error;
    onChange();
  };
  socket.setNoDelay(true);
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("it closed the connection")));
  socket.on("data", (chunk: Buffer) => {
    try {
      reader.read(chunk);
      onChange();
    } catch (error) {
      fail(error);
    }
  });
  return (commands) =>
    new Promise((resolve, reject) => {
      const before = reader.replies.length;
      onChange = () => {
        if (reader.replies.length >= before + commands.length) resolve(reader.replies.slice(before));
        else if (failure !== undefined) reject(failure);
      };
      socket.write(commands.map(encoded).join(""));
      onChange();
    });
}

function encoded(command: readonly string[]): string {
  const words = command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${command.length}\r\n${words.join("")}`;
}

/** The most bytes of all answers of one connection: a probe's are far fewer. */
const most = 1_000_000;

interface ReplyReader {
  readonly replies: readonly unknown[];
  /** Throws for what is no reply, and for answers that are too long. */
  read(bytes: Buffer): void;
}

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

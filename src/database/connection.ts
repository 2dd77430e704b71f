/** @module Talks to a database over one connection, with as few writes as possible: a thousand of them are asked beside one plan. */
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { DatabaseLogin } from "../model/kind.ts";
import { openExchange } from "./command-socket.ts";
import { authorities, broken, endOf, isDatabaseError, refused } from "./failures.ts";
import { lookupWithin } from "./names.ts";

/** Sends commands in one write and resolves with their replies in order; a refused command is an Error among them. */
export type Ask = (commands: readonly (readonly string[])[]) => Promise<readonly unknown[]>;

/** Signs in and sends the commands, all in one write. Rejects as `talk`. */
export function askAtOnce(
  target: DatabaseLogin,
  commands: readonly (readonly string[])[],
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  return talk(target, signal, (ask) => ask(commands));
}

/** Most bytes of all answers of one connection: a probe's are far fewer. */
const maxBytes = 1_000_000;

/**
 * Works with one connection: no reconnecting, no retries. The login goes with the first write. Everything must be over within
 * the target's timeout. Rejects with the error of `work`, with a DatabaseError, or with the reason of the signal. (The client
 * library's connection takes several times as long; only its reader and writer of the protocol are used.)
 */
export async function talk<T>(
  target: DatabaseLogin,
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
    const { send } = openExchange(socket, (error) => broken(target, error), maxBytes);
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
  { host, port, tls = false }: DatabaseLogin,
  closing: AbortSignal,
): Promise<Socket> {
  const at = { host, port, lookup: lookupWithin(closing) };
  if (tls === false) return connect(at);
  const caFile = tls === true ? undefined : tls.caFile;
  const ca = caFile === undefined ? {} : { ca: await authorities(caFile) };
  return connectTls({ ...at, ...ca, servername: /^[\d.:]+$/.test(host) ? "" : host });
}

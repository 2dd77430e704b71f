/** @module Talks to a database server over a short connection, and waits until it serves. */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient, ErrorReply } from "@redis/client";
import {
  isHalted,
  isRunning,
  type PinnedProcess,
  processorTime,
  signalTo,
} from "../../files/process-identity.ts";
import type { TlsFiles } from "./spec.ts";

export interface Login {
  readonly port: number;
  readonly tls: TlsFiles | undefined;
  readonly username: string;
  readonly password: string;
}

/** A template that never connects: a new client builds a class of all commands in 10 ms, a duplicate in none. */
const template = createClient({ RESP: 2, disableClientInfo: true, maintNotifications: "disabled" });

export type Ask = (...command: readonly string[]) => Promise<unknown>;

/** Runs `work` on a connection, once. Rejects with its error, or after `ms`: a halted process accepts connections, too. */
export async function talk<T>(login: Login, work: (ask: Ask) => Promise<T>, ms = 5000): Promise<T> {
  const ca = login.tls === undefined ? undefined : await readFile(login.tls.caFile);
  const address = {
    host: "127.0.0.1",
    port: login.port,
    connectTimeout: ms,
    reconnectStrategy: false as const,
  };
  const client = template.duplicate({
    username: login.username,
    password: login.password,
    socket: ca === undefined ? address : { ...address, tls: true, ca },
  });
  client.on("error", () => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the database on port ${login.port} does not answer`)), ms);
  });
  const done = (async () => {
    await client.connect();
    return work((...command) => client.sendCommand([...command]));
  })();
  done.catch(() => undefined);
  return Promise.race([done, late]).finally(() => {
    clearTimeout(timer);
    client.destroy();
  });
}

export function isErrorReply(error: unknown): error is ErrorReply {
  return error instanceof ErrorReply;
}

/** Rejects unless the server accepts this login and serves. A server that cannot write its snapshots also serves. */
export async function ping(login: Login, ms?: number): Promise<void> {
  await talk(login, (ask) => ask("PING"), ms).catch((error: unknown) => {
    if (!isErrorReply(error) || !error.message.startsWith("MISCONF")) throw error;
  });
}

export async function info(ask: Ask, section: string): Promise<ReadonlyMap<string, string>> {
  const text = String(await ask("INFO", section));
  return new Map(
    text.split("\r\n").flatMap((line) => {
      const colon = line.indexOf(":");
      return colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );
}

/** Share of processor time above which a silent server counts as busy. */
const busyShare = 0.2;

/** Maximum time for a busy server to stay silent, in ms. */
const longest = 120_000;

/**
 * True when the server answers with its data loaded; false when it has ended or was silent for `ms`. A server that loads or
 * computes is not silent: ending it would lose what it has not saved. A halted server is continued. Rejects with the signal's
 * reason.
 */
export async function untilServing(
  server: PinnedProcess,
  login: Login,
  ms: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const start = performance.now();
  let heard = start;
  let used = processorTime(server);
  for (let looked = start; performance.now() - heard < ms; ) {
    signal?.throwIfAborted();
    try {
      await ping(login, Math.min(1000, ms));
      return true;
    } catch (error) {
      if (isErrorReply(error) && error.message.startsWith("LOADING")) heard = performance.now();
    }
    if (!isRunning(server)) return false;
    if (isHalted(server)) signalTo(server, "SIGCONT");
    const now = performance.now();
    if (now - looked >= 1000) {
      const before = used ?? 0;
      used = processorTime(server);
      const isAtWork = used !== undefined && used - before > busyShare * (now - looked);
      if (isAtWork && now - start < longest) heard = now;
      looked = now;
    }
    await sleep(5);
  }
  return false;
}

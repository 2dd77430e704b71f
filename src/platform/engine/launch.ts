import { setTimeout as sleep } from "node:timers/promises";
import { operator } from "./acl.ts";
import { isRefusal, type Login, ping } from "./connection.ts";
import { EngineError } from "./engine-error.ts";
import type { NodeFiles } from "./node-files.ts";
import { endAll } from "./processes.ts";
import { lastWords, portWasTaken, rotateLog } from "./server-log.ts";
import { ServerProcess } from "./server-process.ts";
import type { ServerProgram } from "./server-program.ts";

/** How long a server may stay silent before it is given up, in ms. Loading data is not silence. */
const patience = 30_000;

/** Outcome of a start: the process, or `port-taken` where somebody was quicker. */
export type Launched = ServerProcess | "port-taken";

/**
 * Starts a server over a configuration that is written, and resolves when it serves with its data loaded.
 * Rejects with EngineError and the server's last words, or with the signal's reason; no process is left then.
 */
export async function launch(
  program: ServerProgram,
  files: NodeFiles,
  login: Login,
  signal?: AbortSignal,
): Promise<Launched> {
  signal?.throwIfAborted();
  await rotateLog(files.log);
  const server = await ServerProcess.start(program, files);
  const stop = new AbortController();
  const exited = server.ended.then(() => "exited" as const);
  const ready = untilServing(
    login,
    patience,
    AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]),
  );
  ready.catch(() => undefined);
  try {
    const first = await Promise.race([ready, exited]);
    if (first === true) return server;
    if (first === "exited" && (await portWasTaken(files.log))) return "port-taken";
    const what = first === "exited" ? "did not start" : `did not answer within ${patience / 1000} s`;
    throw new EngineError(
      "engine-start",
      `the database server ${what}: ${await lastWords(files.log)} (log: ${files.log})`,
    );
  } catch (error) {
    server.isUnwanted = true;
    await endAll(files.config, 2000);
    throw error;
  } finally {
    stop.abort();
  }
}

/**
 * Resolves with true when a server answers with its data loaded, with false when it has been silent for `ms`: loading is not
 * silence. Rejects with the signal's reason.
 */
export async function untilServing(login: Login, ms: number, signal?: AbortSignal): Promise<boolean> {
  let heard = performance.now();
  while (performance.now() - heard < ms) {
    signal?.throwIfAborted();
    try {
      await ping(login, 2000);
      return true;
    } catch (error) {
      if (isRefusal(error) && error.message.startsWith("LOADING")) heard = performance.now();
    }
    await sleep(5);
  }
  return false;
}

/** The operator's login to a port. */
export function operatorLogin(port: number, secret: string, tls: Login["tls"]): Login {
  return { port, tls, username: operator, password: secret };
}

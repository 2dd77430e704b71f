/** @module Starts a database server and waits until it serves. */
import { operator } from "./acl.ts";
import type { Login } from "./connection.ts";
import { EngineError } from "./engine-error.ts";
import type { NodeFiles } from "./node-files.ts";
import { logExcerpt, portWasTaken, rotateLog } from "./server-log.ts";
import { ServerProcess } from "./server-process.ts";
import { endServers, serversOf } from "./server-processes.ts";
import type { ServerProgram } from "./server-program.ts";
import { untilServing } from "./until-serving.ts";

/** Time without an answer after which a start fails, in ms. */
const startTimeout = 30_000;

/** The started process, or `port-taken` where another process took the port first. */
export type Launched = ServerProcess | "port-taken";

/**
 * Starts a server with its written configuration; resolves when its data is loaded. Rejects with EngineError and the end of the
 * server's log, or with the signal's reason; leaves no process then.
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
  const exited = server.ended.then(() => false);
  const ready = untilServing(
    server.identity,
    login,
    startTimeout,
    AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]),
  );
  ready.catch(() => undefined);
  try {
    if (await Promise.race([ready, exited])) return server;
    const hasEnded = !server.isAlive();
    if (hasEnded && (await portWasTaken(files.log))) return "port-taken";
    const ended = server.wasKilled ? "was killed" : "did not start";
    const what = hasEnded ? ended : `did not answer within ${startTimeout / 1000} s`;
    throw new EngineError(
      "engine-start",
      `the database server ${what}: ${await logExcerpt(files.log)} (log: ${files.log})`,
    );
  } catch (error) {
    server.isExitExpected = true;
    await endServers(serversOf(files.folder), 2000);
    throw error;
  } finally {
    stop.abort();
  }
}

/** The operator's login to a port. */
export function operatorLogin(port: number, secret: string, tls: Login["tls"]): Login {
  return { port, tls, username: operator, password: secret };
}

import { operator } from "./acl.ts";
import type { Login } from "./connection.ts";
import { EngineError } from "./engine-error.ts";
import type { NodeFiles } from "./node-files.ts";
import { logExcerpt, portWasTaken, rotateLog } from "./server-log.ts";
import { ServerProcess } from "./server-process.ts";
import { endServers, serversOf } from "./server-processes.ts";
import type { ServerProgram } from "./server-program.ts";
import { untilServing } from "./until-serving.ts";

/** How long a server may stay silent before it is given up, in ms. */
const startTimeout = 30_000;

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
    const what = hasEnded ? "did not start" : `did not answer within ${startTimeout / 1000} s`;
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

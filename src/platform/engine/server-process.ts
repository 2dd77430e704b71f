/** @module Starts a database server as a detached process, and watches for its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, rename, stat } from "node:fs/promises";
import { isRunning, type PinnedProcess, pinned } from "../../files/process-identity.ts";
import { operator } from "./acl.ts";
import { type Login, untilServing } from "./connection.ts";
import type { NodeFiles } from "./node-config.ts";
import { endServers, serversOf } from "./server-processes.ts";
import type { ServerProgram } from "./setup/engine-cache.ts";
import { EngineError } from "./spec.ts";

/** Interval between checks of a process that is not a child of this one, in ms. */
const lookEvery = 200;

/** Running processes that this process started or took over. */
const watched = new Set<ServerProcess>();

/** One database server, started here or taken over from an earlier platform. It outlives this process. */
export class ServerProcess {
  readonly identity: PinnedProcess;
  readonly files: NodeFiles;
  readonly ended: Promise<void>;
  /** True if its end is expected: it is being ended here, or was. */
  isExitExpected = false;
  /** True if SIGKILL ended it; known only of a process that was started here. */
  wasKilled = false;
  #hasEnded = false;

  readonly #watch: { ref(): unknown };

  private constructor(
    identity: PinnedProcess,
    files: NodeFiles,
    watch: { ref(): unknown },
    exit: Promise<NodeJS.Signals | null>,
  ) {
    this.identity = identity;
    this.files = files;
    this.#watch = watch;
    watched.add(this);
    this.ended = exit.then((signal) => {
      this.#hasEnded = true;
      this.wasKilled = signal === "SIGKILL";
      watched.delete(this);
    });
  }

  /** Starts the program with the node's configuration. Rejects with EngineError if the file cannot be executed. */
  static async start(program: ServerProgram, files: NodeFiles): Promise<ServerProcess> {
    const log = await open(files.log, "a", 0o600);
    try {
      // Detached, with a file for its output, so that it survives the end of this process. The platform's environment is not
      // passed on.
      const child = spawn(program.file, [files.config], {
        // The process is identified by its working folder from the first moment.
        cwd: files.data,
        detached: true,
        stdio: ["ignore", log.fd, log.fd],
        env: program.env,
      });
      const exit = new Promise<NodeJS.Signals | null>((resolve) => {
        child.once("exit", (_code, signal) => resolve(signal));
      });
      const pid = await pidOf(child, program.file);
      child.unref();
      return new ServerProcess(pinned(pid), files, child, exit);
    } finally {
      await log.close();
    }
  }

  static adopt(identity: PinnedProcess, files: NodeFiles): ServerProcess {
    const known = [...watched].find(
      (process) => process.identity.pid === identity.pid && process.identity.started === identity.started,
    );
    if (known !== undefined) return known;
    const exit = Promise.withResolvers<null>();
    const timer = setInterval(() => {
      if (isRunning(identity)) return;
      clearInterval(timer);
      exit.resolve(null);
    }, lookEvery);
    timer.unref();
    return new ServerProcess(identity, files, timer, exit.promise);
  }

  /** Resolves when the process has ended, and keeps this process alive until then; `ended` alone does not. */
  async wait(): Promise<void> {
    this.#watch.ref();
    await this.ended;
  }

  isAlive(): boolean {
    return !this.#hasEnded && isRunning(this.identity);
  }
}

/** Runs `work`, which ends servers of these nodes; an exit is expected only meanwhile. */
export async function expectingExit<T>(
  isConcerned: (nodeFolder: string) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  const concerned = [...watched].filter(({ files }) => isConcerned(files.folder));
  for (const process of concerned) process.isExitExpected = true;
  try {
    return await work();
  } finally {
    for (const process of concerned) process.isExitExpected = !process.isAlive();
    // An ended child is awaited, so that no zombie process stays.
    await Promise.all(concerned.filter((process) => process.isExitExpected).map((process) => process.wait()));
  }
}

async function pidOf(child: ChildProcess, file: string): Promise<number> {
  await once(child, "spawn").catch((cause: Error) => {
    const message = `the database server ${file} cannot be run: ${cause.message}`;
    throw new EngineError("engine-start", message, cause);
  });
  return child.pid ?? 0;
}

/** Time without an answer after which a start fails, in ms. */
const startTimeout = 30_000;

/**
 * Starts a server; resolves when its data is loaded, with `port-taken` if another process took the port first. Rejects with
 * EngineError and the end of the server's log, or with the signal's reason; leaves no process then.
 */
export async function launch(
  program: ServerProgram,
  files: NodeFiles,
  login: Login,
  signal?: AbortSignal,
): Promise<ServerProcess | "port-taken"> {
  signal?.throwIfAborted();
  await rotateLog(files.log);
  const server = await ServerProcess.start(program, files);
  const stop = new AbortController();
  const exited = server.ended.then(() => false);
  const either = AbortSignal.any([stop.signal, signal ?? []].flat());
  const ready = untilServing(server.identity, login, startTimeout, either);
  ready.catch(() => undefined);
  try {
    if (await Promise.race([ready, exited])) return server;
    const hasEnded = !server.isAlive();
    if (hasEnded && /Address already in use|Failed listening on port/.test(await textOf(files.log)))
      return "port-taken";
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

export function operatorLogin(port: number, secret: string, tls: Login["tls"]): Login {
  return { port, tls, username: operator, password: secret };
}

/** Moves the log of the previous run away, so that the file is about one run only. */
async function rotateLog(log: string): Promise<void> {
  const { size = 0 } = (await stat(log).catch(() => undefined)) ?? {};
  if (size > 0) await rename(log, log.replace(/\.log$/, ".previous.log"));
}

/** The last warnings in a server's log as one line without hashes, or the end of it (errors of the loader). */
export async function logExcerpt(log: string): Promise<string> {
  const lines = (await textOf(log)).split("\n").filter((line) => line.trim() !== "");
  const warnings = lines.flatMap((line) => {
    const at = line.indexOf(" # ");
    return at < 0 || line.startsWith("WARNING ", at + 3) ? [] : [line.slice(at + 3)];
  });
  const words =
    warnings.length > 0 ? warnings.slice(-3) : lines.filter((line) => !/ [*.-] /.test(line)).slice(-4);
  return words.join("; ").replace(/#?\b[0-9a-f]{64}\b/g, "(hash)") || "it said nothing";
}

function textOf(log: string): Promise<string> {
  return readFile(log, "utf8").catch(() => "");
}

/** @module Starts a database server as a detached process, and watches for its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { isRunning, type PinnedProcess, pinned } from "../../files/process-identity.ts";
import { EngineError } from "./engine-error.ts";
import type { NodeFiles } from "./node-files.ts";
import type { ServerProgram } from "./server-program.ts";

/** Interval between checks of a process that is not a child of this one, in ms. */
const lookEvery = 200;

/** Running processes that this process started or took over. */
const watched = new Set<ServerProcess>();

/** One database server, started here or taken over from an earlier platform. It outlives this process. */
export class ServerProcess {
  readonly identity: PinnedProcess;
  readonly files: NodeFiles;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** True where its end is expected: it is being ended here, or was. */
  isExitExpected = false;
  /** True where SIGKILL ended it; known only of a process that was started here. */
  wasKilled = false;
  #hasEnded = false;

  readonly #watch: { ref(): unknown };

  private constructor(
    identity: PinnedProcess,
    files: NodeFiles,
    watch: { ref(): unknown },
    exit: Promise<void>,
  ) {
    this.identity = identity;
    this.files = files;
    this.#watch = watch;
    watched.add(this);
    this.ended = exit.then(() => {
      this.#hasEnded = true;
      watched.delete(this);
    });
  }

  /** Starts the program with the node's configuration. Rejects with EngineError where the file cannot be executed. */
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
      const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      const pid = await pidOf(child, program.file);
      child.unref();
      const server = new ServerProcess(pinned(pid), files, child, exit);
      child.once("exit", (_code, signal) => {
        server.wasKilled = signal === "SIGKILL";
      });
      return server;
    } finally {
      await log.close();
    }
  }

  /** Takes over a running process. */
  static adopt(identity: PinnedProcess, files: NodeFiles): ServerProcess {
    const known = [...watched].find(
      (process) => process.identity.pid === identity.pid && process.identity.started === identity.started,
    );
    if (known !== undefined) return known;
    const exit = Promise.withResolvers<void>();
    const timer = setInterval(() => {
      if (isRunning(identity)) return;
      clearInterval(timer);
      exit.resolve();
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

/**
 * Runs `work`, which ends servers of these nodes: their exit is expected meanwhile. Servers that still run afterwards are watched
 * again.
 */
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

function pidOf(child: ChildProcess, file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => {
      reject(
        new EngineError("engine-start", `the database server ${file} cannot be run: ${cause.message}`, cause),
      );
    });
    child.once("spawn", () => {
      if (child.pid !== undefined) resolve(child.pid);
    });
  });
}

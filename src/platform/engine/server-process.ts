import { type ChildProcess, spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { isRunning, type PinnedProcess, pinned } from "../../files/process-identity.ts";
import { EngineError } from "./engine-error.ts";
import type { NodeFiles } from "./node-files.ts";
import type { ServerProgram } from "./server-program.ts";

/** How often a process that is not our child is looked at, in ms. */
const lookEvery = 200;

/** Every process that this one started or took over and that has not ended. */
const watched = new Set<ServerProcess>();

/** One database server: started here, or taken over from an earlier platform. It outlives this process. */
export class ServerProcess {
  readonly identity: PinnedProcess;
  readonly files: NodeFiles;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** True where somebody here is ending it, or has. */
  isExitExpected = false;
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

  /** Starts the program over the node's configuration. Rejects with EngineError where it cannot be run at all. */
  static async start(program: ServerProgram, files: NodeFiles): Promise<ServerProcess> {
    const log = await open(files.log, "a", 0o600);
    try {
      // Detached and with a file for its output, so that it lives on when this process is killed. The environment of the
      // platform stays out of it.
      const child = spawn(program.file, [files.config], {
        // It is known by this folder from its first moment, and by no other.
        cwd: files.data,
        detached: true,
        stdio: ["ignore", log.fd, log.fd],
        env: program.env,
      });
      const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      const pid = await pidOf(child, program.file);
      child.unref();
      return new ServerProcess(pinned(pid), files, child, exit);
    } finally {
      await log.close();
    }
  }

  /** Takes over a process that runs already. */
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

  /** Resolves when the process has ended, and keeps this one alive until then; `ended` alone does not. */
  async wait(): Promise<void> {
    this.#watch.ref();
    await this.ended;
  }

  isAlive(): boolean {
    return !this.#hasEnded && isRunning(this.identity);
  }
}

/** While the work runs, the end of the servers of these nodes is wanted; it stays so for those that end. */
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
    // A child that has ended is waited for, so that no defunct process is left to others.
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

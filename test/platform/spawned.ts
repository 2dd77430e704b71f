import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { connect, platformEnvironment, platformProgram, type TestPlatform } from "./harness.ts";

/** A platform in a process of its own. */
export interface Spawned {
  readonly client: TestPlatform;
  readonly pid: number;
  /** True while the process lives. */
  isAlive(): boolean;
  /** Lets every write of the process to a file fail, as on a full disk, or succeed again. */
  fill(isFull: boolean): void;
  /** Ends it, and resolves when it has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Starts a platform over a folder and signs in. */
export async function spawnPlatform(dataDir: string, ...more: readonly string[]): Promise<Spawned> {
  // A write above the limit is an error then, and no signal that ends the process.
  const words = [process.execPath, platformProgram, "--data-dir", dataDir, ...more];
  const child: ChildProcess = spawn("sh", ["-c", 'trap "" XFSZ; exec "$@"', "sh", ...words], {
    stdio: ["ignore", "pipe", "inherit"],
    env: platformEnvironment,
  });
  const [line] = await once(createInterface({ input: child.stdout ?? process.stdin }), "line");
  const announced = JSON.parse(String(line));
  const { pid } = announced;
  return {
    client: await connect({ ...announced, close: async () => undefined }, dataDir, false),
    pid,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    fill(isFull) {
      execFileSync("prlimit", ["--pid", String(pid), `--fsize=${isFull ? "0" : "unlimited"}:unlimited`]);
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, "close");
    },
  };
}

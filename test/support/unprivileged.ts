import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { chmodSync, chownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { temporaryFolder } from "./temporary-folder.ts";

/** The account without rights that every Linux has. PostgreSQL and PgBouncer refuse to run as root. */
const nobody = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;

/** Starts a program as somebody who is not root, that ends with this process however that ends. */
function spawnUnprivileged(
  program: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const all = ["--pdeathsig", "KILL", "--", program, ...args];
  return spawn("/usr/bin/setpriv", all, { ...options, ...(isRoot ? nobody : {}) });
}

/** Makes a folder under the system's temporary one that such a program may enter. */
export function openFolder(name: string): string {
  const folder = temporaryFolder(name);
  chmodSync(folder, 0o755);
  giveAway(folder);
  return folder;
}

/** Gives a file, or a folder with everything below, to the account that such programs run as. */
export function giveAway(path: string): void {
  if (!isRoot) return;
  chownSync(path, nobody.uid, nobody.gid);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path))
    if (!lstatSync(join(path, name)).isSymbolicLink()) giveAway(join(path, name));
}

/** Collects the end of what a program says. */
function listen({ stdout, stderr }: ChildProcess): () => string {
  let text = "";
  const add = (said: Buffer): void => {
    text = `${text}${said}`.slice(-100_000);
  };
  stdout?.on("data", add);
  stderr?.on("data", add);
  return () => text;
}

/** Runs a program to its end; rejects with what it said where it fails. */
export async function runUnprivileged(
  program: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<void> {
  const child = spawnUnprivileged(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const said = listen(child);
  const code = await new Promise<number | null>((resolve, reject) =>
    child.on("error", reject).on("close", resolve),
  );
  if (code !== 0) throw new Error(`${program} failed: ${said()}`);
}

/** A program of a test that runs until it is ended, by its id alone. */
export interface Service {
  /** The end of what it said. */
  said(): string;
  /** Ends it with a signal and resolves when it is gone; harmless when repeated. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Starts a program that runs until it is ended. */
export function startService(program: string, args: readonly string[], options: SpawnOptions): Service {
  const child = spawnUnprivileged(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const said = listen(child);
  const gone = new Promise<void>((resolve) => {
    child.on("close", () => resolve());
    // A program that cannot be started has said nothing: whoever waits for it reports that.
    child.on("error", () => resolve());
  });
  return {
    said,
    async end(signal) {
      child.kill(signal);
      await gone;
    },
  };
}

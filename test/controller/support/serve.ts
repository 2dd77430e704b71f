import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

const program = join(import.meta.dirname, "..", "..", "..", "bin", "graphform.js");

/** A controller in a process of its own, with its database in a folder of the test. */
export interface Served {
  readonly url: string;
  readonly pid: number;
  readonly folder: string;
  /** The environment of commands that talk to it, with the administrator's token. */
  readonly env: { readonly [name: string]: string };
  /** What it said on standard error. */
  said(): string;
  /** Sends a signal and resolves with the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Runs graphform to its end in a folder. */
export function graphform(folder: string, ...args: readonly string[]): string {
  const env = { PATH: process.env["PATH"], HOME: folder };
  return execFileSync(process.execPath, [program, ...args], { cwd: folder, env, encoding: "utf8" });
}

/** Starts `serve --embedded` and waits for its ready line. */
export async function startServed(folder: string, ...args: readonly string[]): Promise<Served> {
  const env = { PATH: process.env["PATH"], HOME: folder, SHOP_PASSWORD: "only-for-tests" };
  const child: ChildProcess = spawn(
    process.execPath,
    [program, "serve", "--embedded", join(folder, "db"), "--listen", "127.0.0.1:0", ...args],
    { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] },
  );
  let said = "";
  child.stderr?.on("data", (text: Buffer) => {
    said += text;
  });
  const gone = new Promise<number | null>((done) => child.once("exit", done));
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const line = await new Promise<string>((ready) => lines.once("line", ready).once("close", () => ready("")));
  if (line === "") throw new Error(`serve did not start: ${said}`);
  const { url, pid }: { url: string; pid: number } = JSON.parse(line);
  const token = readFileSync(join(folder, "db", "admin-token"), "utf8").trim();
  return {
    ...{ url, pid, folder },
    env: { GRAPHFORM_CONTROLLER_URL: url, GRAPHFORM_CONTROLLER_TOKEN: token },
    said: () => said,
    async end(signal) {
      child.kill(signal);
      return gone;
    },
  };
}

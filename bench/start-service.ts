import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

/** A bench's service, in a process of its own. */
export interface StartedService {
  readonly child: ChildProcess;
  readonly url: string;
}

/** Starts the service that answers after 20 ms and deploys within 0.2 s. */
export async function startService(): Promise<StartedService> {
  const args = [join(import.meta.dirname, "service.ts"), "--latency", "20", "--deploy", "200"];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface(child.stdout), "line");
  const { url }: { url: string } = JSON.parse(String(line));
  return { child, url };
}

/** Runs a program of Node to its end. Rejects where it fails. */
export async function runNode(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: "ignore" });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
}

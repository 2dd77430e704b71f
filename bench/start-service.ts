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

/** Starts the service that answers after 20 ms, and deploys within so many. */
export async function startService(deploy = 200): Promise<StartedService> {
  const service = join(import.meta.dirname, "service.ts");
  const { child, line } = await startNode(service, "--latency", "20", "--deploy", String(deploy));
  const { url }: { url: string } = JSON.parse(line);
  return { child, url };
}

/** Starts a program of Node that runs until its standard input ends, and resolves with its first line. */
export async function startNode(...args: readonly string[]): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface(child.stdout), "line");
  return { child, line: String(line) };
}

/** Runs a program of Node to its end. Rejects where it fails. */
export async function runNode(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: "ignore" });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

/** Another process that uses a lock on command. */
export interface LockUser {
  readonly pid: number;
  readonly process: ChildProcess;
  /** Sends a command and resolves with the answer. */
  tell(command: string): Promise<string>;
  /** Ends it without warning, and resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts one; it is ended with the test. */
export async function startLockUser(file: string): Promise<LockUser> {
  const script = new URL("children/lock-user.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, file], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<string> => String((await lines.next()).value);
  await answer();
  return {
    pid: child.pid ?? 0,
    process: child,
    tell(command): Promise<string> {
      child.stdin.write(`${command}\n`);
      return answer();
    },
    kill,
  };
}

import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import type { Screen } from "./screen.ts";

/** A person at a terminal: what is typed appears letter by letter, and programs run on a terminal of this size. */
export interface Shell {
  /** Types a line without running anything. */
  type(line: string): Promise<void>;
  /** Types a command and runs it to its end. Resolves with everything that it printed. */
  run(command: string, shown?: string): Promise<string>;
  /** Runs a command, and ends all of it with SIGKILL soon after its output matches. */
  runUntil(command: string, seen: RegExp): Promise<void>;
  /** Clears the screen. */
  clear(): Promise<void>;
}

/** Opens a shell in a folder. Needs `script` of util-linux, which gives programs a real terminal. */
export function openShell(
  screen: Screen,
  size: { readonly columns: number; readonly rows: number },
  folder: string,
  env: NodeJS.ProcessEnv,
): Shell {
  const prompt = "\u001b[32m$\u001b[0m ";
  const type = async (line: string): Promise<void> => {
    await screen.write(prompt);
    for (const part of line.match(/.{1,4}/g) ?? []) {
      await screen.write(part);
      await pause(40);
    }
    await screen.write("\r\n");
  };
  const run = (command: string, onText: (all: string, end: () => void) => void): Promise<string> =>
    new Promise((resolve, reject) => {
      const line = `stty cols ${size.columns} rows ${size.rows}; exec ${command}`;
      const child = spawn("script", ["-qefc", line, "/dev/null"], {
        cwd: folder,
        env: { ...env, SHELL: "/bin/sh", TERM: "xterm-256color" },
        stdio: ["ignore", "pipe", "inherit"],
        detached: true,
      });
      let printed = "";
      const end = (): void => {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      };
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (text: string) => {
        printed += text;
        void screen.write(text);
        onText(printed, end);
      });
      child.once("error", reject);
      child.once("close", () => resolve(printed));
    });
  return {
    type,
    async run(command, shown = command) {
      await type(shown);
      return run(command, () => undefined);
    },
    async runUntil(command, seen) {
      await type(command);
      let ended = false;
      await run(command, (printed, end) => {
        if (ended || !seen.test(printed)) return;
        ended = true;
        setTimeout(end, 2500);
      });
    },
    clear: () => screen.write("\u001b[2J\u001b[H"),
  };
}

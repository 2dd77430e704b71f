import process from "node:process";
import type { Command } from "commander";
import { createProgram } from "../../src/commands/program.ts";
import { writeStepOutputs } from "../../src/commands/reports/report-files.ts";
import { printThrown } from "../../src/commands/terminal/print-error.ts";
import {
  processTerminal,
  type Terminal,
  type TerminalOptions,
} from "../../src/commands/terminal/terminal.ts";
import { loginsIn } from "../../src/model/userinfo.ts";
import { settingsOf } from "../../src/project/settings.ts";

/** How a command ended, and what it printed. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line in this process as `src/cli.ts` does, without a terminal and without telemetry. */
export async function runHere(args: readonly string[], env: NodeJS.ProcessEnv, width = 100): Promise<Ran> {
  const [out, err]: [string[], string[]] = [[], []];
  let code = 0;
  const settings = settingsOf(env);
  settings.secrets.add(args.flatMap((word) => [word, word.slice(word.indexOf("=") + 1)].flatMap(loginsIn)));
  let used: Terminal | undefined;
  const terminal = (options: TerminalOptions = {}): Terminal => {
    const { log } = processTerminal(settings, options);
    used ??= {
      out: (text) => void out.push(text),
      err: (text) => void err.push(text),
      interactive: false,
      colour: false,
      width,
      confirm: async () => false,
      ...(log === undefined ? {} : { log }),
    };
    return used;
  };
  let command = "";
  // `--chdir` changes the folder of the process, in which other files of tests run after this one.
  const home = process.cwd();
  try {
    const program = createProgram({
      at: terminal,
      settings,
      done: (exit) => {
        code = exit;
      },
    });
    program.hook("preAction", (_, action) => {
      command = action.parent === program ? action.name() : "";
    });
    redirect(program, out, err);
    await program.parseAsync(["node", "graphform", ...args]);
  } catch (error) {
    code = await printThrown(error, terminal(), settings.secrets.hide);
  }
  if (["plan", "apply", "destroy", "drift", "validate"].includes(command))
    writeStepOutputs({ exitcode: code }, settings, terminal());
  process.chdir(home);
  return { code, out: out.join(""), err: err.join("") };
}

/** Collects the help and the errors of usage of a command and of the commands below it. */
function redirect(command: Command, out: string[], err: string[]): void {
  command.configureOutput({
    writeOut: (text) => void out.push(text),
    writeErr: (text) => void err.push(text),
  });
  for (const each of command.commands) redirect(each, out, err);
}

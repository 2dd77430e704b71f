/** @module Runs the command line of this process. */
import { createProgram } from "./commands/program.ts";
import { writeStepOutputs } from "./commands/reports/report-files.ts";
import { printThrown } from "./commands/terminal/print-error.ts";
import {
  guardOutputs,
  processTerminal,
  type Terminal,
  type TerminalOptions,
  untilLogIsRead,
} from "./commands/terminal/terminal.ts";
import { exitCodes } from "./model/errors.ts";
import { loginsIn } from "./model/userinfo.ts";
import { settingsOf } from "./project/settings.ts";
import { escapeText } from "./report/typeset.ts";
import type { Telemetry } from "./telemetry/open-telemetry.ts";
import { telemetryFor } from "./telemetry/telemetry.ts";

/** Runs a command and sets the exit code of the process; prints errors without a stack trace. */
async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  let code: number = exitCodes.done;
  const isComplete = guardOutputs();
  let used: Terminal | undefined;
  const settings = settingsOf(env);
  settings.secrets.add(argv.flatMap((word) => [word, word.slice(word.indexOf("=") + 1)].flatMap(loginsIn)));
  const terminal = (options: TerminalOptions = {}): Terminal => {
    used ??= processTerminal(settings, options);
    return used;
  };
  let telemetry: Telemetry | undefined;
  let command = "";
  try {
    const program = createProgram({
      at: terminal,
      settings,
      done: (exit) => {
        code = exit;
      },
    });
    program.hook("preAction", async (_, action) => {
      command = action.parent === program ? action.name() : "";
      const { log } = action.opts<{ readonly log?: string }>();
      if (log !== undefined) await untilLogIsRead(log);
      // A shell asks for candidates while a person types: no run, and no request to anybody.
      if (action.name() !== "complete") telemetry = await telemetryFor(action.name(), env);
    });
    await program.parseAsync(argv);
  } catch (error) {
    code = await printThrown(error, terminal(), settings.secrets.hide);
  }
  const unsent = await telemetry?.end(code);
  if (unsent !== undefined)
    terminal().err(
      `warning: traces or metrics were not sent: ${escapeText(settings.secrets.hide(unsent))}\n`,
    );
  if (["plan", "apply", "destroy", "drift", "validate"].includes(command))
    writeStepOutputs({ exitcode: code }, settings, terminal());
  process.exitCode = isComplete() ? code : exitCodes.error;
}

await main(process.argv, process.env);

/** @module Runs the command line of this process. */
import { printError } from "./commands/print-error.ts";
import { createProgram } from "./commands/program.ts";
import { writeStepOutputs } from "./commands/step-outputs.ts";
import { processTerminal, type Terminal } from "./commands/terminal.ts";
import { fileTrouble } from "./files/file-trouble.ts";
import { openForReader } from "./files/write-result.ts";
import { exitCodes } from "./model/errors.ts";
import { settingsOf } from "./project/settings.ts";
import { escapeText } from "./report/escape.ts";
import type { Telemetry } from "./telemetry/open-telemetry.ts";
import { telemetryFor } from "./telemetry/telemetry.ts";

/** Runs a command and sets the exit code of the process; prints errors without a stack trace. */
async function main(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  let code: number = exitCodes.done;
  // Nothing that is printed ends a run: neither a full disk nor a reader that goes away (`graphform plan | head`).
  process.stderr.on("error", () => undefined);
  process.stdout.once("error", (error: NodeJS.ErrnoException) => {
    process.stdout.on("error", () => undefined);
    if (error.code === "EPIPE" || error.code === "EIO") return;
    process.stderr.write(`error: standard output is not complete: ${fileTrouble(error)}\n`);
    isCut = true;
    process.exitCode = exitCodes.error;
  });
  let used: Terminal | undefined;
  const settings = settingsOf(env);
  const terminal = (noColour: boolean, logFile?: string): Terminal => {
    used ??= processTerminal(settings, noColour, logFile, argv.slice(2));
    return used;
  };
  let isCut = false;
  let telemetry: Telemetry | undefined;
  let command = "";
  try {
    const program = createProgram({
      terminal,
      settings,
      done: (exit) => {
        code = exit;
      },
    });
    program.hook("preAction", async (_, action) => {
      command = action.parent === program ? action.name() : "";
      const { log } = action.opts<{ readonly log?: string }>();
      const waiting = (): boolean => process.stderr.write(`waiting for a reader of ${log}\n`);
      if (log !== undefined) await openForReader(log, { waiting });
      // A shell asks for candidates while a person types: no run, and no request to anybody.
      if (action.name() !== "complete") telemetry = await telemetryFor(action.name(), env);
    });
    await program.parseAsync(argv);
  } catch (error) {
    code = await printError(error, terminal(false));
  }
  const unsent = await telemetry?.end(code);
  if (unsent !== undefined)
    terminal(false).err(`warning: traces or metrics were not sent: ${escapeText(unsent)}\n`);
  if (["plan", "apply", "destroy", "drift", "validate"].includes(command))
    writeStepOutputs({ exitcode: code }, settings, terminal(false));
  const isGood = code === exitCodes.done || code === exitCodes.changes;
  process.exitCode = isCut && isGood ? exitCodes.error : code;
}

await main(process.argv, process.env);

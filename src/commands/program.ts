/** @module Creates the command line from the tables of its commands. */
import { Command } from "commander";
import { packageVersion } from "../project/package-files.ts";
import { type CommandHost, withHelpFormat } from "./define-command.ts";
import { commandsOfFleet } from "./fleet-commands.ts";
import { collect } from "./options.ts";
import { commandsOfPlans } from "./plan-commands.ts";
import { commandsOfState } from "./record-commands.ts";
import { commandsAtService, commandsOfPlatform } from "./service-commands.ts";
import { commandsOfReference, commandsOfSetup } from "./setup-commands.ts";

/** Creates the command line. Loads the code of a command only when that command runs. */
export function createProgram(host: Omit<CommandHost, "folders" | "above">): Command {
  const program = withHelpFormat(new Command("graphform"))
    .description("plan and apply for hosted graph databases")
    .version(packageVersion(), "-V, --version")
    .showHelpAfterError("(graphform --help says more)")
    .option(
      "--chdir <folder>",
      "run as if started in this folder; plan, drift and validate take several",
      collect,
      [],
    )
    .exitOverride();
  const folders = (): readonly string[] => program.opts<{ chdir: readonly string[] }>().chdir;
  program.hook("preAction", async (_, action) => {
    const [only, ...others] = folders();
    if (only === undefined || action.name() === "complete") return;
    const { enterFolder, refuseSeveral } = await import("./folders.ts");
    if (others.length === 0) enterFolder(only);
    else if (action.parent !== program || !["plan", "drift", "validate"].includes(action.name()))
      refuseSeveral(action.parent === program ? action.name() : `${action.parent?.name()} ${action.name()}`);
  });
  const groups = [
    ["Plan and apply:", commandsOfPlans],
    ["What is recorded:", commandsOfState],
    ["Operations at the service:", commandsAtService],
    ["Local platform:", commandsOfPlatform],
    ["A fleet of manifests:", commandsOfFleet],
    ["Setting up:", commandsOfSetup],
    ["Reference:", commandsOfReference],
  ] as const;
  for (const [heading, entries] of groups) {
    program.commandsGroup(heading);
    for (const add of entries) add(program, { ...host, folders });
  }
  program
    .command("complete", { hidden: true })
    .description("print what may stand for the last word of a command line")
    .argument("[words...]", "the words behind graphform")
    .action(async (words: readonly string[]) => {
      const { complete } = await import("./completion/complete.ts");
      host.done(await complete(words, program, host.settings, host.at({})));
    });
  return program.helpCommand("help [command]", "print the help of a command");
}

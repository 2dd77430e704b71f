/** @module Defines the command line: every command with its options. */
import { Command, Option } from "commander";
import { packageVersion } from "../project/package-files.ts";
import type { Settings } from "../project/settings.ts";
import { addAccountCommands } from "./accounts/add-commands.ts";
import { addReferenceCommands } from "./add-reference-commands.ts";
import type { ApplyOptions } from "./apply.ts";
import { addCiCommands } from "./ci/add-commands.ts";
import { addDriftCommand } from "./drift/add-command.ts";
import { addImportCommand } from "./import/add-command.ts";
import { addInstanceCommands } from "./instances/add-commands.ts";
import type { ManifestOptions } from "./options.ts";
import { changing, collect, withManifestOptions, withPlanOptions, withStateOptions } from "./options.ts";
import type { PlanCommandOptions } from "./plan.ts";
import { addPlatformCommands } from "./platform/add-commands.ts";
import type { ShowOptions } from "./show.ts";
import { addSnapshotCommands } from "./snapshots/add-commands.ts";
import { addStateCommands } from "./state/add-commands.ts";
import { commandGroups, withExamples, withHelpFormat, withoutEffect } from "./terminal/help.ts";
import type { Terminal } from "./terminal/terminal.ts";
import type { ValidateOptions } from "./validate.ts";

/** Environment in which a command runs. */
export interface Invocation {
  readonly terminal: (noColour: boolean, logFile?: string) => Terminal;
  readonly settings: Settings;
  /** Called with the exit code of the command that ran. */
  readonly done: (code: number) => void;
}

/** Creates the command line. The code of a command is loaded only when that command runs. */
export function createProgram({ terminal, settings, done }: Invocation): Command {
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
    .exitOverride()
    .commandsGroup(commandGroups.plan);
  const folders = (): readonly string[] => program.opts<{ chdir: readonly string[] }>().chdir;
  program.hook("preAction", async (_, action) => {
    const [only, ...others] = folders();
    if (only === undefined || action.name() === "complete") return;
    const { enterFolder, refuseSeveral } = await import("./several/folders.ts");
    if (others.length === 0) enterFolder(only);
    else if (action.parent !== program || !["plan", "drift", "validate"].includes(action.name()))
      refuseSeveral(action.parent === program ? action.name() : `${action.parent?.name()} ${action.name()}`);
  });
  const at = (options: { color?: boolean; log?: string }): Terminal =>
    terminal(options.color === false, options.log);

  withoutEffect(
    withManifestOptions(program.command("validate").description("check a manifest without any network")),
    [...changing, "--state"],
  )
    .option("--json", "diagnostics as JSON")
    .option("--sarif <file>", "write the problems in the format SARIF, for code scanning")
    .option("--online", "ask the service too what it offers today")
    .action(async (options: ValidateOptions & { color?: boolean }) => {
      if (folders().length > 1) {
        const { validateSeveral } = await import("./several/validate.ts");
        return done(await validateSeveral(folders(), options, settings, at(options)));
      }
      const { validate } = await import("./validate.ts");
      done(await validate(options, settings, at(options)));
    });

  const planning = program
    .command("plan")
    .description("compare the manifest with the service; changes nothing");
  withExamples(withoutEffect(withPlanOptions(planning), changing), [
    ["graphform plan", "all that would happen, worst first"],
    ["graphform plan --out shop.plan", "save it: `graphform apply shop.plan` does that and nothing else"],
    ["graphform plan --detailed-exitcode", "for scripts: exit 2 where there are changes"],
    ["graphform plan --target instances.orders", "one resource, and what it refers to"],
    ["graphform plan --json | jq .resource_changes", "for machines, in the shape of Terraform's plans"],
    ["graphform plan --chdir envs/test --chdir envs/prod", "two manifests, one summary, one exit code"],
  ])
    .option("--json", "the plan as JSON")
    .option("--out <file>", "save the plan for apply")
    .option("--sarif <file>", "write changes, guards and drift in the format SARIF, for code scanning")
    .option("--markdown <file>", "write the plan in Markdown, for a comment on a pull request")
    .option("--gitlab <file>", "write the number of changes for GitLab's merge requests")
    .option("--destroy", "plan the removal of everything that this state owns, as destroy does it")
    .option("--html <file>", "write the plan as a page for the browser: one file, nothing is loaded")
    .option("--compare <planfile>", "say on that page how this plan differs from a saved one")
    .option("--detailed-exitcode", "exit 2 where there are changes")
    .action(async (options: PlanCommandOptions & { color?: boolean }) => {
      if (folders().length > 1) {
        const { planSeveral } = await import("./several/plan.ts");
        return done(await planSeveral(folders(), options, settings, at(options)));
      }
      const { plan } = await import("./plan.ts");
      done(await plan(options, settings, at(options)));
    });

  const applying = program.command("apply").description("plan, confirm, apply, converge and verify");
  withExamples(withPlanOptions(applying), [
    ["graphform apply", "plan, ask, apply, wait, and make sure that a second plan is empty"],
    ["graphform apply shop.plan", "a saved plan, without asking"],
    [
      "graphform apply --auto-approve --max-disruption restart",
      "for pipelines: nothing worse than a restart",
    ],
    ["graphform apply --replace instances.cache", "a new, empty database in its place"],
  ])
    .argument("[planfile]", "a plan that was saved with plan --out")
    .option("--auto-approve", "do not ask")
    .option("--replan", "show the plan that would be made now if the saved one is out of date")
    .addOption(new Option("--json", "events as JSON lines").conflicts("replan"))
    .action(
      async (
        planFile: string | undefined,
        options: Omit<ApplyOptions, "destroying"> & { color?: boolean },
      ) => {
        const { apply } = await import("./apply.ts");
        const saved = planFile === undefined ? {} : { planFile };
        done(await apply({ ...options, ...saved, destroying: false }, settings, at(options)));
      },
    );

  withPlanOptions(program.command("destroy").description("remove everything that this state owns"))
    .option("--auto-approve", "do not ask")
    .option("--json", "events as JSON lines")
    .action(async (options: Omit<ApplyOptions, "destroying"> & { color?: boolean }) => {
      const { apply } = await import("./apply.ts");
      done(await apply({ ...options, destroying: true }, settings, at(options)));
    });

  const registration = { settings, at, done, folders };
  addDriftCommand(program, registration);
  addImportCommand(program, registration);
  program.commandsGroup(commandGroups.state);
  withoutEffect(
    withStateOptions(program.command("show").description("print the state or a saved plan")),
    changing,
  )
    .argument("[planfile]", "a saved plan")
    .option("--json", "as JSON")
    .option("--html <file>", "write the saved plan as a page for the browser as well")
    .option("--compare <planfile>", "say on that page how the plan differs from another saved one")
    .action(async (planFile: string | undefined, options: ShowOptions & { color?: boolean }) => {
      const { show } = await import("./show.ts");
      done(await show(planFile, options, settings, at(options)));
    });

  withoutEffect(
    withStateOptions(program.command("output").description("the outputs of the last apply")),
    changing,
  )
    .argument("[name]", "one of them")
    .option("--json", "as JSON")
    .addOption(new Option("--raw", "the bare value, even if it is sensitive").conflicts("json"))
    .action(
      async (
        name: string | undefined,
        options: ManifestOptions & { json?: boolean; raw?: boolean; color?: boolean },
      ) => {
        const { output } = await import("./output.ts");
        done(await output(name, options, settings, at(options)));
      },
    );

  addStateCommands(program, registration);
  program.commandsGroup(commandGroups.service);
  addInstanceCommands(program, registration);
  addSnapshotCommands(program, registration);
  addAccountCommands(program, registration);
  program.commandsGroup(commandGroups.platform);
  addPlatformCommands(program, registration);
  program.commandsGroup(commandGroups.setup);
  addCiCommands(program, registration);
  addReferenceCommands(program, registration);
  return program.helpCommand("help [command]", "print the help of a command");
}

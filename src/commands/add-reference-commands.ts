/** @module Adds commands for setup, sign-in and reference to the command line. */
import { Argument, type Command, Option } from "commander";
import type { ExplainOptions } from "./explain.ts";
import type { InitOptions } from "./init/init.ts";
import {
  changing,
  type ManifestOptions,
  type Registration,
  requesting,
  withManifestOptions,
} from "./options.ts";
import { commandGroups, withoutEffect } from "./terminal/help.ts";

type Coloured<T> = T & { readonly color?: boolean };

/** Adds `init`, `login`, `logout`, `doctor`, `explain`, `profile`, `schema`, `graph`, `completion`. */
export function addReferenceCommands(program: Command, registration: Registration): void {
  const { settings, at, done } = registration;
  program.commandsGroup(commandGroups.setup);
  program
    .command("init")
    .description("write a commented manifest; overwrites nothing")
    .option("-f, --file <path>", "the manifest (default graphform.yaml)")
    .addOption(new Option("--ci <service>", "write a pipeline too").choices(["github", "gitlab"]))
    .action(async (options: InitOptions) => {
      const { init } = await import("./init/init.ts");
      done(await init(options, at({})));
    });
  addSession(program, registration);
  withoutEffect(
    withManifestOptions(program.command("doctor").description("check what the other commands need")),
    [...changing, "--trace", "--log"],
  )
    .option("--json", "as JSON")
    .action(async (options: Coloured<ManifestOptions & { json?: boolean }>) => {
      const { doctor } = await import("./doctor/doctor.ts");
      done(await doctor(options, settings, at(options)));
    });
  program.commandsGroup(commandGroups.reference);
  program
    .command("explain")
    .description(
      "explain a key of the manifest: type, bounds, default, tiers, effect of a change, names in the API",
    )
    .argument("[field]", "for example config.maxMemory (default: all, by name)")
    .option("--profile <name>", "show its field names too")
    .option("--json", "as JSON")
    .option("--no-color", "no colour")
    .action(async (field: string | undefined, options: Coloured<ExplainOptions>) => {
      const { explain } = await import("./explain.ts");
      done(await explain(field, options, settings, at(options)));
    });
  addProfile(program, registration);
  program
    .command("schema")
    .description("print a published JSON Schema")
    .argument("<name>", "manifest, profile, state, plan, drift or events")
    .action(async (name: string) => {
      const { schema } = await import("./schema.ts");
      done(await schema(name, at({})));
    });
  const drawing = program.command("graph").description("draw the references between resources");
  withoutEffect(withManifestOptions(drawing), [
    ...[...changing, ...requesting],
    ...["--state", "--platform-url", "--users-url", "--subscription"],
  ])
    .option("--mermaid", "as a Mermaid flowchart (the default)")
    .addOption(new Option("--dot", "for Graphviz").conflicts("mermaid"))
    .action(async (options: Coloured<ManifestOptions & { dot?: boolean }>) => {
      const { graph } = await import("./graph.ts");
      done(await graph(options, settings, at(options)));
    });
  program
    .command("completion")
    .description("print a script for a shell: completes commands, options, addresses and fields")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .addHelpText("after", completionHelp)
    .action(async (shell: string) => {
      const { completion } = await import("./completion/scripts.ts");
      done(completion(shell, at({})));
    });
  program
    .command("complete", { hidden: true })
    .description("print what may stand for the last word of a command line")
    .argument("[words...]", "the words behind graphform")
    .action(async (words: readonly string[]) => {
      const { complete } = await import("./completion/complete.ts");
      done(await complete(words, program, settings, at({})));
    });
}

const completionHelp = `
Installed for every folder:
  bash   eval "$(graphform completion bash)"     in ~/.bashrc
  zsh    source <(graphform completion zsh)      in ~/.zshrc, after compinit
  fish   graphform completion fish | source      in ~/.config/fish/config.fish

Installed in a repository (bash; the others likewise), for npx graphform too:
  npx graphform completion bash > ~/.graphform.bash
  echo '. ~/.graphform.bash' >> ~/.bashrc

Addresses come from the manifest and the state (graphform.yaml, or what -f
names), without any network.`;

function addSession(program: Command, { settings, at, done }: Registration): void {
  const silent = [
    ...changing,
    ...requesting.filter((name) => name !== "--timeout"),
    "--state",
    "--subscription",
  ];
  const login = program.command("login").description("sign in and keep the session (not the password)");
  withoutEffect(withManifestOptions(login), silent).action(async (options: Coloured<ManifestOptions>) => {
    const { login } = await import("./login.ts");
    done(await login(options, settings, at(options)));
  });
  const logout = program.command("logout").description("end the session that login keeps");
  withoutEffect(withManifestOptions(logout), silent).action(async (options: Coloured<ManifestOptions>) => {
    const { logout } = await import("./login.ts");
    done(await logout(options, settings, at(options)));
  });
}

function addProfile(program: Command, { at, done }: Registration): void {
  const profile = program.command("profile").description("service profiles: the API of each service");
  profile
    .command("list")
    .description("the profiles that come with graphform")
    .option("--json", "as JSON")
    .action(async (options: { json?: boolean }) => {
      const { profileList } = await import("./profile.ts");
      done(await profileList(options, at({})));
    });
  profile
    .command("show")
    .description("everything that a profile says")
    .argument("[name]", "a built-in name or a file", "default")
    .option("--json", "as JSON")
    .action(async (name: string, options: { json?: boolean }) => {
      const { profileShow } = await import("./profile.ts");
      done(await profileShow(name, options, at({})));
    });
}

/** @module Lists the commands for setting up, and for reference. */
import { Argument, InvalidArgumentError, Option } from "commander";
import { type CommandEntry, command, commandGroup, json, required } from "./define-command.ts";
import { changing, requesting, withManifestOptions } from "./options.ts";

const key = [
  "--key <key>",
  "what the marker names, so that an invalid manifest updates the same text (default: its name)",
] as const;

const session = {
  shared: withManifestOptions,
  ineffective: [
    ...changing,
    ...requesting.filter((name) => name !== "--timeout"),
    "--state",
    "--subscription",
  ],
};

const schemas =
  "manifest, layer, profile, plan, drift, validation, several, events, replace, state, controller or fleet";

export const commandsOfSetup: readonly CommandEntry[] = [
  commandGroup("ci", "for pipelines: a comment with the plan, an issue with the drift", [
    command("comment", "show a report in one comment on the pull or merge request", {
      examples: [
        ["graphform ci comment plan.md", "GITHUB_TOKEN or GITLAB_TOKEN signs in"],
        ["graphform ci comment plan.md --key shop", "one comment for each key"],
      ],
      arguments: [["<report>", "what plan --markdown wrote"]],
      options: [key],
      load: async () => (await import("./ci/reports.ts")).comment,
    }),
    command("issue", "keep one issue about drift: opened, updated, closed", {
      examples: [
        ["graphform ci issue drift.md --exitcode 2", "opens the issue, or updates it"],
        ["graphform ci issue drift.md --exitcode 0", "closes it"],
      ],
      arguments: [["<report>", "what drift --markdown wrote"]],
      options: [required("--exitcode <code>", "exit code of drift").argParser(exitcode), key],
      load: async () => (await import("./ci/reports.ts")).issue,
    }),
  ]),
  command("init", "write a commented manifest; overwrites nothing", {
    options: [
      ["-f, --file <path>", "the manifest (default graphform.yaml)"],
      new Option("--ci <service>", "write a pipeline too").choices(["github", "gitlab"]),
    ],
    load: async () => (await import("./init/init.ts")).init,
  }),
  command("login", "sign in and keep the session (not the password)", {
    ...session,
    load: async () => (await import("./login.ts")).login,
  }),
  command("logout", "end the session that login keeps", {
    ...session,
    load: async () => (await import("./login.ts")).logout,
  }),
  command("doctor", "check what the other commands need", {
    shared: withManifestOptions,
    ineffective: [...changing, "--trace", "--log"],
    options: [json()],
    load: async () => (await import("./doctor/doctor.ts")).doctor,
  }),
];

export const commandsOfReference: readonly CommandEntry[] = [
  command(
    "explain",
    "explain a key of the manifest: type, bounds, default, tiers, effect of a change, names in the API",
    {
      arguments: [["[field]", "for example config.maxMemory (default: all, by name)"]],
      options: [["--profile <name>", "show its field names too"], json(), ["--no-color", "no colour"]],
      load: async () => (await import("./explain.ts")).explain,
    },
  ),
  commandGroup("profile", "service profiles: the API of each service", [
    command("list", "the profiles that come with graphform", {
      options: [json()],
      load: async () => (await import("./reference.ts")).profileList,
    }),
    command("show", "everything that a profile says", {
      arguments: [new Argument("[name]", "a built-in name or a file").default("default")],
      options: [json()],
      load: async () => (await import("./reference.ts")).profileShow,
    }),
  ]),
  command("schema", "print a published JSON Schema", {
    arguments: [["<name>", schemas]],
    load: async () => (await import("./reference.ts")).schema,
  }),
  command("graph", "draw the references between resources", {
    shared: withManifestOptions,
    ineffective: [
      ...[...changing, ...requesting],
      ...["--state", "--platform-url", "--users-url", "--subscription"],
    ],
    options: [
      ["--mermaid", "as a Mermaid flowchart (the default)"],
      new Option("--dot", "for Graphviz").conflicts("mermaid"),
    ],
    load: async () => (await import("./reference.ts")).graph,
  }),
  command("completion", "print a script for a shell: completes commands, options, addresses and fields", {
    arguments: [new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"])],
    after: `
Installed for every folder:
  bash   eval "$(graphform completion bash)"     in ~/.bashrc
  zsh    source <(graphform completion zsh)      in ~/.zshrc, after compinit
  fish   graphform completion fish | source      in ~/.config/fish/config.fish

Installed in a repository (bash; the others likewise), for npx graphform too:
  npx graphform completion bash > ~/.graphform.bash
  echo '. ~/.graphform.bash' >> ~/.bashrc

Addresses come from the manifest and the state (graphform.yaml, or what -f
names), without any network.`,
    load: async () => (await import("./completion/complete.ts")).completion,
  }),
];

function exitcode(text: string): string {
  if (!/^[0-9]{0,3}$/.test(text)) throw new InvalidArgumentError("it must be a number.");
  return text;
}

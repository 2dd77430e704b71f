/** @module Lists the commands of the controller: `serve` runs one, and `fleet` talks to one. */
import { InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../model/quantity.ts";
import { type CommandEntry, command, commandGroup, json, repeatable, required } from "./define-command.ts";
import type { FleetOptions } from "./fleet/fleet.ts";
import type { DatabaseOptions, RestoredOptions, ServeOptions, TokenOptions } from "./fleet/serve-command.ts";
import { collect, duration, positive } from "./options.ts";

const database = [
  new Option("--database-url <url>", "PostgreSQL, as postgres://USER@HOST/DATABASE").conflicts("embedded"),
  ["--embedded <dir>", "a PostgreSQL of its own, kept in this folder"],
] as const;
const config = ["--config <file>", "tenants, repositories, webhooks: controller.yaml"] as const;
const tenant = ["--tenant <tenant>", "of this tenant"] as const;
const wait = [
  "--wait",
  "print what happens, and end with the exit code that `apply` would have had",
] as const;
const name = ["<name>", "TENANT/NAME, or NAME with --tenant"] as const;
const run = ["<run>", "the id of a run, as `fleet runs` shows it"] as const;
const files = repeatable("--file <file>", "a file of the manifest (repeatable)", collect);
/** Loads a command of the table in `fleet/fleet.ts`. */
const load =
  (name: Parameters<typeof import("./fleet/fleet.ts").fleetCommand>[0]) =>
  async (): Promise<ReturnType<typeof import("./fleet/fleet.ts").fleetCommand>> =>
    (await import("./fleet/fleet.ts")).fleetCommand(name);

export const commandsOfFleet: readonly CommandEntry[] = [
  command<ServeOptions>("serve", "run a controller: it keeps many manifests applied, from Git or by upload", {
    examples: [
      ["graphform serve --embedded ./controller", "with a database of its own, for one machine"],
      ["graphform serve --database-url postgres://graphform@db/graphform --role worker", "one worker more"],
    ],
    options: [
      ...database,
      new Option("--listen <host:port>", "where the API listens")
        .argParser(listenAddress)
        .default({ host: "127.0.0.1", port: 8080 }, "127.0.0.1:8080"),
      ["--role <role>", "what this process does: all (default), api or worker"],
      new Option("--workers <n>", "runs that it plans, and that it applies, at one time")
        .argParser(positive)
        .default(4),
      config,
      ["--migrate", "bring the database to this version first, as `serve migrate` does"],
      [
        "--token-file <file>",
        "where the first administrator's token is written (default: in the embedded folder, or beside sessions)",
      ],
    ],
    after:
      "\nPrints one JSON line when it is ready. SIGHUP reads the configuration again, SIGTERM\nends it when running steps have reached their boundary. docs/fleet.md has more.",
    load: async () => (await import("./fleet/serve-command.ts")).serve,
    below: [
      command<DatabaseOptions>(
        "migrate",
        "bring the tables and queues to this version; several may start at once",
        {
          options: [...database, json()],
          load: async () => (await import("./fleet/serve-command.ts")).serveMigrate,
        },
      ),
      command<DatabaseOptions>(
        "doctor",
        "check what a controller needs: git, configuration, database, queue",
        {
          options: [...database, config, json()],
          load: async () => (await import("./fleet/serve-command.ts")).serveDoctor,
        },
      ),
      command<RestoredOptions>(
        "restored",
        "say that the database was put back from a copy: every change waits for a person",
        {
          options: [
            ...database,
            ["--complete", "nothing was done since the copy was taken: nothing waits because of it"],
          ],
          load: async () => (await import("./fleet/serve-command.ts")).serveRestored,
        },
      ),
      commandGroup("token", "bearer tokens of the API", [
        command<TokenOptions>("create", "print a new token; it is shown this once", {
          options: [
            ...database,
            ["--role <role>", "what it may do: viewer, planner, approver or admin"],
            ["--tenant <tenant>", "only for this tenant (default: all)"],
            required("--name <name>", "who has it, for the audit log"),
            new Option("--expires <time>", "how long it counts, like 90d (default: for ever)").argParser(
              lifetime,
            ),
            json(),
          ],
          load: async () => (await import("./fleet/serve-command.ts")).tokenCreate,
        }),
        command<DatabaseOptions>("list", "the tokens, without their texts", {
          options: [...database, json()],
          load: async () => (await import("./fleet/serve-command.ts")).tokenList,
        }),
        command<DatabaseOptions>("revoke", "end a token at once", {
          arguments: [["<id>", "as `serve token list` shows it"]],
          options: database,
          load: async () => (await import("./fleet/serve-command.ts")).tokenRevoke,
        }),
      ]),
    ],
  }),
  commandGroup("fleet", "manifests of a controller, at GRAPHFORM_CONTROLLER_URL", [
    command<FleetOptions>("add", "add a manifest, and ask for its first run", {
      examples: [
        ["graphform fleet add shop/orders --git https://git.example.com/shop.git", "from Git"],
        ["graphform fleet add shop/cache --file graphform.yaml --auto safe --wait", "uploaded"],
      ],
      arguments: [name],
      options: [
        tenant,
        ["--git <url>", "the repository that it comes from"],
        new Option("--ref <ref>", "a branch or a tag of it").default("main"),
        new Option("--path <dir>", "the folder of the manifest in it").default("."),
        files,
        new Option("--interval <time>", "between two checks, like 10m (default)").argParser(duration),
        new Option(
          "--auto <what>",
          "what is applied without a person (default: as the tenant has it)",
        ).choices(["safe", "none"]),
        wait,
        json(),
      ],
      load: load("add"),
    }),
    command<FleetOptions>("upload", "replace the files of an uploaded manifest", {
      arguments: [name],
      options: [tenant, files.makeOptionMandatory(), wait, json()],
      load: load("upload"),
    }),
    command<FleetOptions>("remove", "take a manifest out; its databases and its state stay", {
      arguments: [name],
      options: [tenant, json()],
      load: load("remove"),
    }),
    command<FleetOptions>("list", "the manifests and their states", {
      options: [tenant, ["--status <status>", "only these, for example waiting"], json()],
      load: load("list"),
    }),
    command<FleetOptions>("runs", "runs, newest first", {
      arguments: [["[name]", "of this manifest: TENANT/NAME"]],
      options: [
        tenant,
        ["--status <status>", "only these, for example needs_approval"],
        new Option("--limit <n>", "at most so many").default("30"),
        json(),
      ],
      load: load("runs"),
    }),
    command<FleetOptions>("show", "a run, its changes, and what was decided about it", {
      arguments: [run],
      options: [json()],
      load: load("show"),
    }),
    command<FleetOptions>("approve", "approve exactly the plan with this fingerprint", {
      arguments: [run],
      options: [required("--fingerprint <fingerprint>", "as `fleet show` prints it"), wait, json()],
      load: load("approve"),
    }),
    command<FleetOptions>("discard", "end a run that waits for an approval", {
      arguments: [run],
      options: [json()],
      load: load("discard"),
    }),
    command<FleetOptions>("cancel", "end a run at its next step", {
      arguments: [run],
      options: [["--force", "without its worker; a minute after it was asked for"], json()],
      load: load("cancel"),
    }),
    command<FleetOptions>("reconcile", "ask for a run now", {
      arguments: [name],
      options: [tenant, wait, json()],
      load: load("reconcile"),
    }),
    command<FleetOptions>("pause", "stop the checks of a manifest for a time", {
      arguments: [name],
      options: [
        tenant,
        required("--until <time>", "ISO 8601, or a span like 4h; now ends the pause"),
        json(),
      ],
      load: load("pause"),
    }),
    command<FleetOptions>("drift", "what the service differs from; exit 2 if there is anything", {
      options: [tenant, json()],
      load: load("drift"),
    }),
    command<FleetOptions>("locks", "states that are locked, and by whom", {
      options: [tenant, json()],
      load: load("locks"),
    }),
    command<FleetOptions>("redrive", "ask for a new run of each manifest whose last one failed", {
      options: [tenant, json()],
      load: load("redrive"),
    }),
  ]),
];

function listenAddress(text: string): { readonly host: string; readonly port: number } {
  const [, host = "", digits = ""] = /^(\[[0-9a-f:]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  if (host === "" || port > 65_535) throw new InvalidArgumentError("it must be HOST:PORT.");
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port };
}

/** Milliseconds of a time that no timer waits for, up to 400 days. */
function lifetime(text: string): number {
  const [, days] = /^([1-3]?[0-9]{1,2}|400)d$/.exec(text) ?? [];
  const ms = days === undefined ? parseDuration(text) : Number(days) * 86_400_000;
  if (ms === undefined) throw new InvalidArgumentError("it must be a time like 12h or 90d, at most 400d.");
  return ms;
}

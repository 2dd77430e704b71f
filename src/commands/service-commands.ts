/** @module Lists the commands that use the service, and those about the local platform. */
import { Option } from "commander";
import { typedAddress } from "../model/address.ts";
import { localPlatformDir } from "../project/locate-service.ts";
import { argument, type CommandEntry, command, commandGroup, json, required } from "./define-command.ts";
import type { Verb } from "./instances/operate-instance.ts";
import { changing, withManifestOptions, withStateOptions } from "./options.ts";

/** Shared options that do nothing for snapshots: the service alone knows them. */
const stateless = ["--state", "--lock-timeout"];
const reading = { shared: withManifestOptions, ineffective: changing } as const;
const ofInstance = argument("<address>", "for example instances.orders", typedAddress);
const onSnapshot = {
  shared: withManifestOptions,
  ineffective: stateless,
  arguments: [["<id>", "as `snapshot list` shows it"]],
} as const;
const noWait = ["--no-wait", "return as soon as the service has accepted it"] as const;
const networkType = ["--network-type <type>", "PUBLIC or INTERNAL, if the service supports it"] as const;

function operation(
  verb: Verb,
  about: string,
  options: readonly (readonly [string, string] | Option)[] = [],
  name: string = verb,
): CommandEntry {
  return command(name, about, {
    shared: withManifestOptions,
    arguments: [ofInstance],
    options: [noWait, json("events as JSON lines"), ...options],
    load: async () => (await import("./instances/operate-instance.ts")).operate.bind(undefined, verb),
  });
}

export const commandsAtService: readonly CommandEntry[] = [
  commandGroup("instance", "lifecycle operations on an instance of the state", [
    operation("backup", "take a snapshot"),
    operation("failover", "promote a replica", [
      [
        "--replica <id>",
        "the node to give up (default: an unhealthy one, else the primary, as the service or the databases say)",
      ],
      new Option("--action <action>", "what to do with that node")
        .choices(["FAILOVER_AND_RESTART", "FAILOVER_ONLY", "FAILOVER_AND_RECREATE"])
        .default("FAILOVER_AND_RESTART"),
    ]),
    operation("start", "start it"),
    operation("stop", "stop it; its data is kept"),
    operation("restart", "restart it"),
    operation("upgrade", "upgrade it to another version of the service plan", [
      ["--to <version>", "the version (default: the newest)"],
    ]),
    command("restore", "make a new instance with the data of an earlier time", {
      ...reading,
      arguments: [ofInstance],
      options: [required("--to <time>", "the time to go back to, ISO 8601"), networkType, json()],
      load: async () => (await import("./instances/restore.ts")).instanceRestore,
    }),
    command("events", "list the events that the service recorded for it", {
      ...reading,
      arguments: [ofInstance],
      options: [json()],
      load: async () => (await import("./instances/restore.ts")).listInstanceEvents,
    }),
  ]),
  commandGroup("replace", "replacements that keep the data of a database", [
    command("status", "say where each migration stands, and what follows", {
      shared: withStateOptions,
      ineffective: changing,
      arguments: [argument("[address]", "for example instances.orders", typedAddress)],
      options: [json()],
      load: async () => (await import("./replace.ts")).replaceStatus,
    }),
    command("undo", "go back to the old database while it is kept", {
      shared: withManifestOptions,
      examples: [["graphform replace undo instances.orders", "stop the new database, start the old one"]],
      arguments: [ofInstance],
      options: [json("events as JSON lines")],
      load: async () => (await import("./replace.ts")).replaceUndo,
    }),
  ]),
  commandGroup("snapshot", "snapshots of the service", [
    command("list", "every snapshot, newest first", {
      shared: withManifestOptions,
      ineffective: [...stateless, ...changing],
      options: [
        new Option("--type <type>", "only these").choices(["manual", "automated"]),
        ["--environment <type>", "only those of an environment, for example PROD"],
        json(),
      ],
      load: async () => (await import("./snapshots/change-snapshots.ts")).snapshotList,
    }),
    command("copy", "copy a snapshot to another region", {
      ...onSnapshot,
      options: [required("--region <region>", "the target region"), noWait, json("the copy as JSON")],
      load: async () => (await import("./snapshots/change-snapshots.ts")).snapshotCopy,
    }),
    operation("backup", "take a snapshot, as `instance backup` does", [], "create"),
    command("restore", "create a new instance from a snapshot", {
      ...onSnapshot,
      ineffective: [...stateless, ...changing],
      options: [networkType, ["--network <id>", "the network of the new instance"], json()],
      load: async () => (await import("./snapshots/change-snapshots.ts")).snapshotRestore,
    }),
    command("delete", "delete a snapshot permanently", {
      ...onSnapshot,
      options: [["--auto-approve", "do not ask"]],
      load: async () => (await import("./snapshots/change-snapshots.ts")).snapshotDelete,
    }),
  ]),
  commandGroup("account", "cloud accounts, and the steps that a person must do for them", [
    command("bootstrap", "print the commands that a person must run in the account", {
      ...reading,
      arguments: [argument("<address>", "for example cloudAccounts.prod", typedAddress)],
      options: [json()],
      load: async () => (await import("./instances/restore.ts")).accountBootstrap,
    }),
  ]),
];

const dataDir = new Option("--data-dir <dir>", "where it keeps everything").default(localPlatformDir);

export const commandsOfPlatform: readonly CommandEntry[] = [
  commandGroup("platform", "the hosting service on this machine, with real databases", [
    command("setup", "fetch what databases run on (graph module and server), where this machine has none", {
      after: `
The graph module comes from the npm registry that npm is configured with, in one
version whose hash is compared; a server, where the packaged one does not run
here, from the Debian archives that apt is configured with. Nothing of the
system changes and no root rights are needed; everything is kept in
$XDG_CACHE_HOME/graphform/engine (default ~/.cache/graphform/engine). A second
run fetches nothing. Linux on x64 only. GRAPHFORM_MODULE and GRAPHFORM_ENGINE
name files of your own instead.`,
      load: async () => (await import("./platform/manage.ts")).platformSetup,
    }),
    command("up", "start it; further options go to its program (--profile, --delay, --faults FILE, ...)", {
      examples: [
        ["graphform platform up --detach", "return when it is ready; `platform down` stops it"],
        ["graphform platform up --profile falkordb-cloud", "speak the API of FalkorDB Cloud"],
        ["graphform platform up --delay create=2000", "let each create take two seconds"],
        ["graphform platform up --engine none", "without databases, if no engine is available"],
      ],
      options: [
        dataDir,
        json("print one JSON line when ready"),
        ["--detach", "return when ready and leave it running"],
      ],
      passesOn: true,
      load: async () => (await import("./platform/up.ts")).platformUp,
    }),
    command("down", "stop it and keep the data", {
      options: [dataDir],
      load: async () => (await import("./platform/manage.ts")).platformDown,
    }),
    command("status", "whether it runs, and where", {
      options: [dataDir, json()],
      load: async () => (await import("./platform/manage.ts")).platformStatus,
    }),
    command("open", "print a link that signs in to its page once, and open it if there is a browser", {
      options: [dataDir, ["--no-browser", "print the link alone"]],
      load: async () => (await import("./platform/manage.ts")).platformOpen,
    }),
  ]),
];

import { type Command, Option } from "commander";
import type { ImportAllOptions } from "./import-all.ts";
import type { InstanceRestoreOptions } from "./instance-restore.ts";
import type { OperateOptions, Verb } from "./operate.ts";
import type { ManifestOptions } from "./options.ts";
import { withManifestOptions } from "./options.ts";
import type { Registration } from "./registration.ts";
import type { SnapshotDeleteOptions } from "./snapshot-delete.ts";
import type { SnapshotListOptions } from "./snapshot-list.ts";
import type { SnapshotRestoreOptions } from "./snapshot-restore.ts";

type Coloured<T> = T & { readonly color?: boolean };

const verbs: { readonly [verb in Verb]: string } = {
  backup: "take a snapshot",
  failover: "let a replica take over",
  start: "start it",
  stop: "stop it; its data is kept",
  restart: "restart it",
  upgrade: "bring it to another version of the service's plan",
};

/** Adds the commands that work on what is there: `instance`, `snapshot`, `account`, `import`. */
export function addOperations(program: Command, registration: Registration): void {
  addInstance(program, registration);
  addSnapshot(program, registration);
  addAccount(program, registration);
  addImport(program, registration);
}

function addInstance(program: Command, { env, at, done }: Registration): void {
  const instance = program
    .command("instance")
    .description("one lifecycle operation upon an instance of the state");
  const add = (verb: Verb): Command =>
    withManifestOptions(instance.command(verb).description(verbs[verb]))
      .argument("<address>", "for example instances.orders")
      .option("--no-wait", "return as soon as the service has accepted it")
      .option("--json", "events as JSON lines")
      .action(async (address: string, options: Coloured<OperateOptions>) => {
        const { operate } = await import("./operate.ts");
        done(await operate(verb, address, options, env, at(options)));
      });
  add("backup");
  add("failover")
    .option("--replica <id>", "the node to give up (default: an unwell one, else the primary)")
    .addOption(
      new Option("--action <action>", "what to do with that node")
        .choices(["FAILOVER_AND_RESTART", "FAILOVER_ONLY", "FAILOVER_AND_RECREATE"])
        .default("FAILOVER_AND_RESTART"),
    );
  add("start");
  add("stop");
  add("restart");
  add("upgrade").option("--to <version>", "which one (default: the newest)");
  withManifestOptions(
    instance.command("restore").description("make a new instance with the data of an earlier time"),
  )
    .argument("<address>", "for example instances.orders")
    .requiredOption("--to <time>", "the time to go back to, ISO 8601")
    .option("--network-type <type>", "PUBLIC or INTERNAL, where the service has it")
    .option("--json", "as JSON")
    .action(async (address: string, options: Coloured<InstanceRestoreOptions>) => {
      const { instanceRestore } = await import("./instance-restore.ts");
      done(await instanceRestore(address, options, env, at(options)));
    });
  withManifestOptions(instance.command("events").description("who did what to it, as the service knows it"))
    .argument("<address>", "for example instances.orders")
    .option("--json", "as JSON")
    .action(async (address: string, options: Coloured<ManifestOptions & { json?: boolean }>) => {
      const { listInstanceEvents } = await import("./instance-events.ts");
      done(await listInstanceEvents(address, options, env, at(options)));
    });
}

function addSnapshot(program: Command, registration: Registration): void {
  const { env, at, done } = registration;
  const snapshot = program.command("snapshot").description("backups that the service keeps");
  withManifestOptions(snapshot.command("list").description("every snapshot, newest first"))
    .addOption(new Option("--type <type>", "only these").choices(["manual", "automated"]))
    .option("--environment <type>", "only those of an environment, for example PROD")
    .option("--json", "as JSON")
    .action(async (options: Coloured<SnapshotListOptions>) => {
      const { snapshotList } = await import("./snapshot-list.ts");
      done(await snapshotList(options, env, at(options)));
    });
  withManifestOptions(snapshot.command("copy").description("copy a snapshot to another region"))
    .argument("<id>", "as `snapshot list` shows it")
    .requiredOption("--region <region>", "where to")
    .option("--no-wait", "return as soon as the service has accepted it")
    .option("--json", "the copy as JSON")
    .action(
      async (
        id: string,
        options: Coloured<ManifestOptions & { region: string; wait?: boolean; json?: boolean }>,
      ) => {
        const { snapshotCopy } = await import("./snapshot-copy.ts");
        done(await snapshotCopy(id, options, env, at(options)));
      },
    );
  addSnapshotWrites(snapshot, registration);
}

function addSnapshotWrites(snapshot: Command, { env, at, done }: Registration): void {
  withManifestOptions(snapshot.command("create").description("take a snapshot, as `instance backup` does"))
    .argument("<address>", "for example instances.orders")
    .option("--no-wait", "return as soon as the service has accepted it")
    .option("--json", "events as JSON lines")
    .action(async (address: string, options: Coloured<OperateOptions>) => {
      const { operate } = await import("./operate.ts");
      done(await operate("backup", address, options, env, at(options)));
    });
  withManifestOptions(snapshot.command("restore").description("make a new instance out of a snapshot"))
    .argument("<id>", "as `snapshot list` shows it")
    .option("--network-type <type>", "PUBLIC or INTERNAL, where the service has it")
    .option("--network <id>", "the network that it is to live in")
    .option("--json", "as JSON")
    .action(async (id: string, options: Coloured<SnapshotRestoreOptions>) => {
      const { snapshotRestore } = await import("./snapshot-restore.ts");
      done(await snapshotRestore(id, options, env, at(options)));
    });
  withManifestOptions(snapshot.command("delete").description("delete a snapshot for good"))
    .argument("<id>", "as `snapshot list` shows it")
    .option("--auto-approve", "do not ask")
    .action(async (id: string, options: Coloured<SnapshotDeleteOptions>) => {
      const { snapshotDelete } = await import("./snapshot-delete.ts");
      done(await snapshotDelete(id, options, env, at(options)));
    });
}

function addAccount(program: Command, { env, at, done }: Registration): void {
  const account = program
    .command("account")
    .description("cloud accounts, and what a person must do for them");
  withManifestOptions(
    account.command("bootstrap").description("what a person must run in the account, as the service says it"),
  )
    .argument("<address>", "for example cloudAccounts.prod")
    .option("--json", "as JSON")
    .action(async (address: string, options: Coloured<ManifestOptions & { json?: boolean }>) => {
      const { accountBootstrap } = await import("./account-bootstrap.ts");
      done(await accountBootstrap(address, options, env, at(options)));
    });
}

function addImport(program: Command, { env, at, done }: Registration): void {
  withManifestOptions(
    program.command("import").description("bind what exists: one object, or a manifest for everything"),
  )
    .argument("[address]", "a declared address")
    .argument("[id]", "the id of what it is to be bound to")
    .option("--all", "write a manifest for everything that is live")
    .option(
      "--out <file>",
      "with --all: write it there and bind everything (default: standard output, nothing bound)",
    )
    .option("--name <name>", "with --all: the manifest's name (default: imported)")
    .option("--users", "with --all: database users too, as comments, since no service shows their passwords")
    .action(
      async (
        address: string | undefined,
        id: string | undefined,
        options: Coloured<ImportAllOptions & { all?: boolean }>,
      ) => {
        if (options.all === true) {
          const { importAll } = await import("./import-all.ts");
          done(await importAll(address, options, env, at(options)));
          return;
        }
        const { importOne } = await import("./import-one.ts");
        done(await importOne(address, id, options, env, at(options)));
      },
    );
}

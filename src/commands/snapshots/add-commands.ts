/** @module Adds the operations of snapshots to the command line. */
import type { Command } from "commander";
import { Option } from "commander";
import { typedAddress } from "../../model/address.ts";
import type { OperateOptions } from "../instances/operate.ts";
import { changing, type ManifestOptions, type Registration, withManifestOptions } from "../options.ts";
import { withoutEffect } from "../terminal/help.ts";
import type { SnapshotDeleteOptions } from "./delete.ts";
import type { SnapshotListOptions } from "./list.ts";
import type { SnapshotRestoreOptions } from "./restore.ts";

type Coloured<T> = T & { readonly color?: boolean };

/** Shared options that do nothing where snapshots are found by the service alone. */
const stateless = ["--state", "--lock-timeout"];

/** Adds `snapshot list|copy|create|restore|delete`. */
export function addSnapshotCommands(program: Command, registration: Registration): void {
  const { settings, at, done } = registration;
  const snapshot = program.command("snapshot").description("snapshots of the service");
  const list = snapshot.command("list").description("every snapshot, newest first");
  withoutEffect(withManifestOptions(list), [...stateless, ...changing])
    .addOption(new Option("--type <type>", "only these").choices(["manual", "automated"]))
    .option("--environment <type>", "only those of an environment, for example PROD")
    .option("--json", "as JSON")
    .action(async (options: Coloured<SnapshotListOptions>) => {
      const { snapshotList } = await import("./list.ts");
      done(await snapshotList(options, settings, at(options)));
    });
  const copy = snapshot.command("copy").description("copy a snapshot to another region");
  withoutEffect(withManifestOptions(copy), stateless)
    .argument("<id>", "as `snapshot list` shows it")
    .requiredOption("--region <region>", "the target region")
    .option("--no-wait", "return as soon as the service has accepted it")
    .option("--json", "the copy as JSON")
    .action(
      async (
        id: string,
        options: Coloured<ManifestOptions & { region: string; wait?: boolean; json?: boolean }>,
      ) => {
        const { snapshotCopy } = await import("./copy.ts");
        done(await snapshotCopy(id, options, settings, at(options)));
      },
    );
  addSnapshotWrites(snapshot, registration);
}

function addSnapshotWrites(snapshot: Command, { settings, at, done }: Registration): void {
  withManifestOptions(snapshot.command("create").description("take a snapshot, as `instance backup` does"))
    .argument("<address>", "for example instances.orders", typedAddress)
    .option("--no-wait", "return as soon as the service has accepted it")
    .option("--json", "events as JSON lines")
    .action(async (address: string, options: Coloured<OperateOptions>) => {
      const { operate } = await import("../instances/operate.ts");
      done(await operate("backup", address, options, settings, at(options)));
    });
  const restore = snapshot.command("restore").description("create a new instance from a snapshot");
  withoutEffect(withManifestOptions(restore), [...stateless, ...changing])
    .argument("<id>", "as `snapshot list` shows it")
    .option("--network-type <type>", "PUBLIC or INTERNAL, if the service supports it")
    .option("--network <id>", "the network of the new instance")
    .option("--json", "as JSON")
    .action(async (id: string, options: Coloured<SnapshotRestoreOptions>) => {
      const { snapshotRestore } = await import("./restore.ts");
      done(await snapshotRestore(id, options, settings, at(options)));
    });
  const remove = snapshot.command("delete").description("delete a snapshot permanently");
  withoutEffect(withManifestOptions(remove), stateless)
    .argument("<id>", "as `snapshot list` shows it")
    .option("--auto-approve", "do not ask")
    .action(async (id: string, options: Coloured<SnapshotDeleteOptions>) => {
      const { snapshotDelete } = await import("./delete.ts");
      done(await snapshotDelete(id, options, settings, at(options)));
    });
}

/** @module Adds the lifecycle operations of instances to the command line. */
import type { Command } from "commander";
import { Option } from "commander";
import { typedAddress } from "../../model/address.ts";
import { changing, type ManifestOptions, type Registration, withManifestOptions } from "../options.ts";
import { withoutEffect } from "../terminal/help.ts";
import type { OperateOptions, Verb } from "./operate.ts";
import type { InstanceRestoreOptions } from "./restore.ts";

type Coloured<T> = T & { readonly color?: boolean };

const verbs: { readonly [verb in Verb]: string } = {
  backup: "take a snapshot",
  failover: "promote a replica",
  start: "start it",
  stop: "stop it; its data is kept",
  restart: "restart it",
  upgrade: "upgrade it to another version of the service plan",
};

/** Adds `instance backup|failover|start|stop|restart|upgrade|restore|events`. */
export function addInstanceCommands(program: Command, { settings, at, done }: Registration): void {
  const instance = program
    .command("instance")
    .description("lifecycle operations on an instance of the state");
  const add = (verb: Verb): Command =>
    withManifestOptions(instance.command(verb).description(verbs[verb]))
      .argument("<address>", "for example instances.orders", typedAddress)
      .option("--no-wait", "return as soon as the service has accepted it")
      .option("--json", "events as JSON lines")
      .action(async (address: string, options: Coloured<OperateOptions>) => {
        const { operate } = await import("./operate.ts");
        done(await operate(verb, address, options, settings, at(options)));
      });
  add("backup");
  add("failover")
    .option(
      "--replica <id>",
      "the node to give up (default: an unhealthy one, else the primary, as the service or the databases say)",
    )
    .addOption(
      new Option("--action <action>", "what to do with that node")
        .choices(["FAILOVER_AND_RESTART", "FAILOVER_ONLY", "FAILOVER_AND_RECREATE"])
        .default("FAILOVER_AND_RESTART"),
    );
  add("start");
  add("stop");
  add("restart");
  add("upgrade").option("--to <version>", "the version (default: the newest)");
  const restore = instance
    .command("restore")
    .description("make a new instance with the data of an earlier time");
  withoutEffect(withManifestOptions(restore), changing)
    .argument("<address>", "for example instances.orders", typedAddress)
    .requiredOption("--to <time>", "the time to go back to, ISO 8601")
    .option("--network-type <type>", "PUBLIC or INTERNAL, if the service supports it")
    .option("--json", "as JSON")
    .action(async (address: string, options: Coloured<InstanceRestoreOptions>) => {
      const { instanceRestore } = await import("./restore.ts");
      done(await instanceRestore(address, options, settings, at(options)));
    });
  const events = instance.command("events").description("list the events that the service recorded for it");
  withoutEffect(withManifestOptions(events), changing)
    .argument("<address>", "for example instances.orders", typedAddress)
    .option("--json", "as JSON")
    .action(async (address: string, options: Coloured<ManifestOptions & { json?: boolean }>) => {
      const { listInstanceEvents } = await import("./restore.ts");
      done(await listInstanceEvents(address, options, settings, at(options)));
    });
}

/** @module Adds the commands about the state to the command line. */
import type { Command } from "commander";
import { typedAddress } from "../../model/address.ts";
import {
  changing,
  type ManifestOptions,
  type Registration,
  withManifestOptions,
  withStateOptions,
} from "../options.ts";
import { withExamples, withoutEffect } from "../terminal/help.ts";
import type { MigrateOptions } from "./migrate.ts";

type StateOptions = ManifestOptions & { readonly json?: boolean; readonly color?: boolean };

/** Adds `state list|show|mv|rm|pull|rebind|unlock`, and the commands about its store. */
export function addStateCommands(program: Command, registration: Registration): void {
  const { settings, at, done } = registration;
  const state = program.command("state").description("the recorded state of the resources");
  reading(state.command("list").description("every address with its id"))
    .option("--json", "as JSON")
    .action(async (options: StateOptions) => {
      const { stateList } = await import("./state-commands.ts");
      done(await stateList(options, settings, at(options)));
    });
  reading(state.command("show").description("print the state of one resource"))
    .argument("<address>", "for example instances.orders", typedAddress)
    .option("--json", "as JSON")
    .action(async (address: string, options: StateOptions) => {
      const { stateShow } = await import("./state-commands.ts");
      done(await stateShow(address, options, settings, at(options)));
    });
  withExamples(withStateOptions(state.command("mv").description("give a bound object another address")), [
    ["graphform state mv instances.orders instances.shop", "then declare it under the new name"],
    ["graphform state mv 'instances.cache[\"eu\"]' instances.cache", "one that forEach made; quote brackets"],
  ])
    .argument("<from>", "its address", typedAddress)
    .argument("<to>", "its new address", typedAddress)
    .action(async (from: string, to: string, options: StateOptions) => {
      const { stateMove } = await import("./state-commands.ts");
      done(await stateMove(from, to, options, settings, at(options)));
    });
  withStateOptions(state.command("rm").description("remove an object from the state and leave it running"))
    .argument("<address>", "its address", typedAddress)
    .action(async (address: string, options: StateOptions) => {
      const { stateRemove } = await import("./state-commands.ts");
      done(await stateRemove(address, options, settings, at(options)));
    });
  reading(state.command("pull").description("the whole state as JSON, without its key"))
    .argument("[version]", "an earlier version: an id that `state history` shows")
    .action(async (version: string | undefined, options: StateOptions) => {
      const { statePull } = await import("./state-commands.ts");
      done(await statePull(version, options, settings, at(options)));
    });
  addStoreCommands(state, registration);
  const rebind = state
    .command("rebind")
    .description(
      "assign the state to this manifest and the service of these settings, after every bound id was found there",
    );
  withManifestOptions(rebind).action(async (options: StateOptions) => {
    const { stateRebind } = await import("./rebind.ts");
    done(await stateRebind(options, settings, at(options)));
  });
  reading(
    state
      .command("unlock")
      .description("remove a lock whose process has ended; without an id: print its holder"),
  )
    .argument("[id]", "the lock id from the error message")
    .option("--force", "also if the holder is still running")
    .action(async (id: string | undefined, options: StateOptions & { force?: boolean }) => {
      const { stateUnlock } = await import("./state-commands.ts");
      done(await stateUnlock(id, options, settings, at(options)));
    });
}

/** Adds `state init|migrate|push|history|restore`. */
function addStoreCommands(state: Command, { settings, at, done }: Registration): void {
  reading(
    state
      .command("init")
      .description("prepare the store of the state, try what it must be able to do, and say what it can do"),
  )
    .option("--json", "as JSON")
    .action(async (options: StateOptions) => {
      const { stateInit } = await import("./init.ts");
      done(await stateInit(options, settings, at(options)));
    });
  withExamples(withStateOptions(state.command("migrate").description("move the state to another store")), [
    ["graphform state migrate --to 's3://states/shop.json?region=eu-west-1'", "to a bucket"],
    ["graphform state migrate --to 'postgres://db.example.com/states?name=shop'", "to a database"],
    ["graphform state migrate --to file", "back to the usual file beside the manifest"],
  ])
    .requiredOption("--to <place>", "path, URL, or the type of a store: file, http, s3 or postgres")
    .option("--json", "as JSON")
    .action(async (options: MigrateOptions & { color?: boolean }) => {
      const { stateMigrate } = await import("./migrate.ts");
      done(await stateMigrate(options, settings, at(options)));
    });
  withStateOptions(
    state.command("push").description("store what a run kept in a local file when its store went away"),
  )
    .argument("<file>", "the file that the run named")
    .option("--json", "as JSON")
    .action(async (file: string, options: StateOptions) => {
      const { statePush } = await import("./push.ts");
      done(await statePush(file, options, settings, at(options)));
    });
  reading(state.command("history").description("the versions of the state that its store still has"))
    .option("--json", "as JSON")
    .action(async (options: StateOptions) => {
      const { stateHistory } = await import("./history.ts");
      done(await stateHistory(options, settings, at(options)));
    });
  withStateOptions(state.command("restore").description("store a version that is kept as the newest one"))
    .argument(
      "<version>",
      "an id that `state history` shows; current: what is stored now; none: an empty state",
    )
    .action(async (version: string, options: StateOptions) => {
      const { stateRestore } = await import("./restore.ts");
      done(await stateRestore(version, options, settings, at(options)));
    });
}

/** A command that changes nothing at the service. */
function reading(command: Command): Command {
  return withoutEffect(withStateOptions(command), changing);
}

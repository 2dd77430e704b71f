/** @module Adds the commands about the store of a state to the command line. */
import type { Command } from "commander";
import { changing, type ManifestOptions, type Registration, withStateOptions } from "../options.ts";
import { withExamples, withoutEffect } from "../terminal/help.ts";
import type { MigrateOptions } from "./migrate.ts";

type StoreOptions = ManifestOptions & { readonly json?: boolean; readonly color?: boolean };

/** Adds `state init|migrate|push|history|restore`. */
export function addStoreCommands(state: Command, { settings, at, done }: Registration): void {
  const reading = (command: Command): Command => withoutEffect(withStateOptions(command), changing);
  reading(
    state
      .command("init")
      .description("prepare the store of the state, try what it must be able to do, and say what it can do"),
  )
    .option("--json", "as JSON")
    .action(async (options: StoreOptions) => {
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
    .action(async (file: string, options: StoreOptions) => {
      const { statePush } = await import("./push.ts");
      done(await statePush(file, options, settings, at(options)));
    });
  reading(state.command("history").description("the versions of the state that its store still has"))
    .option("--json", "as JSON")
    .action(async (options: StoreOptions) => {
      const { stateHistory } = await import("./history.ts");
      done(await stateHistory(options, settings, at(options)));
    });
  withStateOptions(state.command("restore").description("store a version that is kept as the newest one"))
    .argument(
      "<version>",
      "an id that `state history` shows; current: what is stored now; none: an empty state",
    )
    .action(async (version: string, options: StoreOptions) => {
      const { stateRestore } = await import("./restore.ts");
      done(await stateRestore(version, options, settings, at(options)));
    });
}

/** @module Adds the commands about cloud accounts to the command line. */
import type { Command } from "commander";
import { typedAddress } from "../../model/address.ts";
import { changing, type ManifestOptions, type Registration, withManifestOptions } from "../options.ts";
import { withoutEffect } from "../terminal/help.ts";

type Coloured<T> = T & { readonly color?: boolean };

/** Adds `account bootstrap`. */
export function addAccountCommands(program: Command, { settings, at, done }: Registration): void {
  const account = program
    .command("account")
    .description("cloud accounts, and the steps that a person must do for them");
  const bootstrap = account
    .command("bootstrap")
    .description("print the commands that a person must run in the account");
  withoutEffect(withManifestOptions(bootstrap), changing)
    .argument("<address>", "for example cloudAccounts.prod", typedAddress)
    .option("--json", "as JSON")
    .action(async (address: string, options: Coloured<ManifestOptions & { json?: boolean }>) => {
      const { accountBootstrap } = await import("./bootstrap.ts");
      done(await accountBootstrap(address, options, settings, at(options)));
    });
}

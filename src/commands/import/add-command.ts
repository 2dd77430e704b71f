/** @module Adds `import` to the command line. */
import type { Command } from "commander";
import { typedAddress } from "../../model/address.ts";
import { type Registration, withManifestOptions } from "../options.ts";
import { withExamples } from "../terminal/help.ts";
import type { ImportAllOptions } from "./all.ts";

type Coloured<T> = T & { readonly color?: boolean };

/** Adds `import ADDRESS ID` and `import --all`. */
export function addImportCommand(program: Command, { settings, at, done }: Registration): void {
  const command = program
    .command("import")
    .description("bind what exists: one object, or a manifest for everything");
  withExamples(withManifestOptions(command), [
    ["graphform import instances.orders instance-k2j4", "bind an object to an address of the manifest"],
    ["graphform import --all", "print a manifest of everything live; nothing is bound"],
    ["graphform import --all --out graphform.yaml --name shop", "write it, and bind everything"],
  ])
    .argument("[address]", "a declared address", typedAddress)
    .argument("[id]", "the id of the object to bind it to")
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
          const { importAll } = await import("./all.ts");
          done(await importAll(address, options, settings, at(options)));
          return;
        }
        const { importOne } = await import("./one.ts");
        done(await importOne(address, id, options, settings, at(options)));
      },
    );
}

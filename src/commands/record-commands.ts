/** @module Lists the commands about what is recorded: state, outputs and saved plans. */
import { Option } from "commander";
import { typedAddress } from "../model/address.ts";
import { argument, type CommandEntry, command, commandGroup, json, required } from "./define-command.ts";
import { changing, type ManifestOptions, withManifestOptions, withStateOptions } from "./options.ts";
import type { ShowOptions } from "./show.ts";
import type { MigrateOptions } from "./state/migrate.ts";

type StateOptions = ManifestOptions & { readonly json?: boolean };

/** A command that reads the state takes no lock. */
const reading = { shared: withStateOptions, ineffective: changing } as const;

/** Commands about what is recorded. */
export const commandsOfState: readonly CommandEntry[] = [
  command<ShowOptions>("show", "print the state or a saved plan", {
    ...reading,
    arguments: [["[planfile]", "a saved plan"]],
    options: [
      json(),
      ["--html <file>", "write the saved plan as a page for the browser as well"],
      ["--compare <planfile>", "say on that page how the plan differs from another saved one"],
    ],
    run: async (given, planFile: string | undefined) => (await import("./show.ts")).show(given, planFile),
  }),
  command<StateOptions & { readonly raw?: boolean }>("output", "the outputs of the last apply", {
    ...reading,
    arguments: [["[name]", "one of them"]],
    options: [json(), new Option("--raw", "the bare value, even if it is sensitive").conflicts("json")],
    run: async (given, name: string | undefined) => (await import("./output.ts")).output(given, name),
  }),
  commandGroup("state", "the recorded state of the resources", [
    command<StateOptions>("list", "every address with its id", {
      ...reading,
      options: [json()],
      run: async ({ options, settings, terminal }) =>
        (await import("./state/state-commands.ts")).stateList(options, settings, terminal),
    }),
    command<StateOptions>("show", "print the state of one resource", {
      ...reading,
      arguments: [argument("<address>", "for example instances.orders", typedAddress)],
      options: [json()],
      run: async ({ options, settings, terminal }, address) =>
        (await import("./state/state-commands.ts")).stateShow(address, options, settings, terminal),
    }),
    command<StateOptions>("mv", "give a bound object another address", {
      shared: withStateOptions,
      examples: [
        ["graphform state mv instances.orders instances.shop", "then declare it under the new name"],
        [
          "graphform state mv 'instances.cache[\"eu\"]' instances.cache",
          "one that forEach made; quote brackets",
        ],
      ],
      arguments: [
        argument("<from>", "its address", typedAddress),
        argument("<to>", "its new address", typedAddress),
      ],
      run: async ({ options, settings, terminal }, from, to) =>
        (await import("./state/state-commands.ts")).stateMove(from, to, options, settings, terminal),
    }),
    command<StateOptions>("rm", "remove an object from the state and leave it running", {
      shared: withStateOptions,
      arguments: [argument("<address>", "its address", typedAddress)],
      run: async ({ options, settings, terminal }, address) =>
        (await import("./state/state-commands.ts")).stateRemove(address, options, settings, terminal),
    }),
    command<StateOptions>("pull", "the whole state as JSON, without its key", {
      ...reading,
      arguments: [["[version]", "an earlier version: an id that `state history` shows"]],
      run: async ({ options, settings, terminal }, version: string | undefined) =>
        (await import("./state/state-commands.ts")).statePull(version, options, settings, terminal),
    }),
    command<StateOptions>(
      "init",
      "prepare the store of the state, try what it must be able to do, and say what it can do",
      {
        ...reading,
        options: [json()],
        run: async ({ options, settings, terminal }) =>
          (await import("./state/init.ts")).stateInit(options, settings, terminal),
      },
    ),
    command<MigrateOptions>("migrate", "move the state to another store", {
      shared: withStateOptions,
      examples: [
        ["graphform state migrate --to 's3://states/shop.json?region=eu-west-1'", "to a bucket"],
        ["graphform state migrate --to 'postgres://db.example.com/states?name=shop'", "to a database"],
        ["graphform state migrate --to file", "back to the usual file beside the manifest"],
      ],
      options: [
        required("--to <place>", "path, URL, or the type of a store: file, http, s3 or postgres"),
        json(),
      ],
      run: async ({ options, settings, terminal }) =>
        (await import("./state/migrate.ts")).stateMigrate(options, settings, terminal),
    }),
    command<StateOptions>("push", "store what a run kept in a local file when its store went away", {
      shared: withStateOptions,
      arguments: [["<file>", "the file that the run named"]],
      options: [json()],
      run: async ({ options, settings, terminal }, file) =>
        (await import("./state/push.ts")).statePush(file, options, settings, terminal),
    }),
    command<StateOptions>("history", "the versions of the state that its store still has", {
      ...reading,
      options: [json()],
      run: async ({ options, settings, terminal }) =>
        (await import("./state/history.ts")).stateHistory(options, settings, terminal),
    }),
    command<StateOptions>("restore", "store a version that is kept as the newest one", {
      shared: withStateOptions,
      arguments: [
        ["<version>", "an id that `state history` shows; current: what is stored now; none: an empty state"],
      ],
      run: async ({ options, settings, terminal }, version) =>
        (await import("./state/restore.ts")).stateRestore(version, options, settings, terminal),
    }),
    command<StateOptions>(
      "rebind",
      "assign the state to this manifest and the service of these settings, after every bound id was found there",
      {
        shared: withManifestOptions,
        run: async ({ options, settings, terminal }) =>
          (await import("./state/rebind.ts")).stateRebind(options, settings, terminal),
      },
    ),
    command<StateOptions & { readonly force?: boolean }>(
      "unlock",
      "remove a lock whose process has ended; without an id: print its holder",
      {
        ...reading,
        arguments: [["[id]", "the lock id from the error message"]],
        options: [["--force", "also if the holder is still running"]],
        run: async ({ options, settings, terminal }, id: string | undefined) =>
          (await import("./state/state-commands.ts")).stateUnlock(id, options, settings, terminal),
      },
    ),
  ]),
];

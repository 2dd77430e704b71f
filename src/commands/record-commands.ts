/** @module Lists the commands about what is recorded: state, outputs and saved plans. */
import { Option } from "commander";
import { typedAddress } from "../model/address.ts";
import { argument, type CommandEntry, command, commandGroup, json, required } from "./define-command.ts";
import { changing, withManifestOptions, withStateOptions } from "./options.ts";

/** A command that reads the state takes no lock. */
const reading = { shared: withStateOptions, ineffective: changing } as const;

export const commandsOfState: readonly CommandEntry[] = [
  command("show", "print the state or a saved plan", {
    ...reading,
    arguments: [["[planfile]", "a saved plan"]],
    options: [
      json(),
      ["--html <file>", "write the saved plan as a page for the browser as well"],
      ["--compare <planfile>", "say on that page how the plan differs from another saved one"],
    ],
    load: async () => (await import("./show.ts")).show,
  }),
  command("output", "the outputs of the last apply", {
    ...reading,
    arguments: [["[name]", "one of them"]],
    options: [json(), new Option("--raw", "the bare value, even if it is sensitive").conflicts("json")],
    load: async () => (await import("./show.ts")).output,
  }),
  commandGroup("state", "the recorded state of the resources", [
    command("list", "every address with its id", {
      ...reading,
      options: [json()],
      load: async () => (await import("./state/show-state.ts")).stateList,
    }),
    command("show", "print the state of one resource", {
      ...reading,
      arguments: [argument("<address>", "for example instances.orders", typedAddress)],
      options: [json()],
      load: async () => (await import("./state/show-state.ts")).stateShow,
    }),
    command("mv", "give a bound object another address", {
      shared: withStateOptions,
      examples: [
        ["graphform state mv instances.orders instances.shop", "then declare it under the new name"],
        ["graphform state mv 'instances.cache[\"eu\"]' instances.cache", "one of a forEach; quote brackets"],
      ],
      arguments: [
        argument("<from>", "its address", typedAddress),
        argument("<to>", "its new address", typedAddress),
      ],
      load: async () => (await import("./state/edit-state.ts")).stateMove,
    }),
    command("rm", "remove an object and what is inside of it from the state, and leave them as they are", {
      shared: withStateOptions,
      arguments: [argument("<address>", "its address", typedAddress)],
      options: [["--dry-run", "say what would be removed, and remove nothing"], json()],
      load: async () => (await import("./state/edit-state.ts")).stateRemove,
    }),
    command("pull", "the whole state as JSON, without its key", {
      ...reading,
      arguments: [["[version]", "an earlier version: an id that `state history` shows"]],
      load: async () => (await import("./state/show-state.ts")).statePull,
    }),
    command("init", "prepare the store of the state, try what it must do, and say what it can do", {
      ...reading,
      options: [json()],
      load: async () => (await import("./state/show-state.ts")).stateInit,
    }),
    command("migrate", "move the state to another store", {
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
      load: async () => (await import("./state/migrate-state.ts")).stateMigrate,
    }),
    command("push", "store what a run kept in a local file when its store went away", {
      shared: withStateOptions,
      arguments: [["<file>", "the file that the run named"]],
      options: [json()],
      load: async () => (await import("./state/edit-state.ts")).statePush,
    }),
    command("history", "the versions of the state that its store still has", {
      ...reading,
      options: [json()],
      load: async () => (await import("./state/show-state.ts")).stateHistory,
    }),
    command("restore", "store a version that is kept as the newest one", {
      shared: withStateOptions,
      arguments: [
        ["<version>", "an id that `state history` shows; current: what is stored now; none: an empty state"],
      ],
      load: async () => (await import("./state/edit-state.ts")).stateRestore,
    }),
    command("rebind", "assign the state to this manifest and service, once every bound id was found there", {
      shared: withManifestOptions,
      load: async () => (await import("./state/edit-state.ts")).stateRebind,
    }),
    command("unlock", "remove a lock whose process has ended; without an id: print its holder", {
      ...reading,
      arguments: [["[id]", "the lock id from the error message"]],
      options: [["--force", "also if the holder is still running"]],
      load: async () => (await import("./state/edit-state.ts")).stateUnlock,
    }),
  ]),
];

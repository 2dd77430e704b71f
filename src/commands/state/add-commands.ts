/** @module Adds the commands about the state to the command line. */
import type { Command } from "commander";
import type { ManifestOptions } from "../options.ts";
import { withManifestOptions, withStateOptions } from "../options.ts";
import type { Registration } from "../registration.ts";

type StateOptions = ManifestOptions & { readonly json?: boolean; readonly color?: boolean };

/** Adds `state list|show|mv|rm|pull|rebind|unlock`. */
export function addStateCommands(program: Command, { env, at, done }: Registration): void {
  const state = program.command("state").description("what is remembered of the resources");
  withStateOptions(state.command("list").description("every address with its id"))
    .option("--json", "as JSON")
    .action(async (options: StateOptions) => {
      const { stateList } = await import("./state-commands.ts");
      done(await stateList(options, at(options)));
    });
  withStateOptions(state.command("show").description("what is remembered of one resource"))
    .argument("<address>", "for example instances.orders")
    .option("--json", "as JSON")
    .action(async (address: string, options: StateOptions) => {
      const { stateShow } = await import("./state-commands.ts");
      done(await stateShow(address, options, at(options)));
    });
  withStateOptions(state.command("mv").description("give a bound object another address"))
    .argument("<from>", "its address")
    .argument("<to>", "its new address")
    .action(async (from: string, to: string, options: StateOptions) => {
      const { stateMove } = await import("./state-commands.ts");
      done(await stateMove(from, to, options, at(options)));
    });
  withStateOptions(state.command("rm").description("let go of an object and leave it running"))
    .argument("<address>", "its address")
    .action(async (address: string, options: StateOptions) => {
      const { stateRemove } = await import("./state-commands.ts");
      done(await stateRemove(address, options, at(options)));
    });
  withStateOptions(state.command("pull").description("the whole state as JSON, without its key")).action(
    async (options: StateOptions) => {
      const { statePull } = await import("./state-commands.ts");
      done(await statePull(options, at(options)));
    },
  );
  withManifestOptions(
    state
      .command("rebind")
      .description("the state belongs to the service of these settings; every bound id is looked for first"),
  ).action(async (options: StateOptions) => {
    const { stateRebind } = await import("./rebind.ts");
    done(await stateRebind(options, env, at(options)));
  });
  withStateOptions(
    state
      .command("unlock")
      .description("remove a lock whose holder is gone; without an id: say who holds it"),
  )
    .argument("[id]", "as the message about the lock says it")
    .option("--force", "also from a holder that is at work")
    .action(async (id: string | undefined, options: StateOptions & { force?: boolean }) => {
      const { stateUnlock } = await import("./state-commands.ts");
      done(await stateUnlock(id, options, at(options)));
    });
}

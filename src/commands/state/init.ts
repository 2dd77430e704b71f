/** @module Prepares the store of a state, tries what it must be able to do, and says what it can do. */
import { exitCodes } from "../../model/errors.ts";
import type { StateDocument } from "../../model/state.ts";
import { stores } from "../../model/stores/index.ts";
import { openProject } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import { jsonText } from "../../report/json-text.ts";
import { amount } from "../../report/words.ts";
import type { KeptStore } from "../../state/store.ts";
import type { ManifestOptions } from "../options.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** `state init`: makes what the store needs (a folder, a schema) and tries it. Makes no state. Throws `state-unsuitable`. */
export async function stateInit(
  options: ManifestOptions & { readonly json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { location, store } = await openProject(options, settings);
  try {
    await store.prepare();
    await store.probe();
    const found = await foundIn(store);
    const { refusesStaleWrites, locksExpire, source } = stores[location.type];
    const facts = {
      refusesStaleWrites,
      locksExpire,
      versions: (await store.history()) !== undefined,
      // Without conditions every write would replace the state itself: only one that is there proves anything.
      writesTried: refusesStaleWrites || found !== undefined,
    };
    if (options.json === true) {
      terminal.out(
        `${jsonText({ where: store.where, type: location.type, ...facts, state: found ?? null })}\n`,
      );
      return exitCodes.done;
    }
    const lines = [
      facts.writesTried
        ? `${store.where} can keep the state.`
        : `${store.where} answers and keeps its lock. Nothing was written: the first run that writes reads it back before it creates anything.`,
      `  credentials   ${source(location, settings.variable)}`,
      `  a stale write ${facts.refusesStaleWrites ? "is refused by the store" : "is refused by serial and lock alone: this protocol compares nothing"}`,
      `  a lock        ${facts.locksExpire ? "ends by itself when its holder has died" : "stays until somebody removes it by its id: graphform state unlock ID"}`,
      `  versions      ${facts.versions ? "are kept: graphform state history" : "are not kept there"}`,
      `  the state     ${found === undefined ? "does not exist yet; the first apply makes it" : `is at version ${found.serial}, ${amount(found.resources, "resource")}`}`,
    ];
    terminal.out(lines.map((line) => `${escapeText(line, 600)}\n`).join(""));
    return exitCodes.done;
  } finally {
    await store.close();
  }
}

async function foundIn(
  store: KeptStore,
): Promise<{ readonly serial: StateDocument["serial"]; readonly resources: number } | undefined> {
  const state = await store.read();
  return state && { serial: state.serial, resources: Object.keys(state.resources).length };
}

/** @module Puts a version of the state back, as its newest one. */
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError, isGraphformError } from "../../model/errors.ts";
import { openProject } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { whileHeld } from "../../project/while-held.ts";
import { amount } from "../../report/amounts.ts";
import { escapeText } from "../../report/escape.ts";
import { emptyState, nextVersion } from "../../state/document.ts";
import { stateFormatter } from "../../state/format-state.ts";
import type { KeptStore } from "../../state/kept-store.ts";
import { readState } from "../../state/read-state.ts";
import type { Stored } from "../../state/remote/driver.ts";
import { lockWarning } from "../lock-warning.ts";
import type { ManifestOptions } from "../options.ts";
import type { Terminal } from "../terminal.ts";

/**
 * `state restore VERSION`: stores a kept version as the newest one; `current` the document that is there, however old it is; `none` an
 * empty state. The number of the result is above that of every version that is kept. Throws `version-unknown`, `state-missing`.
 */
export async function stateRestore(
  version: string,
  options: ManifestOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { store, header } = await openProject(options, settings);
  try {
    const lock = await store.lock("state restore", {
      clock: systemClock,
      timeout: options.lockTimeout ?? 0,
      warn: lockWarning(terminal),
    });
    const message = await whileHeld(lock, () => restored(store, version, header.name));
    terminal.out(`${message}\n`);
    return exitCodes.done;
  } finally {
    await store.close();
  }
}

async function restored(store: KeptStore, version: string, name: string): Promise<string> {
  const current = await storedText(store);
  const text = version === "none" ? undefined : await textOf(store, version, current);
  const state =
    text === undefined ? emptyState(name) : readState(text, `${store.where} (version ${version})`, name);
  const kept = (await store.history()) ?? [];
  const newest = Math.max(state.serial, serialIn(current), ...kept.map(({ serial }) => serial));
  const next = { ...state, ...nextVersion({ serial: newest }, systemClock.now()) };
  await store.replaceText(stateFormatter()(next), current?.version);
  const what = amount(Object.keys(next.resources).length, "resource");
  return `${escapeText(store.where, 300)} has ${what} now, as version ${next.serial}; graphform plan shows what is there.`;
}

/** The stored text; undefined also where its loss is why somebody restores it. */
async function storedText(store: KeptStore): Promise<Stored | undefined> {
  try {
    return await store.readText();
  } catch (error) {
    if (isGraphformError(error) && error.code === "state-gone") return undefined;
    throw error;
  }
}

async function textOf(store: KeptStore, version: string, current: Stored | undefined): Promise<string> {
  if (version !== "current") return store.readVersion(version);
  if (current !== undefined) return current.text;
  throw new GraphformError("state-missing", `nothing is stored at ${store.where}`, {
    hint: "graphform state history lists the versions that are kept",
  });
}

function serialIn(stored: Stored | undefined): number {
  const [, serial] = /"serial":\s*(\d+)/.exec(stored?.text ?? "") ?? [];
  return Number(serial ?? 0);
}

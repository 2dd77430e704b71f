/** @module Puts a version of the state back, as its newest one. */
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError, isGraphformError } from "../../model/errors.ts";
import type { StateDocument } from "../../model/state.ts";
import { whileHeld } from "../../project/open-run.ts";
import { openProject, type Project } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import { amount } from "../../report/words.ts";
import { assertSameManifest } from "../../state/claim-state.ts";
import { emptyState, nextVersion, stateFormatter } from "../../state/document.ts";
import { readState } from "../../state/read-state.ts";
import type { KeptStore, Stored } from "../../state/store.ts";
import type { ManifestOptions } from "../options.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { lockWarning } from "../with-run.ts";

/**
 * `state restore VERSION`: stores a kept version as the newest one; `current` the document that is there, however old it is; `none` an
 * empty state. The number of the result is above that of every version that is kept. Throws `version-unknown`, `state-missing`, and
 * `state-manifest` if what it replaces, or with `none` what was there last, is another manifest's.
 */
export async function stateRestore(
  version: string,
  options: ManifestOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const project = await openProject(options, settings);
  const { store } = project;
  try {
    const lock = await store.lock("state restore", {
      clock: systemClock,
      timeout: options.lockTimeout ?? 0,
      warn: lockWarning(terminal),
    });
    const message = await whileHeld(lock, () => restored(project, version));
    terminal.out(`${message}\n`);
    return exitCodes.done;
  } finally {
    await store.close();
  }
}

async function restored({ store, header, identity }: Project, version: string): Promise<string> {
  const { name } = header;
  const current = await storedText(store);
  const kept = (await store.history()) ?? [];
  const replaced = current?.text ?? (version === "none" ? await newestText(store, kept) : undefined);
  const owned = replaced === undefined ? undefined : readable(replaced, store.where, name);
  if (owned !== undefined) assertSameManifest(owned, identity, store.where);
  const text = version === "none" ? undefined : await textOf(store, version, current);
  const state =
    text === undefined ? emptyState(name) : readState(text, `${store.where} (version ${version})`, name);
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

async function newestText(
  store: KeptStore,
  [newest]: readonly { readonly id: string }[],
): Promise<string | undefined> {
  return newest && store.readVersion(newest.id);
}

/** The state that a text says; undefined if it cannot be used, which may be the reason for a restore. Throws `state-name`. */
function readable(text: string, where: string, name: string): StateDocument | undefined {
  try {
    return readState(text, where, name);
  } catch (error) {
    if (isGraphformError(error) && error.code === "state-name") throw error;
    return undefined;
  }
}

function serialIn(stored: Stored | undefined): number {
  const [, serial] = /"serial":\s*(\d+)/.exec(stored?.text ?? "") ?? [];
  return Number(serial ?? 0);
}

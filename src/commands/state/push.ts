/** @module Puts back what a run could not store when its store went away. */
import { readFile } from "node:fs/promises";
import { fileTrouble } from "../../files/file-trouble.ts";
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { openProject } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { whileHeld } from "../../project/while-held.ts";
import { amount } from "../../report/amounts.ts";
import { escapeText } from "../../report/escape.ts";
import { jsonText } from "../../report/json-text.ts";
import { nextVersion } from "../../state/document.ts";
import { type ErroredState, fitsStored, readErroredState, stateDigest } from "../../state/errored-state.ts";
import { stateFormatter } from "../../state/format-state.ts";
import type { KeptStore } from "../../state/kept-store.ts";
import { readState } from "../../state/read-state.ts";
import type { ManifestOptions } from "../options.ts";
import type { Terminal } from "../terminal.ts";

/**
 * `state push FILE`: stores, under the lock, the state that a run kept in a local file, where nobody has written since. Prints
 * nothing of it but its version. Throws `state-foreign` for another file, and `push-refused`.
 */
export async function statePush(
  file: string,
  options: ManifestOptions & { readonly json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { store, header } = await openProject(options, settings);
  try {
    const errored = readErroredState(await textOf(file), file, header.name);
    const timeout = options.lockTimeout ?? 0;
    const lock = await store.lock("state push", { clock: systemClock, timeout });
    const serial = await whileHeld(lock, () => push(store, errored, file, header.name));
    const resources = Object.keys(errored.state.resources).length;
    if (options.json === true) terminal.out(`${jsonText({ where: store.where, serial, resources })}\n`);
    else {
      const where = escapeText(store.where, 300);
      terminal.out(`${where} is at version ${serial} now, ${amount(resources, "resource")}.\n`);
      terminal.err(
        `${escapeText(file, 300)} is not needed any more; run the command again that was cut short\n`,
      );
    }
    return exitCodes.done;
  } finally {
    await store.close();
  }
}

async function push(store: KeptStore, errored: ErroredState, file: string, name: string): Promise<number> {
  const stored = await store.readText();
  const current = stored && readState(stored.text, store.where, name);
  const { state } = errored;
  // The same file once more, after an answer that was lost.
  if (current !== undefined && stateDigest(current) === stateDigest(state)) return current.serial;
  if (current !== undefined && current.lineage !== state.lineage)
    throw refused(
      file,
      `${store.where} holds a state of another history`,
      "name the state that the run worked with",
    );
  if (!fitsStored(errored, current))
    throw refused(
      file,
      `${store.where} was written to since that run`,
      "run the command again without it: creates that were announced are looked for, and what was bound since is kept; compare with graphform state pull",
    );
  const next = {
    ...state,
    ...nextVersion({ serial: Math.max(state.serial - 1, current?.serial ?? 0) }, systemClock.now()),
  };
  await store.replaceText(stateFormatter()(next), stored?.version);
  return next.serial;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new GraphformError("push-unreadable", `${file} cannot be read: ${fileTrouble(cause)}`, {
      hint: "name the file that the run named",
      cause,
    });
  }
}

function refused(file: string, why: string, hint: string): GraphformError {
  return new GraphformError("push-refused", `${file} is not stored: ${why}`, { hint });
}

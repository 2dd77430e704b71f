/** @module Puts back what a run could not store when its store went away. */
import { readFile } from "node:fs/promises";
import { removeDurably } from "../../files/atomic-write.ts";
import { fileTrouble, isFileError } from "../../files/file-trouble.ts";
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { whileHeld } from "../../project/open-run.ts";
import { openProject } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import { jsonText } from "../../report/json-text.ts";
import { amount } from "../../report/words.ts";
import { readErroredState } from "../../state/errored-file.ts";
import { pushErrored } from "../../state/errored-state.ts";
import type { ManifestOptions } from "../options.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { lockWarning } from "../with-run.ts";

/**
 * `state push FILE`: stores, under the lock, the state that a run kept in a local file, where nobody has written since, and
 * removes the file. Prints nothing of it but its version. Throws `state-foreign` for another file, and `push-refused`.
 */
export async function statePush(
  file: string,
  options: ManifestOptions & { readonly json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { store, header, identity } = await openProject(options, settings);
  try {
    const errored = readErroredState(await textOf(file), file, header.name);
    const timeout = options.lockTimeout ?? 0;
    const lock = await store.lock("state push", {
      clock: systemClock,
      timeout,
      isPush: true,
      warn: lockWarning(terminal),
    });
    const { state, isStored } = await whileHeld(lock, () =>
      pushErrored(store, { errored, file, name: header.name, manifest: identity, clock: systemClock }),
    );
    const isRemoved = await removeDurably(file).then(
      () => true,
      () => false,
    );
    const { serial } = state;
    const resources = Object.keys(state.resources).length;
    if (options.json === true) terminal.out(`${jsonText({ where: store.where, serial, resources })}\n`);
    else {
      const where = escapeText(store.where, 300);
      terminal.out(`${where} is at version ${serial} now, ${amount(resources, "resource")}.\n`);
    }
    const why = isStored ? "" : ": it was stored already, or everything that it names was found since";
    terminal.err(
      `${escapeText(file, 300)} is not needed any more${why}${isRemoved ? ", and was removed" : "; remove it"}; run the command again that was cut short\n`,
    );
    return exitCodes.done;
  } finally {
    await store.close();
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new GraphformError("push-unreadable", `${file} cannot be read: ${fileTrouble(cause)}`, {
      hint: isFileError(cause, "ENOENT")
        ? "name the file that the run named; one that was stored is removed"
        : "name the file that the run named",
      cause,
    });
  }
}

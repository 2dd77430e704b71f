/** @module Lists the versions of a state that its store still has, and prints one of them. */
import { exitCodes } from "../../model/errors.ts";
import type { StateDocument } from "../../model/state.ts";
import { openProject, type Project } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import { jsonText } from "../../report/json-text.ts";
import { readState } from "../../state/read-state.ts";
import type { ManifestOptions } from "../options.ts";
import { tableText } from "../terminal/table-text.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** `state history`: the versions before the current one that the store still has, newest first. */
export async function stateHistory(
  options: ManifestOptions & { readonly json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { store } = await openProject(options, settings);
  try {
    const versions = await store.history();
    if (options.json === true) {
      terminal.out(`${jsonText((versions ?? []).map((version) => ({ ...version })))}\n`);
      return exitCodes.done;
    }
    if (versions === undefined || versions.length === 0) {
      const where = escapeText(store.where, 300);
      terminal.out(
        versions === undefined ? `${where} keeps no versions.\n` : `No earlier version at ${where}.\n`,
      );
      return exitCodes.done;
    }
    const rows = versions.map(({ id, serial, savedAt }) => [String(serial), savedAt, id]);
    terminal.out(tableText(["version", "saved", "id"], rows, terminal));
    terminal.err("graphform state pull ID prints one, graphform state restore ID puts it back\n");
    return exitCodes.done;
  } finally {
    await store.close();
  }
}

/** The state as it was in a kept version. Throws `version-unknown`. */
export async function versionOf({ store, header }: Project, id: string): Promise<StateDocument> {
  return readState(await store.readVersion(id), `${store.where} (version ${id})`, header.name);
}

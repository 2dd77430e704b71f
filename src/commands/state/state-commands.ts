/** @module Reads and edits the state: list, show, pull, mv, rm, unlock. */
import { kinds } from "../../kinds/index.ts";
import { parseAddress } from "../../model/address.ts";
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import type { Journal } from "../../model/journal.ts";
import { own } from "../../model/json.ts";
import type { StateDocument } from "../../model/state.ts";
import { renamedReferences } from "../../plan/moves.ts";
import { whileHeld } from "../../project/open-run.ts";
import { openProject, type Project } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import { jsonText } from "../../report/json-text.ts";
import { makePalette } from "../../report/palette.ts";
import { shownState } from "../../report/shown.ts";
import { stateJson } from "../../report/state-json.ts";
import { stateText } from "../../report/state-text.ts";
import { kindNames } from "../../report/words.ts";
import { assertSameManifest } from "../../state/claim-state.ts";
import { emptyState } from "../../state/document.ts";
import { openJournal } from "../../state/journal.ts";
import { holderName, holderSince, holderWork, unlockHint } from "../../state/lock-words.ts";
import { boundAt } from "../bound-objects.ts";
import type { ManifestOptions } from "../options.ts";
import { tableText } from "../terminal/table-text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { lockWarning } from "../with-run.ts";
import { versionOf } from "./history.ts";

type StateOptions = ManifestOptions & { readonly json?: boolean };

/** `state list`: prints every address with its id. */
export async function stateList(
  options: StateOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { project, state } = await readState(options, settings);
  const rows = Object.entries(state.resources).sort(([left], [right]) => left.localeCompare(right));
  if (options.json === true) {
    terminal.out(`${jsonText(rows.map(([address, { kind, id }]) => ({ address, kind, id })))}\n`);
  } else if (rows.length === 0) {
    const where = escapeText(project.store.where, 300);
    terminal.out(state.serial === 0 ? `No state at ${where}.\n` : "The state has no resources.\n");
  } else {
    const cells = rows.map(([address, bound]) => [address, bound.id, bound.converging?.operation ?? ""]);
    terminal.out(tableText(["address", "id", "converging"], cells, terminal));
  }
  return exitCodes.done;
}

/** `state show ADDRESS`: prints the recorded values of one resource. Throws `not-bound`. */
export async function stateShow(
  address: string,
  options: StateOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { state } = await readState(options, settings);
  const only: StateDocument = {
    ...state,
    resources: { [address]: boundAt(state, address) },
    intents: {},
    rounds: {},
    outputs: {},
  };
  print(only, options, terminal);
  return exitCodes.done;
}

/** `state pull`: prints the whole state as JSON, without its key; with `version` one that the store still has. */
export async function statePull(
  version: string | undefined,
  options: StateOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const state =
    version === undefined
      ? (await readState(options, settings)).state
      : await versionOf(await openProject(options, settings), version);
  print(state, { ...options, json: true }, terminal);
  return exitCodes.done;
}

/** `state mv FROM TO`: binds an object to another address, as `moved` in the manifest does. Throws `bound-already`. */
export async function stateMove(
  from: string,
  to: string,
  options: StateOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  return editState("state mv", options, settings, terminal, async (state, journal) => {
    const bound = boundAt(state, from);
    const parts = parseAddress(to);
    if (parts === undefined || parts.section !== bound.kind) {
      throw new GraphformError("address-invalid", `${to} is not an address of ${bound.kind}`, {
        hint: `write it like ${bound.kind}.orders`,
      });
    }
    const taken = own(state.resources, to) ?? own(state.intents, to);
    if (taken !== undefined)
      throw new GraphformError("bound-already", `${to} is taken already`, {
        hint: "graphform state list shows its id",
      });
    const renamed = renamedReferences(state, from, to, kinds);
    await journal.record({ type: "moved", from, to, renamed });
    return `${escapeText(from, 300)} is now ${escapeText(to, 300)}; declare it there.\n`;
  });
}

/** `state rm ADDRESS`: removes an object from the state and leaves it running, or removes an unconfirmed create. */
export async function stateRemove(
  address: string,
  options: StateOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  return editState("state rm", options, settings, terminal, async (state, journal) => {
    if (Object.hasOwn(state.intents, address) && !Object.hasOwn(state.resources, address)) {
      await journal.record({ type: "create-abandoned", address });
      return `${escapeText(address, 300)} had an unconfirmed create; it is removed from the state.\n`;
    }
    const { id } = boundAt(state, address);
    await journal.record({ type: "released", address });
    return `${escapeText(address, 300)} is removed from the state; ${escapeText(id, 100)} keeps running.\n`;
  });
}

/**
 * `state unlock ID`: removes a lock whose process has ended, or any lock with `force`. Without an id it prints the holder of
 * the lock.
 */
export async function stateUnlock(
  id: string | undefined,
  options: StateOptions & { readonly force?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const { store } = await openProject(options, settings);
  const holder = await store.holder();
  if (id === undefined) {
    if (holder === undefined) terminal.out("The state is not locked.\n");
    else {
      const since = `The state is locked by ${holderName(holder)}${holderWork(holder)}${holderSince(holder)}; ${unlockHint(holder)}`;
      terminal.out(`${escapeText(since)}\n`);
    }
    return exitCodes.done;
  }
  const removed = await store.unlock(id, { force: options.force === true });
  terminal.out(
    `Unlocked; the lock was held by ${escapeText(`${removed.who}${holderWork(removed)}`, 300)}.\n`,
  );
  return exitCodes.done;
}

async function readState(
  options: StateOptions,
  settings: Settings,
): Promise<{ readonly project: Project; readonly state: StateDocument }> {
  const project = await openProject(options, settings);
  return { project, state: (await project.store.read()) ?? emptyState(project.header.name) };
}

/** Edits the state under its lock, and prints what `work` returns once it is stored. Throws `state-missing`, `state-manifest`. */
async function editState(
  operation: string,
  options: StateOptions,
  settings: Settings,
  terminal: Terminal,
  work: (state: StateDocument, journal: Journal) => Promise<string>,
): Promise<number> {
  const { store, identity } = await openProject(options, settings);
  const lock = await store.lock(operation, {
    clock: systemClock,
    timeout: options.lockTimeout ?? 0,
    warn: lockWarning(terminal),
  });
  const done = await whileHeld(lock, async () => {
    const state = await store.read();
    if (state === undefined)
      throw new GraphformError("state-missing", `no state at ${store.where}`, {
        hint: "nothing was applied or imported yet",
      });
    assertSameManifest(state, identity, store.where);
    return work(state, openJournal(store, state, systemClock));
  });
  terminal.out(done);
  return exitCodes.done;
}

function print(state: StateDocument, options: StateOptions, terminal: Terminal): void {
  const names = kindNames(kinds.all);
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  const shown = shownState(state, names);
  terminal.out(options.json === true ? `${jsonText(stateJson(shown, names))}\n` : stateText(shown, page));
}

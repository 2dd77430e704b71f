/** @module Reads the state: list, show, pull, history, and init, which tries its store. */
import { systemClock } from "../../model/clock.ts";
import { exitCodes } from "../../model/errors.ts";
import type { StateDocument } from "../../model/state.ts";
import { stores } from "../../model/stores/index.ts";
import { whileHeld } from "../../project/open-run.ts";
import { openProject, type Project } from "../../project/project.ts";
import { escapeText, jsonText } from "../../report/typeset.ts";
import { amount } from "../../report/words.ts";
import { emptyState } from "../../state/document.ts";
import { readState } from "../../state/read-state.ts";
import { boundAt } from "../bound-objects.ts";
import { printState } from "../show.ts";
import { tableText } from "../terminal/table-text.ts";
import { type Invocation, lockWarning } from "../with-run.ts";

/** `state list`: prints every address with its id. */
export function stateList(invocation: Invocation): Promise<number> {
  const { options, terminal } = invocation;
  return withStore(invocation, async (project) => {
    const state = await stored(project);
    const rows = Object.entries(state.resources).sort(([left], [right]) => left.localeCompare(right));
    if (options.json === true) {
      terminal.out(`${jsonText(rows.map(([address, { kind, id }]) => ({ address, kind, id })))}\n`);
    } else if (rows.length === 0) {
      const none = `No state at ${redactedPlace(project.store)}.\n`;
      terminal.out(state.serial === 0 ? none : "The state has no resources.\n");
    } else {
      const cells = rows.map(([address, bound]) => [address, bound.id, bound.converging?.operation ?? ""]);
      terminal.out(tableText(["address", "id", "converging"], cells, terminal));
    }
    return exitCodes.done;
  });
}

/** `state show ADDRESS`: prints the recorded values of one resource. Throws `not-bound`. */
export function stateShow(invocation: Invocation, address: string): Promise<number> {
  return withStore(invocation, async (project) => {
    const state = await stored(project);
    const resources = { [address]: boundAt(state, address) };
    return printState({ ...state, resources, intents: {}, rounds: {}, outputs: {} }, invocation);
  });
}

/** `state pull`: prints the whole state as JSON, without its key; with `version` one that the store still has. Throws `version-unknown`. */
export function statePull(invocation: Invocation, version: string | undefined): Promise<number> {
  const asJson = { ...invocation, options: { ...invocation.options, json: true } };
  return withStore(invocation, async (project) => {
    if (version === undefined) return printState(await stored(project), asJson);
    const { store, header } = project;
    const text = await store.readVersion(version);
    return printState(readState(text, `${store.where} (version ${version})`, header.name), asJson);
  });
}

/** `state history`: prints the versions before the current one that the store still has, newest first. */
export function stateHistory(invocation: Invocation): Promise<number> {
  const { options, terminal } = invocation;
  return withStore(invocation, async ({ store }) => {
    const versions = await store.history();
    if (options.json === true) {
      terminal.out(`${jsonText((versions ?? []).map((version) => ({ ...version })))}\n`);
    } else if (versions === undefined) terminal.out(`${redactedPlace(store)} keeps no versions.\n`);
    else if (versions.length === 0) terminal.out(`No earlier version at ${redactedPlace(store)}.\n`);
    else {
      const rows = versions.map(({ id, serial, savedAt }) => [String(serial), savedAt, id]);
      terminal.out(tableText(["version", "saved", "id"], rows, terminal));
      terminal.err("graphform state pull ID prints one, graphform state restore ID puts it back\n");
    }
    return exitCodes.done;
  });
}

/** `state init`: makes what the store needs (a folder, a schema) and tries it. Makes no state. Throws `state-unsuitable`. */
export function stateInit(invocation: Invocation): Promise<number> {
  const { options, settings, terminal } = invocation;
  return withStore(invocation, async ({ location, store }) => {
    await store.prepare();
    await store.probe();
    const state = await store.read();
    const { refusesStaleWrites, locksExpire, source } = stores[location.type];
    const facts = {
      refusesStaleWrites,
      locksExpire,
      versions: (await store.history()) !== undefined,
      // Without conditions every write would replace the state itself: only an existing one proves anything.
      writesTried: refusesStaleWrites || state !== undefined,
    };
    if (options.json === true) {
      const found = state && { serial: state.serial, resources: Object.keys(state.resources).length };
      const document = { where: store.where, type: location.type, ...facts, state: found ?? null };
      terminal.out(`${jsonText(document)}\n`);
      return exitCodes.done;
    }
    const lines = [
      facts.writesTried
        ? `${store.where} can keep the state.`
        : `${store.where} answers and keeps its lock. Nothing was written: the first run that writes reads it back before it creates anything.`,
      `  credentials   ${source(location, settings.variable)}`,
      `  a stale write ${facts.refusesStaleWrites ? "is refused by the store" : "is refused by serial and lock alone: this protocol compares nothing"}`,
      `  a lock        ${facts.locksExpire ? "ends by itself when its holder has died" : "stays until it is removed by its id: graphform state unlock ID"}`,
      `  versions      ${facts.versions ? "are kept: graphform state history" : "are not kept there"}`,
      `  the state     ${state === undefined ? "does not exist yet; the first apply makes it" : `is at version ${state.serial}, ${resourcesOf(state)}`}`,
    ];
    terminal.out(lines.map((line) => `${escapeText(line, 600)}\n`).join(""));
    return exitCodes.done;
  });
}

async function stored({ store, header }: Project): Promise<StateDocument> {
  return (await store.read()) ?? emptyState(header.name);
}

/** Opens the project of an invocation for `work`, and closes its store. */
export async function withStore<T>(
  { options, settings }: Invocation,
  work: (project: Project) => Promise<T>,
): Promise<T> {
  const project = await openProject(options, settings);
  return work(project).finally(() => project.store.close());
}

/** Like `withStore`, with the lock of the state. `operation` is its name in the lock. */
export function withLock<T>(
  invocation: Invocation,
  operation: string,
  work: (project: Project) => Promise<T>,
): Promise<T> {
  const { options, terminal } = invocation;
  return withStore(invocation, async (project) => {
    const timeout = options.lockTimeout ?? 0;
    const isPush = operation === "state push";
    const lock = { clock: systemClock, timeout, isPush, warn: lockWarning(terminal) };
    return whileHeld(await project.store.lock(operation, lock), () => work(project));
  });
}

/** The number of resources of a state: `3 resources`. */
export function resourcesOf({ resources }: StateDocument): string {
  return amount(Object.keys(resources).length, "resource");
}

export function redactedPlace({ where }: Project["store"]): string {
  return escapeText(where, 300);
}

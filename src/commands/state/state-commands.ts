import { kinds } from "../../kinds/index.ts";
import { parseAddress } from "../../model/address.ts";
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import type { Journal } from "../../model/journal.ts";
import { own } from "../../model/own.ts";
import type { StateDocument } from "../../model/state.ts";
import { renamedReferences } from "../../plan/moves.ts";
import { openProject, type Project } from "../../project/project.ts";
import { escapeText } from "../../report/escape.ts";
import { jsonText } from "../../report/json-text.ts";
import { kindNames } from "../../report/kind-words.ts";
import { makePalette } from "../../report/palette.ts";
import { stateJson } from "../../report/state-json.ts";
import { stateText } from "../../report/state-text.ts";
import { emptyState } from "../../state/document.ts";
import { openJournal } from "../../state/journal.ts";
import { boundAt } from "../bound-at.ts";
import type { ManifestOptions } from "../options.ts";
import { tableText } from "../table-text.ts";
import type { Terminal } from "../terminal.ts";

type StateOptions = ManifestOptions & { readonly json?: boolean };

/** `state list`: every address with what it is bound to. */
export async function stateList(options: StateOptions, terminal: Terminal): Promise<number> {
  const { project, state } = await opened(options);
  const rows = Object.entries(state.resources).sort(([left], [right]) => left.localeCompare(right));
  if (options.json === true) {
    terminal.out(`${jsonText(rows.map(([address, { kind, id }]) => ({ address, kind, id })))}\n`);
  } else if (rows.length === 0) {
    const where = escapeText(project.store.where, 300);
    terminal.out(state.serial === 0 ? `No state at ${where}.\n` : "The state binds nothing.\n");
  } else {
    const cells = rows.map(([address, bound]) => [address, bound.id, bound.converging?.operation ?? ""]);
    terminal.out(tableText(["address", "id", "converging"], cells, makePalette(terminal.colour)));
  }
  return exitCodes.done;
}

/** `state show ADDRESS`: what is remembered of one resource. */
export async function stateShow(address: string, options: StateOptions, terminal: Terminal): Promise<number> {
  const { state } = await opened(options);
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

/** `state pull`: the whole state as JSON, without its key. */
export async function statePull(options: StateOptions, terminal: Terminal): Promise<number> {
  const { state } = await opened(options);
  print(state, { ...options, json: true }, terminal);
  return exitCodes.done;
}

/** `state mv FROM TO`: gives a bound object another address, as the manifest's `moved` does. */
export async function stateMove(
  from: string,
  to: string,
  options: StateOptions,
  terminal: Terminal,
): Promise<number> {
  return changed("state mv", options, async (state, journal) => {
    const bound = boundAt(state, from);
    const parts = parseAddress(to);
    if (parts === undefined || parts.section !== bound.kind) {
      throw new GraphformError("address-invalid", `${to} is no address of ${bound.kind}`, {
        hint: `write it like ${bound.kind}.orders`,
      });
    }
    const taken = own(state.resources, to) ?? own(state.intents, to);
    if (taken !== undefined)
      throw new GraphformError("bound-already", `${to} is taken already`, {
        hint: "graphform state list shows by what",
      });
    const renamed = renamedReferences(state, from, to, kinds);
    await journal.record({ type: "moved", from, to, renamed });
    terminal.out(`${escapeText(from, 300)} is ${escapeText(to, 300)} now; declare it there.\n`);
  });
}

/** `state rm ADDRESS`: lets go of an object and leaves it running, or of a create whose answer was lost. */
export async function stateRemove(
  address: string,
  options: StateOptions,
  terminal: Terminal,
): Promise<number> {
  return changed("state rm", options, async (state, journal) => {
    if (Object.hasOwn(state.intents, address) && !Object.hasOwn(state.resources, address)) {
      await journal.record({ type: "create-abandoned", address });
      terminal.out(
        `${escapeText(address, 300)} was announced and never acknowledged; that is forgotten now.\n`,
      );
      return;
    }
    const { id } = boundAt(state, address);
    await journal.record({ type: "released", address });
    terminal.out(`${escapeText(address, 300)} is let go of; ${escapeText(id, 100)} goes on as it is.\n`);
  });
}

/**
 * `state unlock ID`: takes a lock away whose holder is gone; from one that lives only with `--force`. Without an id it says
 * who holds it.
 */
export async function stateUnlock(
  id: string | undefined,
  options: StateOptions & { readonly force?: boolean },
  terminal: Terminal,
): Promise<number> {
  const { store } = await openProject(options);
  const holder = await store.holder();
  if (id === undefined) {
    if (holder === undefined) terminal.out("The state is not locked.\n");
    else {
      const since = `${holder.who} (process ${holder.pid}) holds it for ${holder.operation} since ${holder.created}`;
      terminal.out(
        `${escapeText(since)}.\nIf that process is surely gone: graphform state unlock ${holder.id}\n`,
      );
    }
    return exitCodes.done;
  }
  const { who, operation } = await store.unlock(id, { force: options.force === true });
  terminal.out(`Unlocked; it was held by ${escapeText(who, 200)} for ${escapeText(operation, 100)}.\n`);
  return exitCodes.done;
}

async function opened(
  options: StateOptions,
): Promise<{ readonly project: Project; readonly state: StateDocument }> {
  const project = await openProject(options);
  return { project, state: (await project.store.read()) ?? emptyState(project.header.name) };
}

async function changed(
  operation: string,
  options: StateOptions,
  work: (state: StateDocument, journal: Journal) => Promise<void>,
): Promise<number> {
  const { store } = await openProject(options);
  const lock = await store.lock(operation, { clock: systemClock, timeout: options.lockTimeout ?? 0 });
  try {
    const state = await store.read();
    if (state === undefined)
      throw new GraphformError("state-missing", `no state at ${store.where}`, {
        hint: "nothing was applied or imported yet",
      });
    await work(state, openJournal(store, state, systemClock));
    return exitCodes.done;
  } finally {
    await lock.release();
  }
}

function print(state: StateDocument, options: StateOptions, terminal: Terminal): void {
  const names = kindNames(kinds);
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  terminal.out(
    options.json === true ? `${jsonText(stateJson(state, names))}\n` : stateText(state, names, page),
  );
}

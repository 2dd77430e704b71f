/** @module Edits the state: mv, rm, push, restore, rebind, unlock. */
import { readFile } from "node:fs/promises";
import { removeDurably } from "../../files/atomic-write.ts";
import { fileTrouble, isFileError } from "../../files/file-trouble.ts";
import { kinds } from "../../kinds/index.ts";
import { type Address, parseAddress } from "../../model/address.ts";
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError, isGraphformError, shellWord } from "../../model/errors.ts";
import { own } from "../../model/json.ts";
import { firstOf } from "../../model/quantity.ts";
import { filesNotGiven, manifestDifference, serviceDifferences } from "../../model/service-identity.ts";
import type { Bound, StateDocument } from "../../model/state.ts";
import type { Journal } from "../../model/state-event.ts";
import { parentsIn } from "../../model/templates.ts";
import { renamedReferences } from "../../plan/moves.ts";
import { type Run, unresolved } from "../../project/open-run.ts";
import type { Project } from "../../project/project.ts";
import { escapeText, jsonText } from "../../report/typeset.ts";
import { amount } from "../../report/words.ts";
import { assertSameManifest, isEmpty } from "../../state/claim-state.ts";
import { emptyState, nextVersion, stateFormatter } from "../../state/document.ts";
import { readErroredState } from "../../state/errored-file.ts";
import { pushErrored } from "../../state/errored-state.ts";
import { openJournal } from "../../state/journal.ts";
import { holderName, holderSince, holderWork, unlockHint } from "../../state/lock-words.ts";
import { readState } from "../../state/read-state.ts";
import type { DurableStore, Stored } from "../../state/store.ts";
import { boundAt } from "../bound-objects.ts";
import { type Invocation, type InvocationWith, withRun } from "../with-run.ts";
import { redactedPlace, resourcesOf, withLock, withStore } from "./show-state.ts";

/** `state mv FROM TO`: binds an object to another address, as `moved` in the manifest does. Throws `bound-already`. */
export function stateMove(invocation: Invocation, from: string, to: string): Promise<number> {
  return editState(invocation, "state mv", async (state, journal) => {
    const bound = boundAt(state, from);
    if (parseAddress(to)?.section !== bound.kind)
      throw new GraphformError("address-invalid", `${to} is not an address of ${bound.kind}`, {
        hint: `write it like ${bound.kind}.orders`,
      });
    if (own(state.resources, to) !== undefined || own(state.intents, to) !== undefined)
      throw new GraphformError("bound-already", `${to} is taken already`, {
        hint: "graphform state list shows its id",
      });
    await journal.record({ type: "moved", from, to, renamed: renamedReferences(state, from, to, kinds) });
    return `${escapeText(from, 300)} is now ${escapeText(to, 300)}; declare it there.`;
  });
}

/**
 * `state rm ADDRESS`: removes an object and everything inside of it from the state, and leaves all of it as it is; or removes an unconfirmed
 * create. With `dryRun` it removes nothing, and says what it would.
 */
export function stateRemove(
  invocation: InvocationWith<{ readonly dryRun?: boolean }>,
  address: string,
): Promise<number> {
  const { json, dryRun = false } = invocation.options;
  return editState(invocation, "state rm", async (state, journal) => {
    const all = recordedIn(state);
    const host = all.find((each) => each.address === address) ?? { address, ...boundAt(state, address) };
    const removed = [host, ...insideOf(host, all)];
    const addresses = removed.flatMap((each) => (each.id === undefined ? [] : each.address));
    if (!dryRun) {
      for (const each of removed)
        if (each.id === undefined) await journal.record({ type: "create-abandoned", address: each.address });
      await journal.record({ type: "released-together", addresses });
    }
    const gone = new Set(removed.map((each) => each.address));
    const referring = Object.entries(state.resources).flatMap(([each, { refs }]) =>
      refs.includes(address) && !gone.has(each) ? each : [],
    );
    if (json === true)
      return jsonText({ dryRun, removed: removed.map(({ place: _, ...entry }) => entry), referring });
    const lines = removed.map((each) => {
      const inside = each === host ? "" : `, inside of ${address},`;
      const rest = each.id === undefined ? "its create was not confirmed" : `${each.id} stays as it is`;
      return `${each.address}${inside} ${dryRun ? "would be" : "is"} removed from the state; ${rest}.`;
    });
    const refers = `${firstOf(referring, 5)} ${referring.length === 1 ? "refers" : "refer"} to ${address}`;
    const way = `if that is to stay in use, bind it before the next apply: graphform import ${shellWord(address)} ${host.id}`;
    const advice = referring.length === 0 || host.id === undefined ? [] : [`${refers}; ${way}`];
    return [...lines, ...advice].map((line) => escapeText(line, 1000)).join("\n");
  });
}

/** An address of a state with its object or, without an id, with its unconfirmed create. */
type Recorded = { readonly address: Address } & Pick<Bound, "kind" | "place"> & Partial<Pick<Bound, "id">>;

function recordedIn({ resources, intents, rounds }: StateDocument): readonly Recorded[] {
  const bound = Object.entries(resources).map(([address, { kind, id, place }]) => ({
    address,
    kind,
    id,
    place,
  }));
  const creates = Object.entries(intents).flatMap(([address, { round }]) => {
    const { kind, place } = rounds[round] ?? {};
    return kind === undefined || place === undefined ? [] : [{ address, kind, place }];
  });
  return [...bound, ...creates];
}

/** Everything that is found through an object, at any depth. */
function insideOf(host: Recorded, all: readonly Recorded[]): readonly Recorded[] {
  const isInside = ({ kind, place }: Recorded): boolean =>
    parentsIn(kinds.named(kind).schema, place).some(
      (parent) => parent.kind === host.kind && parent.id === host.id,
    );
  return all.filter(isInside).flatMap((each) => [each, ...insideOf(each, all)]);
}

/** Edits the state under its lock, and prints what `work` returns once it is stored. Throws `state-missing`, `state-manifest`. */
async function editState(
  invocation: Invocation,
  operation: string,
  work: (state: StateDocument, journal: Journal) => Promise<string>,
): Promise<number> {
  const done = await withLock(invocation, operation, async ({ store, identity }) => {
    const state = await store.read();
    if (state === undefined) throw stateMissing(store);
    assertSameManifest(state, identity, store.where);
    return work(state, openJournal(store, state, systemClock));
  });
  invocation.terminal.out(`${done}\n`);
  return exitCodes.done;
}

function stateMissing({ where }: Project["store"]): GraphformError {
  return new GraphformError("state-missing", `no state at ${where}`, {
    hint: "nothing was applied or imported yet",
  });
}

/** `state unlock ID`: removes a lock whose process has ended, or any lock with `force`. Without an id it prints the holder. */
export function stateUnlock(
  invocation: InvocationWith<{ readonly force?: boolean }>,
  id: string | undefined,
): Promise<number> {
  const { options, terminal } = invocation;
  return withStore(invocation, async ({ store }) => {
    if (id !== undefined) {
      const removed = await store.unlock(id, { force: options.force === true });
      const holder = escapeText(`${removed.who}${holderWork(removed)}`, 300);
      terminal.out(`Unlocked; the lock was held by ${holder}.\n`);
      return exitCodes.done;
    }
    const holder = await store.holder();
    const locked = holder && `${holderName(holder)}${holderWork(holder)}${holderSince(holder)}`;
    terminal.out(
      holder === undefined
        ? "The state is not locked.\n"
        : `${escapeText(`The state is locked by ${locked}; ${unlockHint(holder)}`)}\n`,
    );
    return exitCodes.done;
  });
}

/**
 * `state push FILE`: stores the state that a run kept in a local file, unless the stored one was written since, and removes the file. Prints
 * nothing of it but its version. Throws `state-foreign` for another file, and `push-refused`.
 */
export async function statePush(invocation: Invocation, file: string): Promise<number> {
  const { options, terminal } = invocation;
  const { store, state, isStored } = await withLock(invocation, "state push", async (project) => {
    const { store, header, identity } = project;
    const errored = readErroredState(await erroredText(file), file, header.name);
    const push = { errored, file, name: header.name, manifest: identity, clock: systemClock };
    return { store, ...(await pushErrored(store, push)) };
  });
  const isRemoved = await removeDurably(file).then(
    () => true,
    () => false,
  );
  const { serial } = state;
  const facts = { where: store.where, serial, resources: Object.keys(state.resources).length };
  terminal.out(
    options.json === true
      ? `${jsonText(facts)}\n`
      : `${redactedPlace(store)} is at version ${serial} now, ${resourcesOf(state)}.\n`,
  );
  const why = isStored ? "" : ": it was stored already, or everything that it names was found since";
  terminal.err(
    `${escapeText(file, 300)} is not needed any more${why}${isRemoved ? ", and was removed" : "; remove it"}; run the command again that was cut short\n`,
  );
  return exitCodes.done;
}

async function erroredText(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: unknown) => {
    const stored = isFileError(cause, "ENOENT") ? "; one that was stored is removed" : "";
    const hint = `name the file that the run named${stored}`;
    const message = `${file} cannot be read: ${fileTrouble(cause)}`;
    throw new GraphformError("push-unreadable", message, { hint, cause });
  });
}

/**
 * `state restore VERSION`: stores a kept version as the newest one; `current` the document that is there, however old it is; `none` an
 * empty state. The number of the result is above that of every version that is kept. Throws `version-unknown`, `state-missing`, and
 * `state-manifest` if what it replaces, or with `none` what was there last, is another manifest's.
 */
export async function stateRestore(invocation: Invocation, version: string): Promise<number> {
  const message = await withLock(invocation, "state restore", (project) => restored(project, version));
  invocation.terminal.out(`${message}\n`);
  return exitCodes.done;
}

async function restored({ store, header, identity }: Project, version: string): Promise<string> {
  const { name } = header;
  // A text that was lost may be the reason for the restore.
  const current = await store.readText().catch((error: unknown) => {
    if (isGraphformError(error) && error.code === "state-gone") return undefined;
    throw error;
  });
  const kept = (await store.history()) ?? [];
  const [newest] = version === "none" ? kept : [];
  const replaced = current?.text ?? (newest && (await store.readVersion(newest.id)));
  const owned = replaced === undefined ? undefined : readable(replaced, store.where, name);
  if (owned !== undefined) assertSameManifest(owned, identity, store.where);
  const state =
    version === "none"
      ? emptyState(name)
      : readState(await textOf(store, version, current), `${store.where} (version ${version})`, name);
  const [, serialIn = 0] = /"serial":\s*(\d+)/.exec(current?.text ?? "") ?? [];
  const serial = Math.max(state.serial, Number(serialIn), ...kept.map((each) => each.serial));
  const next = { ...state, ...nextVersion({ serial }, systemClock.now()) };
  await store.replaceText(stateFormatter()(next), current?.version);
  return `${redactedPlace(store)} has ${resourcesOf(next)} now, as version ${next.serial}; graphform plan shows what is there.`;
}

async function textOf(store: DurableStore, version: string, current: Stored | undefined): Promise<string> {
  if (version !== "current") return store.readVersion(version);
  if (current !== undefined) return current.text;
  throw new GraphformError("state-missing", `nothing is stored at ${store.where}`, {
    hint: "graphform state history lists the versions that are kept",
  });
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

/** `state rebind`: assigns the state to this manifest and service. Throws `rebind-refused`, and writes nothing, unless every bound id is found. */
export async function stateRebind(invocation: Invocation): Promise<number> {
  const wanted = { reading: unresolved, lock: "state rebind", claim: (state: StateDocument) => state };
  const message = await withRun(invocation, wanted, rebindUnderLock);
  invocation.terminal.out(`${message}\n`);
  return exitCodes.done;
}

async function rebindUnderLock(run: Run): Promise<string> {
  const { project, state, identity, service, signal } = run;
  if (state.serial === 0) throw stateMissing(project.store);
  const { service: before, manifest = {} } = state;
  const isSameService = before !== undefined && serviceDifferences(before, identity).length === 0;
  const { identity: mine } = project;
  const isSameManifest =
    manifestDifference(manifest, mine) === undefined && filesNotGiven(manifest, mine).length === 0;
  if (isSameService && isSameManifest) return "The state belongs to this service and this manifest already.";
  const bound = Object.entries(state.resources);
  if (bound.length === 0 && !isEmpty(state))
    throw rebindRefused(
      "it has no resource to check, and one create was not confirmed",
      "name the service where it was started, or forget the create: graphform state rm ADDRESS",
    );
  const missing: string[] = [];
  for (const [address, entry] of bound) {
    const live = await kinds.named(entry.kind).reader(service).get(entry, signal);
    if (live === undefined || live.phase.is === "gone") missing.push(`${address} (${entry.id})`);
  }
  const named = `${missing.slice(0, 5).join(", ")}${missing.length > 5 ? ", ..." : ""}`;
  if (missing.length > 0)
    throw rebindRefused(
      `${missing.length} of ${bound.length} resources are not shown there: ${named}`,
      "name another state with --state, or run again if they were shown a moment ago; remove those that are gone: graphform state rm ADDRESS",
    );
  await run.applying().journal.record({ type: "service-recorded", service: identity, manifest: mine });
  return `The state belongs to this manifest and to ${escapeText(identity.platform, 200)} now; ${amount(bound.length, "resource")} found there.`;
}

function rebindRefused(why: string, hint: string): GraphformError {
  return new GraphformError("rebind-refused", `the state stays with its service: ${why}`, { hint });
}

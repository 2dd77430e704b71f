/** @module Moves a state from one store to another, so that at every moment one is complete and no two are in use. */
import { randomBytes } from "node:crypto";
import type { Clock } from "../model/clock.ts";
import { exitCodes, GraphformError, isGraphformError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { ManifestIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import { assertSameManifest, isEmpty, isRenamed } from "./claim-state.ts";
import { nextVersion, stateFormatter } from "./document.ts";
import { type MovedDocument, movedDocument, movedText, refusalOf, stateMovedHere } from "./moved.ts";
import { misnamed, readState } from "./read-state.ts";
import type { DurableStore, Lock } from "./store.ts";

/** One end of a move. The caller of `moveState` holds both locks. */
export interface MoveEnd {
  readonly store: DurableStore;
  /** Leads there from anywhere; without credentials. */
  readonly address: string;
  readonly lock: Pick<Lock, "lost">;
}

export interface MoveOptions {
  readonly name: string;
  readonly manifest: ManifestIdentity;
  readonly clock: Clock;
  /** Aborted by Ctrl-C. */
  readonly stopping?: AbortSignal;
}

export interface Move {
  readonly state: StateDocument;
  /** True if an earlier run had moved it already, or in part. */
  readonly isResumed: boolean;
}

/** The document at one end of a move; empty if there is none. */
interface EndDocument {
  readonly state?: StateDocument;
  readonly moved?: MovedDocument;
  readonly version?: string;
}

/**
 * Moves a state in three writes, each of which is read back before the next one:
 *
 * 1. the new place gets the whole state in a form that says from where it is moved;
 * 2. the old place gets a tombstone: this write decides. Every run refuses the old place from here on;
 * 3. the new place gets the state itself. Until then every run refuses it too.
 *
 * After a kill the same call goes on, and no other command does. `stopping` ends it before the second write, and no more after it.
 * Throws `state-missing`, `state-manifest`, `state-exists`, `state-moved`, `state-moving`, and `state-copy` if a store gives back other text.
 */
export async function moveState(
  from: MoveEnd,
  to: MoveEnd,
  { name, manifest, clock, stopping }: MoveOptions,
): Promise<Move> {
  await assertReadable(from);
  await assertReadable(to);
  const { where } = from.store;
  const [old, fresh] = [await look(from.store), await look(to.store, name)];
  const { state, moved } = old;
  const after = (serial: number): ReturnType<typeof nextVersion> => nextVersion({ serial }, clock.now());
  if (moved?.document !== undefined) throw refusalOf(moved, where);
  const activate = async (copy: StateDocument, expected: string | undefined): Promise<StateDocument> => {
    const next = { ...copy, ...after(copy.serial) };
    await put(to, stateFormatter()(next), expected);
    const { state: found } = await look(to.store, name);
    if (found === undefined || stateFormatter()(found) !== stateFormatter()(next)) throw differs(to);
    return found;
  };
  if (moved !== undefined) {
    if (fresh.state?.lineage === moved.lineage) return { state: fresh.state, isResumed: true };
    // A copy of another move, which was given up, is older than the state that went elsewhere since.
    const copy = fresh.moved && stateMovedHere(fresh.moved, moved);
    if (copy === undefined) throw refusalOf(moved, where);
    return { state: await activate(copy, fresh.version), isResumed: true };
  }
  if (state === undefined)
    throw new GraphformError("state-missing", `no state at ${where}: there is nothing to move`, {
      hint: "name the new place in the manifest's state section; the first apply begins the state there",
    });
  assertSameManifest(state, manifest, where);
  if (state.name !== name && !isRenamed(state, manifest)) throw misnamed(where, state.name, name);
  assertReplaceable(fresh, state, to);
  const way = { move: randomBytes(8).toString("hex"), from: from.address, to: to.address };
  const serial = (fresh.state ?? fresh.moved)?.serial ?? 0;
  const copy = { ...state, name, ...after(Math.max(state.serial, serial)) };
  const still = `the state is still at ${where}`;
  const write = async (end: MoveEnd, text: string, version: string | undefined): Promise<string> => {
    if (stopping?.aborted) throw interruptedMove(still);
    return put(end, text, version);
  };
  const incoming = await write(to, movedText({ ...copy, ...way, document: copy }), fresh.version).catch(
    saying(still),
  );
  await write(from, movedText({ ...state, ...way, ...after(state.serial) }), old.version).catch(
    saying(still, `${where} says where the state is`),
  );
  const arrived = `the state is at ${to.store.where} now: the same command finishes the move`;
  const isResumed = fresh.moved?.document !== undefined;
  return { state: await activate(copy, incoming).catch(saying(arrived)), isResumed };
}

/** Throws the refusal that a run would get at this end; documents of moves, and another name, are looked at later. */
async function assertReadable({ store }: MoveEnd): Promise<void> {
  const later = ["state-moved", "state-moving", "state-name"];
  await store.read().catch((error: unknown) => {
    if (!isGraphformError(error) || !later.includes(error.code)) throw error;
  });
}

/** The end of a move by Ctrl-C. */
export function interruptedMove(where?: string): GraphformError {
  return new GraphformError("interrupted", where === undefined ? "interrupted" : `interrupted: ${where}`, {
    exitCode: exitCodes.interrupted,
    hint: "the same command goes on with the move",
  });
}

/** Adds to an error of a store where the state is; `unanswered` if a write without an answer may have been stored. */
function saying(where: string, unanswered = where): (error: unknown) => never {
  return (error) => {
    // After these another run may have moved it elsewhere.
    const isUnknown = ["interrupted", "lock-lost", "state-conflict"];
    if (!isGraphformError(error) || isUnknown.includes(error.code)) throw error;
    const { code, message, hint, exitCode } = error;
    const known = code === "state-unreachable" ? unanswered : where;
    const more = { exitCode, ...defined({ hint }), cause: error };
    throw new GraphformError(code, `${message}; ${known}`, more);
  };
}

/** Writes a text and reads it back. Returns its version. */
async function put({ store, lock }: MoveEnd, text: string, expected: string | undefined): Promise<string> {
  lock.lost.throwIfAborted();
  await store.replaceText(text, expected);
  const stored = await store.readText();
  if (stored?.text !== text) throw differs({ store });
  return stored.version;
}

async function look(store: DurableStore, name?: string): Promise<EndDocument> {
  const stored = await store.readText();
  if (stored === undefined) return {};
  const { text, version } = stored;
  const moved = movedDocument(text);
  return moved === undefined ? { state: readState(text, store.where, name), version } : { moved, version };
}

/** Throws unless nothing at the new place is needed. */
function assertReplaceable(
  { state, moved }: EndDocument,
  { lineage }: StateDocument,
  { store }: MoveEnd,
): void {
  if (state === undefined ? moved === undefined || moved.lineage === lineage : isEmpty(state)) return;
  const what = state === undefined ? "another state stood once, and was moved," : "there is a state";
  throw new GraphformError("state-exists", `${what} at ${store.where}: it is not overwritten`, {
    hint: "name an empty place, or remove the state that is there",
  });
}

function differs({ store }: Pick<MoveEnd, "store">): GraphformError {
  return new GraphformError("state-copy", `${store.where} does not give back what was written to it`, {
    hint: "the state was not put into use there; graphform doctor checks the store; then run the same command again",
  });
}

/** @module Moves a state from one store to another, so that at every moment one is complete and no two are in use. */

import { randomBytes } from "node:crypto";
import type { Clock } from "../model/clock.ts";
import { exitCodes, GraphformError, isGraphformError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { ManifestIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import { assertSameManifest, isEmpty } from "./claim-state.ts";
import { nextVersion, stateFormatter } from "./document.ts";
import {
  incomingText,
  type MovedDocument,
  movedDocument,
  refusalOf,
  stateMovedHere,
  tombstoneText,
} from "./moved.ts";
import { readState } from "./read-state.ts";
import type { KeptStore, Lock } from "./store.ts";

/** One end of a move. Both locks are held by who calls `moveState`. */
export interface MoveEnd {
  readonly store: KeptStore;
  /** Leads there from anywhere; without credentials. */
  readonly address: string;
  readonly lock: Pick<Lock, "lost">;
}

/** Options of `moveState`. */
export interface MoveOptions {
  /** The manifest's name. */
  readonly name: string;
  /** The manifest whose state it has to be. */
  readonly manifest: ManifestIdentity;
  readonly clock: Clock;
  /** Aborted by Ctrl-C. */
  readonly stopping?: AbortSignal;
}

/** Result of a move. */
export interface Move {
  /** The state as it stands in the new place. */
  readonly state: StateDocument;
  /** True where an earlier run had moved it already, or in part. */
  readonly isResumed: boolean;
}

/** A document as one end of a move sees it. */
type Found =
  | { readonly is: "nothing" }
  | { readonly is: "state"; readonly state: StateDocument; readonly version: string }
  | { readonly is: "moved"; readonly moved: MovedDocument; readonly version: string };

/**
 * Moves a state in three writes, each of which is seen to have worked before the next one:
 *
 * 1. the new place gets the whole state in a form that says from where it is moved;
 * 2. the old place gets a tombstone: this write decides. Every run refuses the old place from here on;
 * 3. the new place gets the state itself. Until then every run refuses it too.
 *
 * Killed in between, the same call goes on where it stopped, and no other command does. `stopping` ends it before the second write, and no more after it.
 * Throws `state-missing`, `state-manifest`, `state-exists`, `state-moved`, `state-moving`, `state-copy` where what is read back is not what was
 * written, and what the stores throw.
 */
export async function moveState(
  from: MoveEnd,
  to: MoveEnd,
  { name, manifest, clock, stopping }: MoveOptions,
): Promise<Move> {
  await assertReadable(from);
  await assertReadable(to);
  const [old, fresh] = [await look(from.store, name), await look(to.store, name)];
  if (old.is === "nothing")
    throw new GraphformError("state-missing", `no state at ${from.store.where}: there is nothing to move`, {
      hint: "name the new place in the manifest's state section; the first apply begins the state there",
    });
  if (old.is === "moved") {
    if (old.moved.movedTo === undefined) throw refusalOf(old.moved, from.store.where);
    return finish(old.moved, from, fresh, to, name, clock);
  }
  const { state } = old;
  assertSameManifest(state, manifest, from.store.where);
  assertReplaceable(fresh, state, to);
  const way = { move: randomBytes(8).toString("hex"), from: from.address, to: to.address };
  const copy = { ...state, ...after(Math.max(state.serial, serialOf(fresh)), clock) };
  const still = `the state is still at ${from.store.where}`;
  const write = async (end: MoveEnd, text: string, version: string | undefined): Promise<string> => {
    if (stopping?.aborted) throw interruptedMove(still);
    return put(end, text, version);
  };
  const incoming = await write(to, incomingText(copy, way), versionOf(fresh)).catch(saying(still));
  const tombstone = tombstoneText(state, way, after(state.serial, clock));
  await write(from, tombstone, old.version).catch(
    saying(still, `${from.store.where} says where the state is`),
  );
  const arrived = `the state is at ${to.store.where} now: the same command finishes the move`;
  const moved = await activate(to, copy, incoming, name, clock).catch(saying(arrived));
  return { state: moved, isResumed: fresh.is === "moved" && fresh.moved.movingFrom !== undefined };
}

/** Throws what a run would be refused with at this end; documents of moves are looked at later. */
async function assertReadable({ store }: MoveEnd): Promise<void> {
  await store.read().catch((error: unknown) => {
    if (!isGraphformError(error) || !["state-moved", "state-moving"].includes(error.code)) throw error;
  });
}

/** Goes on after the tombstone was written. */
async function finish(
  moved: MovedDocument,
  from: MoveEnd,
  fresh: Found,
  to: MoveEnd,
  name: string,
  clock: Clock,
): Promise<Move> {
  if (fresh.is === "state" && fresh.state.lineage === moved.lineage)
    return { state: fresh.state, isResumed: true };
  // A copy of another move, which was given up, is older than what went elsewhere since.
  const copy = fresh.is === "moved" ? stateMovedHere(fresh.moved, moved) : undefined;
  if (fresh.is !== "moved" || copy === undefined) throw refusalOf(moved, from.store.where);
  return { state: await activate(to, copy, fresh.version, name, clock), isResumed: true };
}

/** Puts the state itself in place of its copy, and reads it back as any run will. */
async function activate(
  to: MoveEnd,
  copy: StateDocument,
  expected: string,
  name: string,
  clock: Clock,
): Promise<StateDocument> {
  const state = { ...copy, ...after(copy.serial, clock) };
  await put(to, stateFormatter()(state), expected);
  const found = await look(to.store, name);
  const isSame = found.is === "state" && stateFormatter()(found.state) === stateFormatter()(state);
  if (!isSame) throw differs(to);
  return found.state;
}

/** The end of a move by Ctrl-C. */
export function interruptedMove(where?: string): GraphformError {
  return new GraphformError("interrupted", where === undefined ? "interrupted" : `interrupted: ${where}`, {
    exitCode: exitCodes.interrupted,
    hint: "the same command goes on with the move",
  });
}

/** Adds to an error of a store where the state is; `unanswered` where a write without an answer may have been stored. */
function saying(where: string, unanswered = where): (error: unknown) => never {
  return (error) => {
    // After these another run may have moved it elsewhere.
    const isUnknown = ["interrupted", "lock-lost", "state-conflict"];
    if (!isGraphformError(error) || isUnknown.includes(error.code)) throw error;
    const { code, message, hint, exitCode } = error;
    const known = code === "state-unreachable" ? unanswered : where;
    throw new GraphformError(code, `${message}; ${known}`, {
      exitCode,
      ...defined({ hint }),
      cause: error,
    });
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

async function look(store: KeptStore, name: string): Promise<Found> {
  const stored = await store.readText();
  if (stored === undefined) return { is: "nothing" };
  const { text, version } = stored;
  const moved = movedDocument(text);
  if (moved !== undefined) return { is: "moved", moved, version };
  return { is: "state", state: readState(text, store.where, name), version };
}

/** Throws unless the new place has nothing that anybody needs. */
function assertReplaceable(fresh: Found, { lineage }: StateDocument, { store }: MoveEnd): void {
  if (fresh.is === "nothing" || (fresh.is === "state" && isEmpty(fresh.state))) return;
  if (fresh.is === "moved" && fresh.moved.lineage === lineage) return;
  const what = fresh.is === "state" ? "there is a state" : "another state stood once, and was moved,";
  throw new GraphformError("state-exists", `${what} at ${store.where}: it is not overwritten`, {
    hint: "name a place where nothing is, or remove what is there",
  });
}

function serialOf(found: Found): number {
  if (found.is === "nothing") return 0;
  return found.is === "state" ? found.state.serial : found.moved.serial;
}

function versionOf(found: Found): string | undefined {
  return found.is === "nothing" ? undefined : found.version;
}

function after(serial: number, clock: Clock): ReturnType<typeof nextVersion> {
  return nextVersion({ serial }, clock.now());
}

function differs({ store }: Pick<MoveEnd, "store">): GraphformError {
  return new GraphformError("state-copy", `${store.where} does not give back what was written to it`, {
    hint: "the state was not put into use there; graphform doctor checks the store; then run the same command again",
  });
}

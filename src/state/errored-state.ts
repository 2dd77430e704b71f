/** @module Compares events that a run could not store with the stored state; `state push` stores them. */
import { GraphformError, isGraphformError, shellWord } from "../model/errors.ts";
import type { StateDocument } from "../model/state.ts";
import { assertSameManifest } from "./claim-state.ts";
import { digestOf, nextVersion, stateFormatter } from "./document.ts";
import type { CreatedObject, ErroredState, FoundErrored, KeylessState } from "./errored-file.ts";
import type { MoveOptions } from "./move-state.ts";
import { readState } from "./read-state.ts";
import type { DurableStore, Unpushed } from "./store.ts";

/**
 * An errored state compared with what is stored. `ahead`: no other run has written since. `current`: every object of it is stored.
 * `stale`: another run has written without knowing all objects. `elsewhere`: it belongs to another state.
 */
export type StateMatch = "ahead" | "current" | "stale" | "elsewhere";

/** SHA-256 of a document's content in hex, without serial and time (a takeover of the lock writes the same once more) and its key. */
export function stateDigest({ key: _, ...state }: KeylessState): string {
  return digestOf(stateFormatter()({ ...state, serial: 0, savedAt: "", key: "" }));
}

export function matchOf(errored: ErroredState, stored: StateDocument | undefined, where: string): StateMatch {
  if (stored === undefined || stored.lineage !== errored.state.lineage) {
    if (errored.where !== where) return "elsewhere";
    return stored === undefined && errored.follows.includes(null) ? "ahead" : "stale";
  }
  const digest = stateDigest(stored);
  if (digest === stateDigest(errored.state)) return "current";
  if (errored.follows.includes(digest)) return "ahead";
  return unknownObjects(errored.created, stored).length === 0 ? "current" : "stale";
}

/** The objects that the stored state binds to no address. */
function unknownObjects(
  created: readonly CreatedObject[],
  stored: StateDocument | undefined,
): readonly CreatedObject[] {
  const ids = new Set(Object.values(stored?.resources ?? {}).map(({ id }) => id));
  return created.filter(({ id }) => !ids.has(id));
}

/** The objects that a state binds and the stored one does not. */
export function unstoredObjects(
  { resources }: Pick<StateDocument, "resources">,
  stored: StateDocument | undefined,
): readonly CreatedObject[] {
  const bound = Object.entries(resources).map(([address, { id }]) => ({ address, id }));
  return unknownObjects(bound, stored);
}

/** Its state as the version after what is stored. Undefined if neither has the key. */
export function stateToPush(
  { state }: ErroredState,
  stored: StateDocument | undefined,
): StateDocument | undefined {
  const key = stored?.key ?? state.key;
  if (key === undefined) return undefined;
  return { ...state, key, serial: Math.max(state.serial, (stored?.serial ?? 0) + 1) };
}

export interface Push extends Pick<MoveOptions, "name" | "manifest" | "clock"> {
  readonly errored: ErroredState;
  readonly file: string;
}

/** Stores it as the next version, under the lock. Throws `push-refused` if the stored state has gone on without knowing its objects. */
export async function pushErrored(
  store: DurableStore,
  { errored, file, name, manifest, clock }: Push,
): Promise<{ readonly state: StateDocument; readonly isStored: boolean }> {
  assertSameManifest(errored.state, manifest, `of ${file}`);
  const { where } = store;
  const stored = await store.readText();
  const current = stored && readState(stored.text, where, name);
  const match = matchOf(errored, current, where);
  if (match === "current" && current !== undefined) return { state: current, isStored: false };
  const next = match === "ahead" ? stateToPush(errored, current) : undefined;
  if (next === undefined) {
    const { why, hint } = contradiction(errored, current, file, where);
    throw new GraphformError("push-refused", `${file} is not stored: ${why}`, { hint });
  }
  const { serial } = next;
  const state = { ...next, ...nextVersion({ serial: serial - 1 }, clock.now()) };
  await store.replaceText(stateFormatter()(state), stored?.version);
  return { state, isStored: true };
}

/** The refusal of a run that does not know a file; undefined if the file says nothing new, or belongs to another state. */
export function unpushedIn(
  { path: file, content }: FoundErrored,
  stored: StateDocument | undefined,
  where: string,
  place = "",
): Unpushed | undefined {
  if (content instanceof Error) {
    const words = isGraphformError(content) ? content.message : `${file} cannot be read`;
    const hint = `it may name objects that are known nowhere else: push another copy of it, or bind them with graphform import after: ${moveAway(file)}`;
    return {
      file,
      refusal: refusal(`${words}; a run that could not store its state left it`, hint, content),
    };
  }
  const match = matchOf(content, stored, where);
  if (match === "current" || match === "elsewhere") return undefined;
  if (match === "stale") {
    const { why, hint } = contradiction(content, stored, file, where);
    return { file, refusal: refusal(`${file} has what an earlier run did, and ${why}`, hint) };
  }
  const unknown = unknownObjects(content.created, stored);
  const [few, more] = [unknown.slice(0, 3), unknown.length - 3];
  const made = unknown.length === 0 ? "" : `: ${createdWords(few)}${more > 0 ? ` and ${more} more` : ""}`;
  const message = `${file} has changes of an earlier run that could not be stored at ${where}${made}`;
  const hint = `store it: graphform state push ${shellWord(file)}${place}, then run the command again; to go on without it: ${moveAway(file)}`;
  return { file, refusal: refusal(message, hint), state: stateToPush(content, stored) };
}

/** Lists objects as `ADDRESS is ID`. */
export function createdWords(objects: readonly CreatedObject[]): string {
  return objects.map(({ address, id }) => `${address} is ${id}`).join(", ");
}

/** The reason not to store it, and what to do. */
function contradiction(
  errored: ErroredState,
  stored: StateDocument | undefined,
  file: string,
  where: string,
): { readonly why: string; readonly hint: string } {
  const unknown = unknownObjects(errored.created, stored);
  if (stored?.lineage === errored.state.lineage)
    return {
      why: `${where} was written to since without it: ${createdWords(unknown)}`,
      hint: bindByHand(file, unknown),
    };
  const why =
    stored === undefined ? `nothing is stored at ${where}` : `${where} holds a state of another history`;
  if (errored.where !== where)
    return { why, hint: `the run worked with the state at ${errored.where}: name that one with --state` };
  const bound = unstoredObjects(errored.state, undefined);
  const back = "put that state back from a copy (its store may keep versions), then push the file";
  return bound.length === 0
    ? { why, hint: `${back}; or, if it is given up: ${moveAway(file)}` }
    : {
        why,
        hint: `${back}; if there is none, apply would create every object once more: ${bindByHand(file, bound)}`,
      };
}

function bindByHand(file: string, objects: readonly CreatedObject[]): string {
  const [few, more] = [objects.slice(0, 10), objects.length - 10];
  const imports = few.map(({ address, id }) => `graphform import ${shellWord(address)} ${shellWord(id)}`);
  const rest = more > 0 ? `; and ${more} more, which the file names` : "";
  const look = "look whether each of them is still at the service";
  return `${look}; then move the file away: ${moveAway(file)}, and bind those that are to be kept, at addresses that are free: ${imports.join("; ")}${rest}`;
}

function moveAway(file: string): string {
  return `mv ${shellWord(file)} ${shellWord(`${file}.old`)}`;
}

function refusal(message: string, hint: string, cause?: unknown): GraphformError {
  return new GraphformError("state-unpushed", message, { hint, cause });
}

/** @module Describes what a run could not store, as a file keeps it, and compares it with what is stored. */
import { createHash } from "node:crypto";
import { GraphformError } from "../model/errors.ts";
import { isObject } from "../model/json.ts";
import type { StateDocument } from "../model/state.ts";
import { stateFormatter } from "./document.ts";
import { readState } from "./read-state.ts";

/** A state without the key of its fingerprints. */
type KeylessState = Omit<StateDocument, "key"> & Partial<Pick<StateDocument, "key">>;

/** A state that a run could not store. */
export interface ErroredState {
  /** The address that it could not be stored at, for people. */
  readonly where: string;
  /** Without its key, unless nothing may be stored yet that has it: the file of a job can be read by many. */
  readonly state: KeylessState;
  /** Digests (`stateDigest`) of the documents that it may replace; null: nothing is stored. */
  readonly follows: readonly (string | null)[];
  /** Objects that the run has bound since: their ids are stored nowhere else. */
  readonly created: readonly CreatedObject[];
}

export interface CreatedObject {
  readonly address: string;
  readonly id: string;
}

/**
 * Relation of an errored state to what is stored. `elsewhere`: it is that of another state. `known`: the stored state has
 * all that it says, or at least every object. `fits`: nobody has written since. `overtaken`: somebody has, without knowing
 * all objects.
 */
export type Standing = "elsewhere" | "known" | "fits" | "overtaken";

/**
 * Digest of a document's content, SHA-256 in hex. Serial and time are not part of it: whoever takes over the lock of a dead run
 * writes the same document once more, as its next version. Nor is the key, which never changes.
 */
export function stateDigest({ key: _, ...state }: KeylessState): string {
  return digestOf(stateFormatter()({ ...state, serial: 0, savedAt: "", key: "" }));
}

/** SHA-256 of a text, in hex. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The text of its file. */
export function erroredText({ state, where, follows, created }: ErroredState): string {
  const { key = "", ...keyless }: KeylessState = JSON.parse(
    stateFormatter()({ ...state, key: state.key ?? "" }),
  );
  const kept = key !== "" && follows.includes(null) ? { key } : {};
  const body = { where, follows, created, state: { ...keyless, ...kept } };
  const sha256 = digestOf(JSON.stringify(body));
  return `${JSON.stringify({ graphform: "errored", sha256, ...body }, undefined, 1)}\n`;
}

/**
 * Reads the text of such a file. Throws `state-foreign` for another file and for one that was changed, and what `readState`
 * throws for its state.
 */
export function readErroredState(text: string, file: string, name?: string): ErroredState {
  const value = parse(text, file);
  if (!isObject(value) || value["graphform"] !== "errored") throw foreign(file);
  const { graphform: _, sha256, ...body } = value;
  if (sha256 !== digestOf(JSON.stringify(body))) throw changed(file);
  const { where, follows, created, state } = body;
  if (typeof where !== "string" || !Array.isArray(follows) || !Array.isArray(created) || !isObject(state))
    throw foreign(file);
  const { key, ...keyless } = state;
  const checked = readState(JSON.stringify({ ...keyless, key: key ?? "0".repeat(64) }), file, name);
  const { key: read, ...rest } = checked;
  return {
    where,
    state: key === undefined ? rest : { ...rest, key: read },
    follows: follows.filter((digest) => typeof digest === "string" || digest === null),
    created: created.flatMap((object) => (isCreated(object) ? [object] : [])),
  };
}

/** Compares it with what is stored at an address. */
export function standingOf(
  errored: ErroredState,
  stored: StateDocument | undefined,
  where: string,
): Standing {
  const isHere = errored.where === where;
  if (stored === undefined || stored.lineage !== errored.state.lineage) {
    if (!isHere) return "elsewhere";
    return stored === undefined && errored.follows.includes(null) ? "fits" : "overtaken";
  }
  const digest = stateDigest(stored);
  if (digest === stateDigest(errored.state)) return "known";
  if (errored.follows.includes(digest)) return "fits";
  return unknownObjects(errored, stored).length === 0 ? "known" : "overtaken";
}

/** Every object that it binds: where the stored state is lost, these are known nowhere else. */
export function boundObjects({ state }: Pick<ErroredState, "state">): readonly CreatedObject[] {
  return Object.entries(state.resources).map(([address, { id }]) => ({ address, id }));
}

/** The objects it made that the stored state binds to no address. */
export function unknownObjects(
  { created }: Pick<ErroredState, "created">,
  stored: StateDocument | undefined,
): readonly CreatedObject[] {
  const ids = new Set(Object.values(stored?.resources ?? {}).map(({ id }) => id));
  return created.filter(({ id }) => !ids.has(id));
}

/** Its state as the version after what is stored. `undefined` where neither has the key. */
export function stateToPush(
  { state }: ErroredState,
  stored: StateDocument | undefined,
): StateDocument | undefined {
  const key = stored?.key ?? state.key;
  if (key === undefined) return undefined;
  return { ...state, key, serial: Math.max(state.serial, (stored?.serial ?? 0) + 1) };
}

function isCreated(value: unknown): value is CreatedObject {
  return isObject(value) && typeof value["address"] === "string" && typeof value["id"] === "string";
}

function parse(text: string, file: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw foreign(file, cause);
  }
}

function foreign(file: string, cause?: unknown): GraphformError {
  return new GraphformError("state-foreign", `${file} is not a state that a run could not store`, {
    hint: "name the file that the run named: .graphform/NAME.errored.state.json beside the manifest",
    cause,
  });
}

function changed(file: string): GraphformError {
  return new GraphformError(
    "state-foreign",
    `${file} is not as the run wrote it: it was changed or cut short`,
    {
      hint: "push another copy of it; the objects that it names can also be bound with graphform import",
    },
  );
}

/** @module Keeps a state that could not be stored in a local file, and says where it may be put back. */
import { createHash } from "node:crypto";
import { writeAtomically } from "../files/atomic-write.ts";
import { GraphformError } from "../model/errors.ts";
import { isObject } from "../model/json.ts";
import type { StateDocument } from "../model/state.ts";
import { stateFormatter } from "./format-state.ts";
import { readState } from "./read-state.ts";

/** A state that a run could not store. */
export interface ErroredState {
  readonly state: StateDocument;
  /** Digests (`stateDigest`) of the documents that it may replace; null: nothing is stored. */
  readonly follows: readonly (string | null)[];
}

/**
 * Digest of a document's content, SHA-256 in hex. Serial and time are not part of it: whoever takes over the lock of a dead run
 * writes the same document once more, as its next version.
 */
export function stateDigest(state: StateDocument): string {
  return digestOf(stateFormatter()({ ...state, serial: 0, savedAt: "" }));
}

/** SHA-256 of a text, in hex. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Writes it, mode 0600, in place of an older one. Rejects with the file system's error. */
export async function writeErroredState(file: string, { state, follows }: ErroredState): Promise<void> {
  const value = { graphform: "errored", follows, state: JSON.parse(stateFormatter()(state)) as unknown };
  await writeAtomically(file, `${JSON.stringify(value, undefined, 1)}\n`);
}

/** Reads one. Throws `state-foreign` for another file, and what `readState` throws for its state. */
export function readErroredState(text: string, file: string, name?: string): ErroredState {
  const value = parse(text, file);
  if (!isObject(value) || value["graphform"] !== "errored" || !Array.isArray(value["follows"]))
    throw foreign(file);
  const follows = value["follows"].filter((digest) => typeof digest === "string" || digest === null);
  return { state: readState(JSON.stringify(value["state"] ?? null), file, name), follows };
}

/** True where it may be put in place of what is stored: nobody has written since. */
export function fitsStored(
  { follows }: Pick<ErroredState, "follows">,
  stored: StateDocument | undefined,
): boolean {
  return follows.includes(stored === undefined ? null : stateDigest(stored));
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

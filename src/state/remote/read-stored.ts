/** @module Reads a document that a shared store gave, strictly, with ways out that fit such a store. */
import { GraphformError, isGraphformError } from "../../model/errors.ts";
import type { StateDocument } from "../../model/state.ts";
import { readState } from "../read-state.ts";

/** Codes whose usual way out names files beside the state. */
const aboutFiles = ["state-truncated", "state-foreign"];

/** The state in a stored text. Throws as `readState` does. */
export function readStored(text: string, where: string, name: string): StateDocument {
  try {
    return readState(text, where, name);
  } catch (error) {
    if (!isGraphformError(error) || !aboutFiles.includes(error.code)) throw error;
    throw new GraphformError(error.code, error.message, {
      hint: "it was left as it is; graphform state history shows the versions before it, where the store keeps them",
      cause: error,
    });
  }
}

/** The state in a text; undefined where there is none, or one that `readState` refuses. */
export function readableState(
  text: string | undefined,
  where: string,
  name: string,
): StateDocument | undefined {
  try {
    return text === undefined ? undefined : readState(text, where, name);
  } catch {
    return undefined;
  }
}

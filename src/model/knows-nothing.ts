/** @module Tells a state that has never known anything from one whose objects are gone. */
import type { StateDocument } from "./state.ts";

/**
 * True for a state that was never written, and for the empty one that a takeover of the lock writes where nothing is stored:
 * what is declared may have been made under a state that was lost.
 */
export function knowsNothing({
  resources,
  intents,
  appliedPlans,
}: Pick<StateDocument, "resources" | "intents" | "appliedPlans">): boolean {
  return [resources, intents, appliedPlans].every((known) => Object.keys(known).length === 0);
}

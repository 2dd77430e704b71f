/** @module Describes resources that stay as they are and are worth a look: not ready, or changed outside. */
import type { Change } from "../../model/plan.ts";
import type { ShownValue } from "../shown-value.ts";
import { type AddressView, blocksOf } from "./block-view.ts";
import { type FieldView, leftAsIs } from "./field-view.ts";
import { type PhaseView, phaseNote } from "./phase-view.ts";

/** Unchanged resources with the same note. */
export interface NoteView {
  /** Sorted by address; at least one. */
  readonly addresses: readonly AddressView[];
  readonly is: PhaseView["is"] | "drifted";
  /** `still DEPLOYING; apply will wait`. */
  readonly text: string;
  /** The ways on from resources that have failed. */
  readonly waysOn?: string;
  /** Changed outside, and left as they are. */
  readonly drifted: readonly FieldView[];
}

/** Notes on the resources of a plan that have no change. `command` waits for those that are in progress. */
export function notesOf(changes: readonly Change<ShownValue>[], command: string): readonly NoteView[] {
  const kept = changes
    .filter(({ action }) => action === "keep")
    .filter(({ phase, drift }) => phaseNote(phase) !== undefined || drift.length > 0)
    .sort((a, b) => (a.address < b.address ? -1 : 1));
  // The reason of a kept resource says nothing of its phase.
  const blocks = blocksOf(kept.map((change) => ({ ...change, reason: "" })));
  return blocks.map(({ addresses, phase, waysOn, drifted }) => {
    if (phase === undefined) {
      // The note says it once for all fields.
      const fields = drifted.map((field) => ({
        ...field,
        notes: field.notes.filter((note) => note !== leftAsIs),
      }));
      return { addresses, is: "drifted", text: leftAsIs, drifted: fields };
    }
    const waits = phase.is === "pending" ? `; ${command} will wait` : "";
    const ways = waysOn === undefined ? {} : { waysOn };
    return { addresses, is: phase.is, text: `${phase.text}${waits}`, ...ways, drifted };
  });
}

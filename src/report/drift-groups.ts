/** @module Groups what has happened to resources, worst first. */
import type { Happening } from "../model/drift.ts";

/** One group of a drift report. */
export interface DriftGroup {
  readonly what: readonly Happening[];
  readonly title: string;
  readonly note: string;
  /** Its colour in text. */
  readonly tone: "red" | "yellow" | "cyan";
}

/** The groups of what matters or is not applied, worst first. */
export const driftGroups: readonly DriftGroup[] = [
  { what: ["deleted"], title: "Deleted outside", note: "", tone: "red" },
  { what: ["failed"], title: "Failed", note: "", tone: "red" },
  { what: ["stopped", "started"], title: "Stopped or started outside", note: "", tone: "red" },
  { what: ["changed", "renamed"], title: "Changed outside", note: "", tone: "yellow" },
  {
    what: ["unapplied"],
    title: "Not applied yet",
    note: "declared, not brought by an apply: no drift",
    tone: "cyan",
  },
];

/** The title of what differs and does not matter. */
export const unimportantTitle = "Differs, and does not matter";

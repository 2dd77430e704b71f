/** @module Formats what was checked, and where the values come from, as lines of text. */
import type { Census } from "../model/plan.ts";
import { partialLines, unmanagedText } from "./partial-lists.ts";
import { probeLines } from "./probe-census.ts";
import { sourceWords } from "./source-words.ts";
import { wrapIndented } from "./text-width.ts";

/** Number of checked resources, the sources of their values, and the databases that were asked. `width` is in columns. */
export function censusLines(census: Census, width: number): readonly string[] {
  const { declared, checked, skipped, fields } = census;
  const skippedText = skipped === 0 ? "" : `, ${skipped} skipped`;
  const present = (["probed", "described", "echoed", "recorded"] as const).filter(
    (source) => fields[source] > 0,
  );
  const values = present.map((source) => `${fields[source]} ${sourceWords[source]}`).join(", ");
  return [
    ...wrapIndented(
      "Checked   ",
      `${declared} declared, ${checked} checked${skippedText}, ${unmanagedText(census)}`,
      width,
    ),
    ...(values === "" ? [] : wrapIndented("          ", `values: ${values}`, width)),
    ...probeLines(census, width),
    ...partialLines(census, width),
  ];
}

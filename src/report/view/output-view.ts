/** @module Describes the changed outputs of a plan for people. */
import type { OutputChange } from "../../model/plan.ts";
import type { ShownPlan } from "../shown.ts";
import { knownAfterApply, type ShownValue } from "../shown-value.ts";

/** One output. Values are the texts of `ShownValue`. */
export interface OutputView {
  readonly name: string;
  readonly action: "create" | "update" | "delete" | "missing";
  readonly before?: string;
  readonly after: string;
  /** Says why there is no value, where it is missing. */
  readonly note?: string;
}

/** The outputs that a plan changes or cannot read, sorted by name. */
export function outputsOf({ outputs }: Pick<ShownPlan, "outputs">): readonly OutputView[] {
  return Object.entries(outputs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, output]) => outputOf(name, output) ?? []);
}

function outputOf(name: string, output: OutputChange<ShownValue>): OutputView | undefined {
  const { action, before, after, unknown, missing } = output;
  const text = (value: ShownValue | undefined): string => value?.text ?? "(none)";
  if (action === "delete") return { name, action, before: text(before), after: "(removed)" };
  if (missing !== undefined) {
    return {
      name,
      action: "missing",
      after: before === undefined ? "(not known)" : text(before),
      note: missing,
    };
  }
  const next = unknown && after === undefined ? knownAfterApply : text(after);
  if (action === "create") return { name, action, after: next };
  return action === "update" ? { name, action, before: text(before), after: next } : undefined;
}

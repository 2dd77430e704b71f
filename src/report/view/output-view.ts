/** @module Describes the changed outputs of a plan for people. */
import type { Json } from "../../model/json.ts";
import type { OutputChange, Plan } from "../../model/plan.ts";
import { knownAfterApply, valueText } from "../value-text.ts";

/** One output. Values are as `valueText` shows them. */
export interface OutputView {
  readonly name: string;
  readonly action: "create" | "update" | "delete" | "missing";
  readonly before?: string;
  readonly after: string;
  /** Says why there is no value, where it is missing. */
  readonly note?: string;
}

/** The outputs that a plan changes or cannot read, sorted by name. */
export function outputsOf({ outputs }: Pick<Plan, "outputs">): readonly OutputView[] {
  return Object.entries(outputs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, output]) => outputOf(name, output) ?? []);
}

function outputOf(name: string, output: OutputChange): OutputView | undefined {
  const { action, before, after, unknown, missing, sensitive } = output;
  const text = (value: Json | undefined): string =>
    value === undefined ? "(none)" : valueText(value, sensitive);
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

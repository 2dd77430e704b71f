/** @module Finds applied values that the running object does not show: sending them again would change nothing. */
import { fieldRows } from "../../model/field-rows.ts";
import type { Live, Ref } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import { fieldsOf } from "../../model/spec.ts";
import type { ApplyContext } from "../context.ts";
import { askObject, valuesOf } from "../probe.ts";

/**
 * The declared paths that an update would set and that the running object shows otherwise although they were just applied.
 * Warns of each. Empty where it cannot be asked.
 */
export async function unmovedPaths(
  step: Step,
  ref: Ref,
  live: Live,
  context: ApplyContext,
): Promise<readonly string[]> {
  const { stopping, profile } = context;
  const rows = fieldRows(context.kinds.named(step.kind).schema);
  const sent = fieldsOf(step.spec ?? {}).filter(([path]) => {
    const row = rows.get(path);
    return row?.["x-probe"] !== undefined && row["x-create-only"] !== true;
  });
  if (sent.length === 0 || live.phase.is !== "ready" || profile.timing.endpoint === 0 || stopping.aborted)
    return [];
  const answer = await askObject(step, live, context).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
    return undefined;
  });
  const shown = answer === undefined ? {} : valuesOf(step, answer, live, context);
  // What means the declared value is shown as the declared value.
  const unmoved = sent.filter(([path, value]) => shown[path] !== undefined && shown[path] !== value);
  for (const [path] of unmoved)
    context.emit({
      type: "warning",
      address: step.address,
      message: `${ref.id}: ${path} was applied, and the database does not follow; it is not sent again as it is`,
    });
  return unmoved.map(([path]) => path);
}

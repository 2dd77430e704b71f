/** @module Plans the repair of the mark by which an object says that it belongs to this state. */

import { withoutTwin } from "../model/address.ts";
import type { FieldChange } from "../model/plan.ts";
import type { Spec } from "../model/spec.ts";
import type { PlanInput } from "./input.ts";
import type { Subject } from "./subjects.ts";

function markOf({ address, kind }: Subject, { kinds, state }: PlanInput): Spec {
  return kinds.named(kind).ownerMark({ lineage: state.lineage, address: withoutTwin(address) });
}

/** The mark that an object should show: ours, if it carried ours before. Empty if the service shows no marks or cannot set them. */
export function markToKeep(subject: Subject, input: PlanInput): Spec {
  const { bound, observed } = subject;
  const operation = input.kinds.named(subject.kind).operations.mark ?? "";
  if (bound === undefined || observed?.owner === undefined) return {};
  if (input.profile.operations[operation] === undefined) return {};
  const mark = markOf(subject, input);
  const wasOurs =
    observed.owner?.lineage === input.state.lineage ||
    Object.keys(mark).some((path) => Object.hasOwn(bound.recorded, path));
  return wasOurs ? mark : {};
}

/** The reason of a change whose fields all belong to the mark; undefined for any other change. */
export function whyMarked(
  fields: readonly FieldChange[],
  subject: Subject,
  input: PlanInput,
): string | undefined {
  const { bound } = subject;
  const mark = markOf(subject, input);
  if (fields.length === 0 || fields.some(({ path }) => !Object.hasOwn(mark, path))) return undefined;
  const isMoved = fields.every(
    ({ path, before }) => before !== undefined && (bound?.recorded[path] ?? before) === before,
  );
  return isMoved
    ? "the tags that graphform keeps on it follow its address"
    : "the tags that graphform keeps on it were removed or altered outside";
}

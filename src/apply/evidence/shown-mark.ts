/** @module Picks the part of this state's own mark that an object shows. Pure. */

import type { Live } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import type { Spec } from "../../model/spec.ts";
import type { ApplyContext } from "../context.ts";

/** The fields of this state's own mark that an object shows. They are recorded: a later look without them means removal. */
export function shownMark(
  { kind, address }: Pick<Step, "kind" | "address">,
  { spec }: Live,
  context: Pick<ApplyContext, "kinds" | "journal">,
): Spec {
  const { lineage } = context.journal.state;
  const mark = context.kinds.named(kind).ownerMark?.({ lineage, address }) ?? {};
  return Object.fromEntries(Object.entries(mark).filter(([path, value]) => spec[path]?.value === value));
}

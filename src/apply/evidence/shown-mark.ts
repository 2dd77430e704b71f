import type { Json } from "../../model/json.ts";
import type { Live } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import { type ApplyContext, kindOf } from "../context.ts";

/** The part of this run's own mark that an object shows, to be recorded: what was there and is gone later was removed. */
export function shownMark(
  { kind, address }: Pick<Step, "kind" | "address">,
  { spec }: Live,
  context: Pick<ApplyContext, "kinds" | "journal">,
): { readonly [path: string]: Json } {
  const { lineage } = context.journal.state;
  const mark = kindOf(context, kind).ownerMark?.({ lineage, address }) ?? {};
  return Object.fromEntries(Object.entries(mark).filter(([path, value]) => spec[path]?.value === value));
}

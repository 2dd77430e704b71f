/** @module Lists the guards that hold back one change by itself. */
import type { Disruption } from "../../model/field-schema.ts";
import { disruptions } from "../../model/field-schema.ts";
import type { Change, Guard } from "../../model/plan.ts";
import type { PlanInput } from "../input.ts";
import { isBeingDeleted } from "../propose.ts";
import type { Subject } from "../subject.ts";
import { adoptionGuard, takenGuard } from "./binding-guards.ts";
import { keptByServiceGuard } from "./kept-by-service.ts";
import { doubtGuard, openCreateGuard } from "./missing.ts";
import { notOfferedGuards } from "./not-offered.ts";
import { protectionGuard } from "./protection.ts";
import { replacementGuard } from "./replacement.ts";

/** The guards of one change. A deletion that is under way has passed its guards already. */
export function guardsOf(change: Change, subject: Subject, input: PlanInput): readonly Guard[] {
  const missing = notOfferedGuards(change, subject, input);
  if (isBeingDeleted(subject)) return missing;
  const found = [
    doubtGuard(change, subject),
    openCreateGuard(change, input),
    protectionGuard(change, subject, input),
    replacementGuard(change, subject, input),
    keptByServiceGuard(change, subject, input),
    adoptionGuard(change),
    takenGuard(change, input),
    disruptionGuard(change, input),
  ];
  return [...missing, ...found.filter((guard) => guard !== undefined)];
}

/** The guard against a change that is felt more than is allowed. */
function disruptionGuard(
  { disruption }: Pick<Change, "disruption">,
  { options, guards }: Pick<PlanInput, "options" | "guards">,
): Guard | undefined {
  const limit = options.maxDisruption ?? guards.maxDisruption;
  if (limit === undefined || !isWorse(disruption, limit)) return undefined;
  return {
    code: "max-disruption",
    message: `${disruption} is worse than the ${limit} that guards.maxDisruption allows`,
    lift: `--max-disruption ${disruption}`,
  };
}

function isWorse(left: Disruption, right: Disruption): boolean {
  return disruptions.indexOf(left) > disruptions.indexOf(right);
}

/** @module Guards against a second object, and against losing one to a move. */

import type { Change, Guard } from "../../model/plan.ts";
import { shellWord } from "../../model/shell-word.ts";
import { adoptionCandidates } from "../adoption-candidates.ts";
import type { PlanInput } from "../input.ts";

/** The guard against creating what exists already under the declared name. */
export function adoptionGuard(change: Change, input: PlanInput): Guard | undefined {
  if (change.action !== "create") return undefined;
  const mine = input.unmanaged.find(
    ({ kind, live }) => kind === change.kind && live?.owner?.address === change.address,
  );
  if (mine !== undefined) {
    return {
      code: "may-exist",
      message: `${mine.id} was created for this address, says its mark, and no state says that it is bound`,
      lift: `graphform import ${shellWord(change.address)} ${shellWord(mine.id)}, or delete it at the service`,
    };
  }
  const candidates = adoptionCandidates(change.kind, change.after ?? {}, input);
  const [first] = candidates;
  if (first === undefined) return undefined;
  const ids = candidates.map(({ id }) => id).join(" and ");
  const [verb, subject] = candidates.length === 1 ? ["exists", "it is"] : ["exist", "they are"];
  return {
    code: "may-exist",
    message: `${ids} ${verb} already under this name, and no state says whose ${subject}`,
    lift: `graphform import ${shellWord(change.address)} ${shellWord(first.id)}, or another name`,
  };
}

/** The guard against deleting what could not move because its new address is taken. */
export function takenGuard(change: Change, { state, moved }: PlanInput): Guard | undefined {
  const to = change.action === "delete" ? moved.find((move) => move.from === change.address)?.to : undefined;
  const id = to === undefined ? undefined : state.resources[to]?.id;
  if (to === undefined || id === undefined) return undefined;
  return {
    code: "moved-taken",
    message: `it is to move to ${to}, where ${id} still stands`,
    lift: `apply once without ${to}, or take back what "moved" says`,
  };
}

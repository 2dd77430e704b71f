/** @module Guards against a second object, and against losing one to a move. */

import type { Change, Guard } from "../../model/plan.ts";
import { shellWord } from "../../model/shell-word.ts";
import { idsOf } from "../adoption-candidates.ts";
import type { PlanInput } from "../input.ts";

/** The guard against creating what exists already under the declared name, or with the mark of the address. */
export function adoptionGuard({ address, mayBe }: Change): Guard | undefined {
  if (mayBe === undefined || mayBe.is === "alike") return undefined;
  const { is, ids, count } = mayBe;
  const bind = `graphform import ${shellWord(address)} ${shellWord(ids[0] ?? "ID")}`;
  if (is === "marked")
    return {
      code: "may-exist",
      message: `${idsOf(mayBe)} was created for this address, says its mark, and no state says that it is bound`,
      lift: `${bind}, or delete it at the service`,
    };
  const [verb, subject] = count === 1 ? ["exists", "it is"] : ["exist", "they are"];
  return {
    code: "may-exist",
    message: `${idsOf(mayBe)} ${verb} already under this name, and no state says whose ${subject}`,
    lift: `${bind}, or another name`,
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

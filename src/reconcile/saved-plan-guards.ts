/** @module Holds back the creates of a saved plan where something of their name has come to be there since. */
import type { Change, Guard, Plan } from "../model/plan.ts";

/** A saved plan with the guards that a plan made now puts on its creates. */
export function withAdoptionGuards(saved: Plan, fresh: Plan): Plan {
  const guards = new Map(fresh.changes.map((change) => [change.address, adoptionGuards(change)]));
  const held = <T extends Pick<Change, "address" | "blocked">>(each: T): T => ({
    ...each,
    blocked: [...each.blocked, ...(guards.get(each.address) ?? [])],
  });
  return {
    ...saved,
    changes: saved.changes.map((change) => (change.action === "create" ? held(change) : change)),
    steps: saved.steps.map((step) => (step.operation === "create" ? held(step) : step)),
  };
}

function adoptionGuards({ action, id, blocked }: Change): readonly Guard[] {
  if (action !== "adopt") return blocked.filter((guard) => guard.code === "may-exist");
  const message = `${id} has come to be there under this name since this plan was made`;
  return [{ code: "may-exist", message, lift: "make a new plan" }];
}

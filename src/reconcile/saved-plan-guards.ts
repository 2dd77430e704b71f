/** @module Adds to a saved plan the guards against objects that have appeared since it was made. */
import type { Change, Guard, Plan } from "../model/plan.ts";

/** A saved plan with the guards that a plan made now puts on its creates. */
export function withAdoptionGuards(saved: Plan, fresh: Plan): Plan {
  const guards = new Map(fresh.changes.map((change) => [change.address, adoptionGuards(change)]));
  const held = <T extends Pick<Change, "address" | "blocked">>(entry: T): T => ({
    ...entry,
    blocked: [...entry.blocked, ...(guards.get(entry.address) ?? [])],
  });
  return {
    ...saved,
    changes: saved.changes.map((change) => (change.action === "create" ? held(change) : change)),
    steps: saved.steps.map((step) => (step.operation === "create" ? held(step) : step)),
  };
}

function adoptionGuards({ action, id, blocked }: Change): readonly Guard[] {
  if (action !== "adopt") return blocked.filter((guard) => guard.code === "may-exist");
  const message = `${id} has appeared under this name since this plan was made`;
  return [{ code: "may-exist", message, lift: "make a new plan" }];
}

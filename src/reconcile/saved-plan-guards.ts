/** @module Adds to a saved plan the guards against objects that have appeared, or have become others, since it was made. */
import type { Change, Guard, Plan } from "../model/plan.ts";

/** A saved plan with the guards that a plan made now puts on the same addresses, as far as they speak of other objects. */
export function withFreshGuards(saved: Plan, fresh: Plan): Plan {
  const isAnyAnother = fresh.changes.some(({ blocked }) => blocked.some(isAnother));
  const guards = new Map(
    fresh.changes.map((change) => [change.address, isAnyAnother ? guardsOfOthers(change) : []]),
  );
  const appeared = new Map(fresh.changes.map((change) => [change.address, adoptionGuards(change)]));
  const isDoubtful = ({ code }: Guard): boolean => code === "create-in-doubt";
  const doubted = new Map(fresh.changes.map(({ address, blocked }) => [address, blocked.filter(isDoubtful)]));
  const held = <T extends Pick<Change, "address" | "blocked">>(entry: T, creates: boolean): T => ({
    ...entry,
    blocked: [
      ...entry.blocked,
      ...(guards.get(entry.address) ?? []),
      ...(doubted.get(entry.address) ?? []),
      ...((creates ? appeared.get(entry.address) : undefined) ?? []),
    ],
  });
  return {
    ...saved,
    changes: saved.changes.map((change) => held(change, change.action === "create")),
    steps: saved.steps.map((step) => held(step, step.operation === "create")),
  };
}

function isAnother({ code }: Guard): boolean {
  return code === "another-object";
}

/** The guards of an object that is another one by now, and of what belongs or refers to it. */
function guardsOfOthers({ blocked }: Change): readonly Guard[] {
  return blocked.filter(
    (guard) => isAnother(guard) || guard.code === "in-doubt" || guard.code === "depends-on-blocked",
  );
}

function adoptionGuards({ action, id, blocked }: Change): readonly Guard[] {
  if (action !== "adopt") return blocked.filter((guard) => guard.code === "may-exist");
  const message = `${id} has appeared under this name since this plan was made`;
  return [{ code: "may-exist", message, lift: "make a new plan" }];
}

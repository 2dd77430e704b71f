/** @module Counts the actions of a plan for GitLab's Terraform report. */
import type { JsonObject } from "../../model/json.ts";
import type { Plan } from "../../model/plan.ts";
import { actionsOf } from "../change-json.ts";

/**
 * The numbers of creates, updates and deletes of one or more plans, as they are counted from `resource_changes` of the plan's JSON: a replacement is one
 * create and one delete, and a blocked change counts. Contains nothing else, because everybody who sees the project can read it.
 */
export function gitlabCounts(plans: readonly Plan<unknown>[]): JsonObject {
  const actions = plans.flatMap(({ changes, steps }) =>
    changes.flatMap((change) => actionsOf(change, steps)),
  );
  const count = (action: string): number => actions.filter((each) => each === action).length;
  return { create: count("create"), update: count("update"), delete: count("delete") };
}

/** @module Counts the changes of a plan. */

import type { JsonObject } from "../model/json.ts";
import type { Action, Plan } from "../model/plan.ts";
import { actionsOf } from "./change-json.ts";

/** The counts of a plan. A replacement counts as add and destroy; a blocked change counts only as blocked. */
export interface PlanSummary {
  readonly add: number;
  readonly change: number;
  readonly destroy: number;
  /** Changes that a guard holds back. */
  readonly blocked: number;
  readonly adopt: number;
  readonly move: number;
  readonly forget: number;
  /** Bound objects that were deleted outside graphform, blocked or not. */
  readonly gone: number;
}

/** Counts the changes of a plan. */
export function summarize(plan: Plan<unknown>): PlanSummary {
  const free = plan.changes.filter((change) => change.blocked.length === 0);
  const count = (...actions: readonly Action[]): number =>
    free.filter((change) => actions.includes(change.action)).length;
  const adoptedAndChanged = free.filter((change) => change.action === "adopt" && change.fields.length > 0);
  return {
    add: count("create", "replace"),
    change: count("update") + adoptedAndChanged.length,
    destroy: count("delete", "replace"),
    blocked: plan.changes.filter((change) => change.blocked.length > 0).length,
    adopt: count("adopt"),
    move: count("move"),
    forget: count("forget"),
    gone: plan.changes.filter(({ gone }) => gone === true).length,
  };
}

/** True if the plan changes the service, an output or a binding. */
export function hasWork(plan: Plan<unknown>): boolean {
  const outputs = Object.values(plan.outputs).some((output) => output.action !== "no-op");
  return outputs || plan.changes.some((change) => change.action !== "keep");
}

/** The last line of every plan. Its form is stable, because scripts read it. */
export function planLine({ add, change, destroy }: Pick<PlanSummary, "add" | "change" | "destroy">): string {
  return `Plan: ${add} to add, ${change} to change, ${destroy} to destroy.`;
}

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

/** @module Counts the changes of a plan, says in one sentence what it changes, and names the next command. */
import { shellWord } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { type Action, hasChanges, type Plan } from "../model/plan.ts";
import { actionsOf } from "./change-json.ts";
import type { NextView, Tone } from "./view/report-view.ts";
import { amount } from "./words.ts";

type Counted = "add" | "change" | "destroy" | "blocked" | "adopt" | "move" | "forget" | "gone";

/** Counts changes: a replacement as add and destroy, a blocked one only as blocked, and one of an object that is gone as `gone` too. */
export function summarize(plan: Plan<unknown>): Readonly<Record<Counted, number>> {
  const free = plan.changes.filter((change) => change.blocked.length === 0);
  const count = (...actions: readonly Action[]): number =>
    free.filter((change) => actions.includes(change.action)).length;
  const adoptedAndChanged = free.filter((change) => change.action === "adopt" && change.fields.length > 0);
  return {
    add: count("create", "replace"),
    change: count("update", "migrate") + adoptedAndChanged.length,
    destroy: count("delete", "replace"),
    blocked: plan.changes.filter((change) => change.blocked.length > 0).length,
    adopt: count("adopt"),
    move: count("move"),
    forget: count("forget"),
    gone: plan.changes.filter(({ gone }) => gone === true).length,
  };
}

/** The last line of every plan. Its form is stable, because scripts read it. */
export function planLine({ add, change, destroy }: ReturnType<typeof summarize>): string {
  return `Plan: ${add} to add, ${change} to change, ${destroy} to destroy.`;
}

/** Numbers of `resource_changes`: a replacement counts twice, and blocked changes count. No names: every member of the project can read this report. */
export function gitlabCounts(plans: readonly Plan<unknown>[]): JsonObject {
  const actions = plans.flatMap(({ changes, steps }) =>
    changes.flatMap((change) => actionsOf(change, steps)),
  );
  const count = (action: string): number => actions.filter((each) => each === action).length;
  return { create: count("create"), update: count("update"), delete: count("delete") };
}

/** The tone of a plan: bad if it would lose data or a guard blocks a change, good if there is nothing to do. */
export function toneOf(plan: Plan<unknown>): Tone {
  if (!hasChanges(plan)) return "good";
  return losing(plan).length > 0 || summarize(plan).blocked > 0 ? "bad" : "careful";
}

/** One sentence: `No differences found.`, `12 changes, 1 blocked, data of 1 database would be lost.` */
export function verdictOf(plan: Plan<unknown>): string {
  const where = plan.complete ? "" : " in what was checked";
  if (!hasChanges(plan)) return `${nothingToApply(plan, where)}.`;
  const changes = plan.changes.filter(({ action }) => action !== "keep").length;
  const outputs = Object.values(plan.outputs).filter(({ action }) => action !== "no-op").length;
  const { blocked: held, gone } = summarize(plan);
  const lost = losing(plan);
  const saved = lost.filter(({ backupFirst }) => backupFirst === true).length;
  return `${[
    changes === 0
      ? `${amount(outputs, "output")} ${outputs === 1 ? "changes" : "change"}`
      : amount(changes, "change"),
    ...(gone === 0 ? [] : [`${gone} gone outside graphform`]),
    ...(held === 0 ? [] : [held === changes ? "all blocked" : `${held} blocked`]),
    ...(lost.length === 0 ? [] : [`data of ${amount(lost.length, "database")} would be lost`]),
    ...(saved === 0 ? [] : [`${saved} backed up first`]),
  ].join(", ")}${where}.`;
}

/** A change from outside that is left as it is counts as a difference. */
function nothingToApply({ changes }: Plan<unknown>, where: string): string {
  const left = changes.filter(({ action, drift }) => action === "keep" && drift.length > 0).length;
  if (left === 0) return `No differences found${where}`;
  const [verb, object] = left === 1 ? ["was", "it as it is"] : ["were", "them as they are"];
  return `Nothing to apply${where}: ${amount(left, "resource")} ${verb} changed outside, and apply leaves ${object}`;
}

/** The command that comes next. `planFile` is the file of the saved plan, if there is one. */
export function nextOf(
  plan: Plan<unknown>,
  planFile: string | undefined,
  verb: "apply" | "destroy" = "apply",
): NextView {
  const waits = plan.steps.filter((step) => step.blocked.length === 0).length;
  const command = planFile === undefined ? `graphform ${verb}` : `graphform apply ${shellWord(planFile)}`;
  if (!hasChanges(plan)) {
    if (waits === 0) return { text: "There is nothing to apply." };
    return { command, text: "It only waits for what is still running." };
  }
  const { blocked: held } = summarize(plan);
  const changes = plan.changes.filter(({ action }) => action !== "keep").length;
  const source =
    planFile === undefined
      ? "It plans again and asks before it changes anything."
      : "It carries out this plan and nothing else.";
  if (held === 0) return { command, text: source };
  if (held === changes) return { text: "Every change is blocked. Lift a guard, and plan again." };
  return { command, text: `${source} What is blocked stays as it is, and it exits 4.` };
}

function losing({ changes }: Plan<unknown>): Plan<unknown>["changes"] {
  return changes.filter(
    (change) => change.blocked.length === 0 && change.action !== "keep" && change.disruption === "data-loss",
  );
}

/** @module Estimates the impact of a plan: restarts, replacements, seconds. */
import type { Change, Forecast, Step } from "../model/plan.ts";
import type { Profile } from "../model/profile.ts";

/** The impact of a plan: restarts, replacements, and the seconds of the longest chain of steps. */
export function forecast(changes: readonly Change[], steps: readonly Step[], profile: Profile): Forecast {
  const open = changes.filter((change) => change.blocked.length === 0);
  return {
    restarts: open.filter((change) => change.action === "update" && change.disruption === "restart").length,
    replacements: open.filter((change) => change.action === "replace").length,
    seconds: Math.round(
      longest(
        steps.filter((step) => step.blocked.length === 0),
        profile,
      ) / 1000,
    ),
  };
}

function longest(steps: readonly Step[], profile: Profile): number {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const known = new Map<string, number>();
  const finish = (step: Step): number => {
    const before = known.get(step.key);
    if (before !== undefined) return before;
    known.set(step.key, 0);
    const waits = step.after.map((key) => byKey.get(key)).filter((found) => found !== undefined);
    const total = expected(step, profile) + Math.max(0, ...waits.map(finish));
    known.set(step.key, total);
    return total;
  };
  return Math.max(0, ...steps.map(finish));
}

function expected(step: Step, profile: Profile): number {
  const quiet = step.operation === "bind" || step.operation === "forget" || step.operation === "move";
  return quiet ? 0 : (profile.timing.expect[step.verb ?? step.operation] ?? 0);
}

/** @module Verifies an apply by a second plan from fresh observation, and records the outputs. */
import { outcomeOf } from "../apply/join-results.ts";
import { shownAgain } from "../apply/operations/remove.ts";
import { type Address, twinIn } from "../model/address.ts";
import { exitCodes } from "../model/errors.ts";
import type { Outcome, StepOutcome, Unsettled } from "../model/outcome.ts";
import type { Change, Plan } from "../model/plan.ts";
import type { RecordedOutput } from "../model/state.ts";
import { outputsLeft } from "../plan/outputs.ts";
import type { ApplyDependencies } from "./apply-plan.ts";
import type { Goal, Planned } from "./plan-for.ts";

interface Verification {
  readonly goal: Goal;
  readonly look: (goal: Goal) => Promise<Planned>;
  readonly deps: ApplyDependencies;
  readonly warnings: () => readonly string[];
  /** The plan that was carried out, if it was a saved one. */
  readonly saved: Plan | undefined;
}

/** The second plan, from fresh observation: it must be empty, and the outputs are taken from it. */
export async function verify(
  steps: readonly StepOutcome[],
  { goal, look, deps, warnings, saved }: Verification,
): Promise<Outcome> {
  if (deps.stopping.aborted) {
    const interrupted = outcomeOf(steps, [], deps.journal.state.outputs, warnings());
    return { ...interrupted, exitCode: exitCodes.interrupted };
  }
  // --replace and --cutover were done by the first plan.
  const { cutover: _, ...options } = goal.options;
  const planned = await look({ ...goal, options: { ...options, replace: [] } });
  const { plan: second } = planned;
  const { state } = deps.journal;
  const outputs = goal.destroying
    ? outputsLeft(state.outputs, goal.manifest.outputs, new Set(Object.keys(state.resources)))
    : outputsOf(second);
  const isChanged = goal.destroying
    ? Object.keys(outputs).length < Object.keys(state.outputs).length
    : Object.values(second.outputs).some((output) => output.action !== "no-op");
  if (isChanged) await deps.journal.record({ type: "outputs-recorded", outputs });
  for (const [name, { missing }] of Object.entries(second.outputs))
    if (missing !== undefined) deps.emit({ type: "warning", message: `output ${name}: ${missing}` });
  const split = saved === undefined ? { promised: second, others: [] } : splitBySaved(saved, second);
  warnOf(split.others, deps);
  const findings = [
    ...differencesLeft(split.promised, steps),
    ...(await shownAgain(steps, planned.unmanaged, deps)),
  ];
  return outcomeOf(steps, findings, outputs, warnings());
}

/**
 * The differences that a plan from fresh observation still finds, without those of changes that are blocked or were left unfinished. The guard
 * of a replacement does not excuse an object that this apply has made or changed: it is not as it was asked for.
 */
export function differencesLeft(second: Plan, steps: readonly StepOutcome[]): Outcome["certificate"] {
  const addressesOf = (isMeant: (step: StepOutcome) => boolean): ReadonlySet<Address> =>
    new Set(steps.filter(isMeant).map(({ address }) => address));
  const unfinished = addressesOf(({ result }) => result !== "done");
  const made = addressesOf(({ operation }) => operation === "create" || operation === "update");
  // An old database whose time is over since the first plan is deleted by the next one.
  const isHeldNoMore = ({ address, action }: Change): boolean =>
    action === "delete" && twinIn(address) === "former" && steps.every((step) => step.address !== address);
  const isExcused = (change: Change): boolean =>
    unfinished.has(change.address) ||
    isHeldNoMore(change) ||
    (change.blocked.length > 0 && !(change.action === "replace" && made.has(change.address)));
  return second.changes
    .filter((change) => change.action !== "keep" && !isExcused(change))
    .flatMap(({ action, address, kind, reason, fields }): readonly Unsettled[] =>
      fields.length === 0
        ? [{ address, kind, reason: `${action} is planned again: ${reason}` }]
        : fields.map((field) => ({ address, kind, reason, field })),
    );
}

/** Addresses that are named one by one where a saved plan is not about them. */
const named = 10;

/** Warns of differences that the saved plan is not about: it has done its work nevertheless. */
function warnOf(others: SplitPlan["others"], { emit }: Pick<ApplyDependencies, "emit">): void {
  for (const { address, message } of others.slice(0, named)) emit({ type: "warning", address, message });
  const rest = others.length - named;
  if (rest > 0)
    emit({
      type: "warning",
      message: `${rest} more differ and are not this plan's; graphform plan shows them`,
    });
}

function outputsOf(plan: Plan): { readonly [name: string]: RecordedOutput } {
  const known = Object.entries(plan.outputs).flatMap(([name, output]): [string, RecordedOutput][] =>
    output.after === undefined || output.unknown
      ? []
      : [[name, { value: output.after, sensitive: output.sensitive }]],
  );
  return Object.fromEntries(known);
}

interface SplitPlan {
  /** The part of the second plan that the saved one is about: it has to be empty. */
  readonly promised: Plan;
  /** One line for each address that differs otherwise: the next plan is about it. */
  readonly others: readonly { readonly address: Address; readonly message: string }[];
}

/** Splits the second plan by the saved one: changes that the saved one left out, and later ones, belong to the next plan. */
export function splitBySaved(saved: Plan, second: Plan): SplitPlan {
  const planned = new Map(saved.changes.map((change) => [change.address, change]));
  const parts = second.changes.map((change) => split(change, planned.get(change.address)));
  return {
    promised: { ...second, changes: parts.flatMap(({ promised }) => promised ?? []) },
    others: parts.flatMap(({ other, why }) => {
      if (other === undefined) return [];
      const { address, fields, reason } = other;
      const what = fields.length === 0 ? reason : fields.map(({ path }) => path).join(", ");
      return [{ address, message: `${why}: ${what}; graphform plan shows it` }];
    }),
  };
}

const sinceThen = "changed since this plan was made, and left as it is";

/** The part of a change that the saved plan was about, and the rest. */
function split(
  change: Change,
  saved: Change | undefined,
): { promised?: Change; other?: Change; why: string } {
  if (change.action === "keep") return { promised: change, why: "" };
  if (saved === undefined) return { other: change, why: "not part of this plan" };
  if (saved.action === "keep") return { other: change, why: sinceThen };
  const isAboutAll = change.fields.length === 0 || saved.action === "create" || saved.action === "replace";
  if (isAboutAll || saved.blocked.length > 0) return { promised: change, why: "" };
  const planned = new Set(saved.fields.map(({ path }) => path));
  const mine = change.fields.filter(({ path }) => planned.has(path));
  const rest = change.fields.filter(({ path }) => !planned.has(path));
  return {
    ...(mine.length === 0 ? {} : { promised: { ...change, fields: mine } }),
    ...(rest.length === 0 ? {} : { other: { ...change, fields: rest } }),
    why: sinceThen,
  };
}

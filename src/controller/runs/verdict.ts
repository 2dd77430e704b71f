/** @module Decides from the JSON document of a plan whether it may be applied without a person, and whether a later plan stays within it. */
import { isDeepStrictEqual } from "node:util";
import type { Verdict } from "./transitions.ts";

/** The parts of a plan's document that are read here (`schemas/plan.schema.json`). */
export interface PlanDocument {
  readonly applyable: boolean;
  readonly complete: boolean;
  readonly resource_changes: readonly {
    readonly address: string;
    readonly change: {
      readonly actions: readonly string[];
      readonly after: unknown;
      readonly after_unknown?: unknown;
      readonly importing?: object;
    };
  }[];
  readonly output_changes?: { readonly [name: string]: { readonly actions: readonly string[] } };
  readonly x_graphform: {
    readonly fingerprint: string;
    readonly changes: {
      readonly [address: string]: {
        readonly action: string;
        readonly disruption: string;
        readonly blocked: readonly { readonly message: string }[];
        readonly gone?: boolean;
        readonly may_be?: object;
        readonly fields?: {
          readonly [path: string]: { readonly disruption: string; readonly effect: string };
        };
      };
    };
    readonly steps: readonly {
      readonly address: string;
      readonly operation: string;
      readonly verb?: string;
    }[];
  };
}

/** More changes than this are looked at by a person. */
const maxChanges = 20;

/** A plan that changes a larger part of what stands is looked at by a person, unless it is a single object. */
const maxShare = 0.25;

/** Operations that alone change nothing that a database's users notice. */
const safeOperations = new Set(["create", "update", "heal", "wait"]);

/** The verdict about a plan, with a sentence for each reason that makes it risky. Anything that is not known to be safe is risky. */
function verdictOf(plan: PlanDocument): {
  readonly verdict: Verdict;
  readonly reasons: readonly string[];
} {
  const { changes, steps } = plan.x_graphform;
  const changing = Object.entries(changes).filter(([, { action }]) => action !== "keep");
  const reasons = [
    ...(plan.complete ? [] : ["the plan does not cover everything that is declared"]),
    ...changing.flatMap(([address, change]) => riskOf(change).map((why) => `${address}: ${why}`)),
    ...steps
      .filter(({ operation }) => !safeOperations.has(operation))
      .map(({ address, operation, verb }) => `${address}: ${verb ?? operation}`),
    ...(changing.length > maxChanges ? [`${changing.length} changes at once, more than ${maxChanges}`] : []),
  ];
  const standing = Object.values(changes).filter(({ action }) => action !== "create").length;
  const touched = changing.filter(([, { action }]) => action !== "create").length;
  if (touched > 1 && touched > standing * maxShare)
    reasons.push(`${touched} of ${standing} objects change at once, more than ${maxShare * 100} %`);
  const all = [...new Set(reasons)];
  return { verdict: all.length === 0 ? "safe" : "risky", reasons: all };
}

function riskOf(change: PlanDocument["x_graphform"]["changes"][string]): readonly string[] {
  const { action, disruption, blocked, gone, may_be, fields = {} } = change;
  return [
    ...blocked.map(({ message }) => message),
    ...(action === "create" || action === "update" ? [] : [action]),
    ...(gone === true ? ["it has disappeared, and would be created empty"] : []),
    ...(may_be === undefined ? [] : ["an object that may be this one exists"]),
    ...(disruption === "none" ? [] : [disruption]),
    ...(Object.values(fields).some((field) => field.effect === "replace" && action !== "create")
      ? ["replace"]
      : []),
  ];
}

/** True if a plan changes anything: an object, a binding, or an output. */
export function changesAnything(plan: PlanDocument): boolean {
  const outputs = Object.values(plan.output_changes ?? {}).some(({ actions }) =>
    actions.some((action) => action !== "no-op"),
  );
  return outputs || Object.values(plan.x_graphform.changes).some(({ action }) => action !== "keep");
}

/** True if the plan sees objects that no state binds, and that may be what it is about to create. */
export function seesUnmanaged(plan: PlanDocument): boolean {
  return Object.values(plan.x_graphform.changes).some(({ may_be }) => may_be !== undefined);
}

/** Columns of a run with this plan: `why` stands before the reasons of its verdict. The run is charged with no attempt any more. */
export function planColumns(
  plan: PlanDocument,
  why: readonly string[] = [],
): { readonly [column in "fingerprint" | "counts" | "reasons"]: string } & {
  readonly verdict: Verdict;
  readonly attempts: 0;
} {
  const { verdict, reasons } = verdictOf(plan);
  const { fingerprint, changes } = plan.x_graphform;
  const counts: { [action: string]: number } = {};
  for (const { action } of Object.values(changes)) counts[action] = (counts[action] ?? 0) + 1;
  return {
    ...{ verdict, fingerprint, counts: JSON.stringify(counts), attempts: 0 },
    reasons: JSON.stringify([...why, ...reasons]),
  };
}

/**
 * Returns why a later plan is not the approved one; undefined if it does the same. Objects that have appeared since, and that no state binds,
 * are no difference: nothing of this manifest was at work meanwhile, so that they are not its own.
 */
export function difference(approved: PlanDocument, later: PlanDocument): string | undefined {
  const [before, now] = [partsOf(approved), partsOf(later)];
  const other = [...new Set([...before.keys(), ...now.keys()])].find(
    (part) => !isDeepStrictEqual(before.get(part), now.get(part)),
  );
  return other && `the service has changed since the plan was approved: ${other}`;
}

/** The parts of a plan that are compared, by address. The database does not keep the order of their keys. */
function partsOf({
  resource_changes,
  output_changes,
  x_graphform,
}: PlanDocument): ReadonlyMap<string, unknown> {
  const { changes, steps } = x_graphform;
  const parts = new Map<string, unknown>([["outputs", output_changes]]);
  for (const { address, change } of resource_changes) {
    const { may_be, where, reason, ...rest } = { where: undefined, reason: "", ...changes[address] };
    if (rest.action === "keep") continue;
    parts.set(address, [change, rest, steps.filter((step) => step.address === address)]);
  }
  return parts;
}

/**
 * Returns why a later plan goes beyond an approved one; undefined if it does no more than what is left of that: each of its changes is one
 * that was approved, on the same object, to the same values.
 */
export function beyond(approved: PlanDocument, later: PlanDocument): string | undefined {
  const known = new Map(approved.resource_changes.map((change) => [change.address, change.change]));
  for (const { address, change } of later.resource_changes) {
    const action = later.x_graphform.changes[address]?.action ?? "unknown";
    if (action === "keep") continue;
    const was = known.get(address);
    const approvedAction = approved.x_graphform.changes[address]?.action;
    if (was === undefined || approvedAction === undefined || approvedAction === "keep")
      return `${address}: ${action} was not approved`;
    if (action !== approvedAction && !isRestOf(approvedAction, action))
      return `${address}: ${approvedAction} was approved, and not ${action}`;
    if (!isWithin(was.after, change.after, was.after_unknown))
      return `${address}: other values were approved`;
  }
  return undefined;
}

/** True if an approved action, begun and not finished, may look like the other one in a plan. */
function isRestOf(approved: string, action: string): boolean {
  return (
    (approved === "replace" && ["create", "delete", "update"].includes(action)) ||
    (approved === "create" && ["adopt", "update"].includes(action))
  );
}

/** True if all values are equal, but for those that were unknown when the plan was approved. */
function isWithin(approved: unknown, later: unknown, unknown: unknown): boolean {
  if (unknown === true) return true;
  if (!isRecord(approved) || !isRecord(later)) return isDeepStrictEqual(approved, later);
  const marks: Readonly<Record<string, unknown>> = isRecord(unknown) ? unknown : {};
  return [...new Set([...Object.keys(approved), ...Object.keys(later), ...Object.keys(marks)])].every((key) =>
    isWithin(approved[key], later[key], marks[key]),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

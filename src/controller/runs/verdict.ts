/** @module Decides from the JSON document of a plan whether it may be applied without a person, and whether a later plan stays within it. */
import { isDeepStrictEqual } from "node:util";
import { type Disruption, disruptions } from "../../index.ts";
import type { Verdict } from "./transitions.ts";

interface Change {
  readonly action: string;
  readonly disruption: Disruption;
  readonly blocked: readonly { readonly message: string; readonly lift?: string }[];
  readonly gone?: boolean;
  readonly may_be?: object;
  readonly fields?: { readonly [path: string]: { readonly disruption: string; readonly effect: string } };
}

/** The parts of a plan's document that are read here (`schemas/plan.schema.json`), and what only the controller keeps with it. */
export interface PlanDocument {
  /** Fingerprints of what its steps send, under the key of the state. Nothing shows them. */
  readonly secrets?: readonly string[];
  readonly applyable: boolean;
  readonly complete: boolean;
  readonly resource_changes: readonly {
    readonly address: string;
    readonly change: { readonly before?: unknown; readonly after: unknown; readonly after_unknown?: unknown };
  }[];
  readonly output_changes?: { readonly [name: string]: { readonly actions: readonly string[] } };
  readonly x_graphform: {
    readonly fingerprint: string;
    readonly serial: number;
    readonly service?: object;
    readonly changes: { readonly [address: string]: Change };
    readonly steps: readonly {
      readonly address: string;
      readonly operation: string;
      readonly verb?: string;
    }[];
  };
}

/** More changes than this need the approval of a person; so does a larger share of the objects, unless it is a single one. */
const [maxChanges, maxShare] = [20, 0.25];

/** Operations that alone change nothing that a database's users notice. */
const safeOperations = new Set(["create", "update", "heal", "wait"]);

/** The reasons that make a plan risky. Anything that is not known to be safe is risky. */
function risksOf({ complete, x_graphform: { changes, steps } }: PlanDocument): readonly string[] {
  const all = Object.entries(changes);
  const changing = all.filter(([, { action }]) => action !== "keep");
  const standing = all.filter(([, { action }]) => action !== "create").length;
  const touched = changing.filter(([, { action }]) => action !== "create").length;
  const reasons = [
    ...(complete ? [] : ["the plan does not cover everything that is declared"]),
    ...changing.flatMap(([address, change]) => riskOf(change).map((why) => `${address}: ${why}`)),
    ...steps
      .filter(({ operation }) => !safeOperations.has(operation))
      .map(({ address, operation, verb }) => `${address}: ${verb ?? operation}`),
    ...(changing.length > maxChanges ? [`${changing.length} changes at once, more than ${maxChanges}`] : []),
    ...(touched > 1 && touched > standing * maxShare
      ? [`${touched} of ${standing} objects change at once, more than ${maxShare * 100} %`]
      : []),
  ];
  return [...new Set(reasons)];
}

function riskOf({ action, disruption, blocked, gone, may_be, fields = {} }: Change): readonly string[] {
  const replaces = Object.values(fields).some(({ effect }) => effect === "replace") && action !== "create";
  return [
    ...blocked.map(({ message, lift }) => `blocked: ${[message, lift].filter(Boolean).join("; ")}`),
    ...(action === "create" || action === "update" ? [] : [action]),
    ...(gone === true ? ["it has disappeared, and would be created empty"] : []),
    ...(may_be === undefined ? [] : ["an object that may be this one exists"]),
    ...(disruption === "none" ? [] : [disruption]),
    ...(replaces ? ["replace"] : []),
  ];
}

/** True if a plan changes anything: an object, a binding, or an output. */
export function changesAnything({ output_changes = {}, x_graphform: { changes } }: PlanDocument): boolean {
  const outputs = Object.values(output_changes).flatMap(({ actions }) => actions);
  return (
    outputs.some((action) => action !== "no-op") ||
    Object.values(changes).some(({ action }) => action !== "keep")
  );
}

/** True if the plan sees objects that no state binds, and that it adopts, or that may be what it is about to create. */
export function seesUnmanaged({ x_graphform: { changes } }: PlanDocument): boolean {
  return Object.values(changes).some(({ action, may_be }) => action === "adopt" || may_be !== undefined);
}

/** Columns of a run with this plan: `why` stands before the reasons of its verdict, and makes it risky. The run is charged with no attempt any more. */
export function planColumns(
  plan: PlanDocument,
  why: readonly string[] = [],
): { readonly [column in "fingerprint" | "counts" | "reasons"]: string } & {
  readonly verdict: Verdict;
  readonly attempts: 0;
} {
  const risks = [...why, ...risksOf(plan)];
  const { fingerprint, changes } = plan.x_graphform;
  const byAction = Object.entries(Object.groupBy(Object.values(changes), ({ action }) => action));
  const counts = Object.fromEntries(byAction.map(([action, some = []]) => [action, some.length]));
  return {
    ...{ verdict: risks.length === 0 ? "safe" : "risky", fingerprint, attempts: 0 },
    counts: JSON.stringify(counts),
    reasons: JSON.stringify(risks),
  };
}

/**
 * Returns why a later plan is not the approved one; undefined if it does the same. Objects that have appeared since, and that no state binds,
 * are no difference: nothing of this manifest was at work meanwhile, so that they are not its own.
 */
export function difference(approved: PlanDocument, later: PlanDocument): string | undefined {
  const elsewhere = otherService(approved, later);
  if (elsewhere !== undefined) return elsewhere;
  const [before, now] = [partsOf(approved), partsOf(later)];
  const other = [...before.keys(), ...now.keys()].find(
    (part) => !isDeepStrictEqual(before.get(part), now.get(part)),
  );
  return other && `the service or a secret has changed since the plan was approved: ${other}`;
}

/** True if a later plan sends a secret that the approved one would not have sent. Before there is a state, secrets have no fingerprints. */
export function hasOtherSecret({ secrets, x_graphform }: PlanDocument, later: readonly string[]): boolean {
  return x_graphform.serial > 0 && secrets !== undefined && later.some((each) => !secrets.includes(each));
}

/** The parts of a plan that are compared, by address. The database does not keep the order of their keys. */
function partsOf({
  resource_changes,
  output_changes,
  x_graphform,
}: PlanDocument): ReadonlyMap<string, unknown> {
  const { changes, steps } = x_graphform;
  const parts = resource_changes.flatMap(({ address, change }): readonly (readonly [string, unknown])[] => {
    const { may_be, where, reason, ...rest } = { where: undefined, reason: "", ...changes[address] };
    if (rest.action === "keep") return [];
    return [[address, [change, rest, steps.filter((step) => step.address === address)]]];
  });
  return new Map([["outputs", output_changes], ...parts]);
}

/** Returns which create of a plan may have been done already, by objects that the approved plan did not show: the server that knew it was lost. */
export function appeared(approved: PlanDocument, later: PlanDocument): string | undefined {
  const before = approved.x_graphform.changes;
  const found = Object.entries(later.x_graphform.changes).find(
    ([address, { may_be }]) => may_be !== undefined && !isDeepStrictEqual(may_be, before[address]?.may_be),
  );
  return found && `the database was failed over since, and an object that may be ${found[0]} exists by now`;
}

function otherService(approved: PlanDocument, later: PlanDocument): string | undefined {
  const [before, now] = [approved.x_graphform.service, later.x_graphform.service];
  return isDeepStrictEqual(before, now) ? undefined : "it was approved for another service";
}

/** Returns why a later plan goes beyond an approved one; undefined if each of its changes is one of that, on the same object to the same values. */
export function beyond(approved: PlanDocument, later: PlanDocument): string | undefined {
  const elsewhere = otherService(approved, later);
  if (elsewhere !== undefined) return elsewhere;
  const known = new Map(approved.resource_changes.map((change) => [change.address, change.change]));
  for (const { address, change } of later.resource_changes) {
    const action = later.x_graphform.changes[address]?.action ?? "unknown";
    const before = approved.x_graphform.changes[address]?.action ?? "keep";
    const was = known.get(address);
    if (action === "keep") continue;
    if (was === undefined || before === "keep") return `${address}: ${action} was not approved`;
    if (action !== before && restsOf[before]?.includes(action) !== true)
      return `${address}: ${before} was approved, and not ${action}`;
    const [now, then] = [disruptionAt(later, address), disruptionAt(approved, address)];
    if (disruptions.indexOf(now) > disruptions.indexOf(then))
      return `${address}: it means ${now} by now, and ${then} was approved`;
    if (!isWithin(was.after, change.after, was.after_unknown, change.before))
      return `${address}: other values were approved`;
  }
  return undefined;
}

function disruptionAt({ x_graphform }: PlanDocument, address: string): Disruption {
  return x_graphform.changes[address]?.disruption ?? "none";
}

/** Actions as which an approved one, begun and not finished, may look in a plan. */
const restsOf: { readonly [approved: string]: readonly string[] } = {
  replace: ["create", "delete", "update"],
  create: ["adopt", "update"],
};

/**
 * True if all values are equal, except those that were unknown when the plan was approved, and those that the later plan leaves as they are:
 * an object that was created shows the service's defaults too.
 */
function isWithin(approved: unknown, later: unknown, unknown: unknown, before: unknown): boolean {
  if (unknown === true || (later !== undefined && isDeepStrictEqual(later, before))) return true;
  if (!isRecord(approved) || !isRecord(later)) return isDeepStrictEqual(approved, later);
  const marks: Readonly<Record<string, unknown>> = isRecord(unknown) ? unknown : {};
  const shown: Readonly<Record<string, unknown>> = isRecord(before) ? before : {};
  return Object.keys({ ...approved, ...later, ...marks }).every((key) =>
    isWithin(approved[key], later[key], marks[key], shown[key]),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

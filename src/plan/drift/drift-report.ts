/** @module Reports what differs from the last apply, from a plan and what it was made from. Pure. */
import { type Address, byAddress } from "../../model/address.ts";
import type { Desired } from "../../model/desired.ts";
import {
  type DriftClass,
  type DriftReport,
  driftClasses,
  type FieldDrift,
  type Happening,
  happenings,
  type NotChecked,
  type OutputDrift,
  type ResourceDrift,
  type Unchanged,
  type UnmanagedDrift,
} from "../../model/drift.ts";
import type { SourceRange } from "../../model/errors.ts";
import { fieldRows, rowAt } from "../../model/field-schema.ts";
import { defined, own } from "../../model/json.ts";
import type { Observed, Unmanaged } from "../../model/observed.ts";
import type { Change, Plan } from "../../model/plan.ts";
import { passwordRefused } from "../../model/probe.ts";
import type { Bound } from "../../model/state.ts";
import type { PlanInput } from "../subjects.ts";
import { fieldDrifts } from "./field-drifts.ts";

/** The report of a plan: every difference with its class, and the census with its denominator. */
export function driftReport(input: DriftInput): DriftReport {
  const { plan, unmanaged } = input;
  const desired = new Map(input.desired.map((entry): [Address, Desired] => [entry.address, entry]));
  const resources = plan.changes.flatMap((change): ResourceDrift[] => {
    const found = resourceDrift(change, desired.get(change.address), input);
    return found === undefined ? [] : [found];
  });
  const unsure = notChecked(input);
  return {
    version: 1,
    name: plan.name,
    timestamp: plan.timestamp,
    resources: resources.sort(worstFirst),
    unchanged: unchangedIn(plan, [...resources, ...unsure]),
    outputs: changedOutputs(plan),
    ...(unmanaged === undefined ? {} : { unmanaged: unmanagedOf(unmanaged, input) }),
    census: { ...plan.census, notChecked: unsure, unfinished: unfinished(input) },
    complete: plan.complete && unsure.every(({ failed }) => failed !== true),
  };
}

function worstFirst(left: ResourceDrift, right: ResourceDrift): number {
  const worse =
    driftClasses.indexOf(left.class) - driftClasses.indexOf(right.class) ||
    happenings.indexOf(left.what) - happenings.indexOf(right.what);
  return worse === 0 ? byAddress(left, right) : worse;
}

/** Planned resources that nothing else names, by address. */
function unchangedIn(
  { changes }: Plan,
  named: readonly { readonly address: Address }[],
): readonly Unchanged[] {
  const others = new Set(named.map(({ address }) => address));
  const unchanged = changes.filter(({ address }) => !others.has(address));
  return unchanged
    .map(({ address, kind, id, where }) => ({ address, kind, ...defined({ id, where }) }))
    .sort(byAddress);
}

/** Outputs with another value than at the last apply; one that waits for an apply, or is new, has none. */
function changedOutputs({ outputs }: Plan): readonly OutputDrift[] {
  return Object.entries(outputs).flatMap(([name, { action, unknown, before, after, sensitive }]) => {
    if (action !== "update" || unknown) return [];
    const applied = before === undefined ? {} : { applied: before };
    return [{ name, sensitive, ...applied, ...defined({ seen: after }) }];
  });
}

/** Resources that were not looked at or could not be read, by address. */
function notChecked({ plan, desired, observed, bound, unread = [] }: DriftInput): readonly NotChecked[] {
  const failed = new Set(unread.map(({ address }) => address));
  const planned = new Set(plan.changes.map(({ address }) => address));
  const found = desired.flatMap(({ address }): NotChecked[] => {
    if (failed.has(address)) return [];
    if (!planned.has(address)) return [{ address, reason: "left out by --target or --exclude" }];
    const seen = observed.get(address);
    if (seen === undefined && bound[address] === undefined)
      return [{ address, reason: "does not exist yet" }];
    if (seen?.phase.is !== "pending" || isShown(seen)) return [];
    return [{ address, reason: "the service does not show it yet" }];
  });
  return [
    ...found,
    ...unread.map(({ address, reason }): NotChecked => ({ address, reason, failed: true })),
  ].sort(byAddress);
}

/** Declared resources whose operation is still running, by address. */
function unfinished({ plan, desired, observed }: DriftInput): readonly NotChecked[] {
  const planned = new Set(plan.changes.map(({ address }) => address));
  const found = desired.flatMap(({ address }): NotChecked[] => {
    const seen = observed.get(address);
    if (seen?.phase.is !== "pending" || !planned.has(address) || !isShown(seen)) return [];
    return [{ address, reason: `still ${seen.phase.detail}` }];
  });
  return found.sort(byAddress);
}

function isShown({ spec }: Observed): boolean {
  return Object.values(spec).some(({ source }) => source !== "recorded");
}

function unmanagedOf(unmanaged: readonly Unmanaged[], { kinds }: DriftInput): readonly UnmanagedDrift[] {
  const found = unmanaged.map(({ kind, id, live }): UnmanagedDrift => {
    const schema = kinds.find(kind)?.schema;
    const identity = schema && [...fieldRows(schema)].find(([, row]) => row["x-identity"])?.[0];
    const name = identity === undefined ? undefined : live?.spec[identity]?.value;
    return { kind, id, ...(typeof name === "string" ? { name } : {}) };
  });
  return found.sort((left, right) => (`${left.kind} ${left.id}` < `${right.kind} ${right.id}` ? -1 : 1));
}

/** The drift of the resource of a change; undefined if nothing differs. */
function resourceDrift(
  change: Change,
  desired: Desired | undefined,
  input: DriftInput,
): ResourceDrift | undefined {
  const { address, kind, id, where, waysOn } = change;
  const found = verdictOf(change, desired, input);
  if (found === undefined) return undefined;
  const since = lastSeenRight(input.bound[address], found);
  const phase = input.observed.get(address)?.phase;
  const remedies = found.what === "failed" ? waysOn : undefined;
  return { address, kind, ...found, ...defined({ id, since, phase, waysOn: remedies, where }), events: [] };
}

/** The last time at which all fields that were changed outside were right; for a gone or failed object, the last time at which any field was. */
function lastSeenRight(bound: Bound | undefined, { fields, what }: DriftVerdict): string | undefined {
  if (bound === undefined) return undefined;
  const { seenRight = {}, appliedAt = bound.createdAt } = bound;
  const outside = fields.filter((field) => field.class === "outside");
  const isWhole = outside.length === 0 || what === "failed";
  const times = isWhole
    ? [appliedAt, ...Object.values(seenRight)].sort().reverse()
    : outside.map(({ path }) => own(seenRight, path) ?? appliedAt).sort();
  return times[0];
}

type DriftVerdict = Pick<ResourceDrift, "class" | "what" | "reason" | "fields">;

function verdictOf(
  change: Change,
  desired: Desired | undefined,
  input: DriftInput,
): DriftVerdict | undefined {
  const [bound, observed] = [input.bound[change.address], input.observed.get(change.address)];
  if (bound === undefined)
    return change.action === "keep" ? undefined : whole("ours", "unapplied", change.reason);
  if (observed === undefined) return absent(change, desired, bound);
  const { schema } = input.kinds.named(change.kind);
  const fields = fieldDrifts({
    change,
    bound,
    observed,
    ...defined({ desired }),
    schema,
    fieldRange: (path) => input.fieldRange(change.address, path),
  });
  if (observed.phase.is === "failed" && desired !== undefined)
    return { ...whole("outside", "failed", `the service says ${observed.phase.detail}`), fields };
  const outside = fields.filter((field) => field.class === "outside");
  if (outside.length > 0) {
    const rows = fieldRows(schema);
    const isPower = outside.some(({ path }) => rowAt(rows, path)["x-operations"] !== undefined);
    const isName = outside.every(({ path }) => rowAt(rows, path)["x-identity"] === true);
    const power: Happening = observed.phase.is === "stopped" ? "stopped" : "started";
    const what = isPower ? power : isName ? "renamed" : "changed";
    return { ...whole("outside", what, happened(what, outside)), fields };
  }
  if (change.action !== "keep") return { ...whole("ours", "unapplied", change.reason), fields };
  if (fields.length === 0) return undefined;
  const isOurs = fields.some((field) => field.class === "ours");
  return isOurs
    ? { ...whole("ours", "unapplied", "an apply was not seen to finish"), fields }
    : { ...whole("cosmetic", "unimportant", "differs in what does not matter"), fields };
}

function absent({ reason, id }: Change, desired: Desired | undefined, bound: Bound): DriftVerdict {
  if (bound.converging?.operation === "delete")
    return whole("ours", "unapplied", "its deletion by graphform was under way");
  if (desired === undefined) return whole("cosmetic", "unimportant", reason);
  return whole("outside", "deleted", `${id ?? bound.id} is gone: it was deleted outside graphform`);
}

function happened(what: Happening, outside: readonly FieldDrift[]): string {
  if (what !== "changed") return `${what} outside graphform`;
  if (outside.every(({ reason }) => reason.startsWith(passwordRefused))) return passwordRefused;
  return outside.length === 1
    ? "1 field was changed outside"
    : `${outside.length} fields were changed outside`;
}

function whole(worst: DriftClass, what: Happening, reason: string): DriftVerdict {
  return { class: worst, what, reason, fields: [] };
}

/** A plan and what it was made from; the same input gives the same report, byte for byte. */
interface DriftInput extends Pick<PlanInput, "desired" | "observed" | "kinds"> {
  readonly plan: Plan;
  /** Binding of each address, moves carried out. */
  readonly bound: { readonly [address: Address]: Bound };
  /** Objects and lists that could not be read, and that the plan leaves out. Default: none. */
  readonly unread?: readonly NotChecked[];
  /** Unmanaged objects; absent if they were not asked for. */
  readonly unmanaged?: readonly Unmanaged[];
  /** The place in the manifest that declares a field, or the nearest one. */
  readonly fieldRange: (address: Address, path: string) => SourceRange | undefined;
}

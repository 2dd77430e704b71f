/** @module Reports what differs from the last apply, from a plan and what it was made from. Pure. */
import type { Address } from "../../model/address.ts";
import type { Desired } from "../../model/desired.ts";
import {
  type DriftReport,
  driftClasses,
  happenings,
  type NotChecked,
  type OutputDrift,
  type ResourceDrift,
  type Unchanged,
  type UnmanagedDrift,
} from "../../model/drift.ts";
import type { Observed } from "../../model/observed.ts";
import type { Plan } from "../../model/plan.ts";
import { traitsOf } from "../../model/traits.ts";
import type { Unmanaged } from "../input.ts";
import type { DriftInput } from "./input.ts";
import { resourceDrift } from "./resource-drift.ts";

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
  return worse === 0 ? (left.address < right.address ? -1 : 1) : worse;
}

/** Planned resources that nothing else names, by address. */
function unchangedIn(
  { changes }: Plan,
  named: readonly { readonly address: Address }[],
): readonly Unchanged[] {
  const others = new Set(named.map(({ address }) => address));
  return changes
    .filter(({ address }) => !others.has(address))
    .map(({ address, kind, id, where }) => ({
      address,
      kind,
      ...(id === undefined ? {} : { id }),
      ...(where === undefined ? {} : { where }),
    }))
    .sort((left, right) => (left.address < right.address ? -1 : 1));
}

/** Outputs with another value than at the last apply; one that waits for an apply, or is new, has none. */
function changedOutputs({ outputs }: Plan): readonly OutputDrift[] {
  return Object.entries(outputs).flatMap(([name, { action, unknown, before, after, sensitive }]) => {
    if (action !== "update" || unknown) return [];
    const applied = before === undefined ? {} : { applied: before };
    return [{ name, sensitive, ...applied, ...(after === undefined ? {} : { seen: after }) }];
  });
}

/** Resources that nobody looked at or that could not be read, by address. */
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
  return byAddress([
    ...found,
    ...unread.map(({ address, reason }): NotChecked => ({ address, reason, failed: true })),
  ]);
}

/** Declared resources whose operation is still running, by address. */
function unfinished({ plan, desired, observed }: DriftInput): readonly NotChecked[] {
  const planned = new Set(plan.changes.map(({ address }) => address));
  const found = desired.flatMap(({ address }): NotChecked[] => {
    const seen = observed.get(address);
    if (seen?.phase.is !== "pending" || !planned.has(address) || !isShown(seen)) return [];
    return [{ address, reason: `still ${seen.phase.detail}` }];
  });
  return byAddress(found);
}

function isShown({ spec }: Observed): boolean {
  return Object.values(spec).some(({ source }) => source !== "recorded");
}

function byAddress(list: readonly NotChecked[]): readonly NotChecked[] {
  return [...list].sort((left, right) => (left.address < right.address ? -1 : 1));
}

function unmanagedOf(unmanaged: readonly Unmanaged[], { kinds }: DriftInput): readonly UnmanagedDrift[] {
  const found = unmanaged.map(({ kind, id, live }): UnmanagedDrift => {
    const schema = kinds.find(kind)?.schema;
    const identity = schema && [...traitsOf(schema).values()].find((trait) => trait.identity)?.path;
    const name = identity === undefined ? undefined : live?.spec[identity]?.value;
    return { kind, id, ...(typeof name === "string" ? { name } : {}) };
  });
  return found.sort((left, right) => (`${left.kind} ${left.id}` < `${right.kind} ${right.id}` ? -1 : 1));
}

/** @module Compares two plans: which changes are new, which are gone, which are other changes now. */
import { defined, stableJson } from "../../model/json.ts";
import type { Change, FieldChange, Plan } from "../../model/plan.ts";
import { fieldsOf as setFields } from "../../model/spec.ts";
import { type RedactedChange, type RedactedValue, redactedFields, redactPlan } from "../redact.ts";
import type { KindNames } from "../words.ts";

/** Changes that differ from the earlier plan in one way. */
export interface DifferenceView {
  readonly is: "new" | "gone" | "different";
  /** Sorted; at least one. */
  readonly addresses: readonly string[];
  /** Sentences without full stop: `update, was: replace`. */
  readonly facts: readonly string[];
}

export interface ComparisonView {
  /** Made from the same state, with the same changes and steps. */
  readonly isSame: boolean;
  /** ISO 8601, of the earlier plan. */
  readonly timestamp: string;
  readonly name: string;
  readonly differences: readonly DifferenceView[];
  /** Number of changes that are the same in both. */
  readonly same: number;
}

/** Compares the changes of two plans by their addresses. Secrets are compared and never shown. */
export function comparePlans(earlier: Plan, later: Plan, names: KindNames): ComparisonView {
  const before = changesOf(earlier, names);
  const after = changesOf(later, names);
  const found = [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((address) => {
    const difference = differenceOf(before.get(address), after.get(address));
    return difference === undefined ? [] : [{ ...difference, address }];
  });
  const differing = found.filter(({ is }) => is === "different").length;
  const same = [...after.keys()].filter((address) => before.has(address)).length - differing;
  const folded = new Map<string, DifferenceView>();
  for (const { is, facts, address } of found) {
    const key = stableJson([is, facts]);
    folded.set(key, { is, facts, addresses: [...(folded.get(key)?.addresses ?? []), address] });
  }
  const { timestamp, name } = earlier;
  const isSame = earlier.fingerprint === later.fingerprint;
  return { isSame, timestamp, name, differences: [...folded.values()], same };
}

/** A change as it is, and as it may be shown. */
interface Compared {
  readonly change: Change;
  readonly shown: RedactedChange;
}

function changesOf(plan: Plan, names: KindNames): ReadonlyMap<string, Compared> {
  const shown = new Map(redactPlan(plan, names).changes.map((change) => [change.address, change]));
  return new Map(
    plan.changes.flatMap((change) => {
      const one = shown.get(change.address);
      return one === undefined || change.action === "keep" ? [] : [[change.address, { change, shown: one }]];
    }),
  );
}

function differenceOf(
  was: Compared | undefined,
  is: Compared | undefined,
): Omit<DifferenceView, "addresses"> | undefined {
  if (was === undefined) return is && { is: "new", facts: [`${is.change.action}: ${is.change.reason}`] };
  if (is === undefined) return { is: "gone", facts: [`${was.change.action}: ${was.change.reason}`] };
  const [before, after] = [was.change, is.change];
  const fact = (name: string, old: string, now: string): readonly string[] =>
    old === now ? [] : [`${name}${now}, was: ${old}`];
  const held = before.blocked.map(({ code }) => code);
  const holds = after.blocked.map(({ code }) => code);
  const facts = [
    ...fact("", before.action, after.action),
    ...fact("id ", before.id ?? "(none)", after.id ?? "(none)"),
    ...fact("disruption ", before.disruption, after.disruption),
    ...holds.filter((code) => !held.includes(code)).map((code) => `blocked now: ${code}`),
    ...held.filter((code) => !holds.includes(code)).map((code) => `no longer blocked: ${code}`),
    ...(before.action === after.action ? fieldFacts(was, is) : []),
  ];
  return facts.length === 0 ? undefined : { is: "different", facts };
}

function fieldFacts(before: Compared, after: Compared): readonly string[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was?.digest === is?.digest) return [];
    const values = [was?.before, was?.after, is?.before, is?.after];
    const isSecret = values.some((value) => value?.sensitive === true);
    if (isSecret && was !== undefined && is !== undefined) return [`${path}: another secret`];
    return [`${path}: ${fieldText(is)}, was: ${fieldText(was)}`];
  });
}

type Sides = Pick<FieldChange<RedactedValue>, "before" | "after">;

/** The fields that a change sets, with digests of their values as they are; those of a new resource have no value before. */
function fieldsOf({ change, shown }: Compared): ReadonlyMap<string, Sides & { readonly digest: string }> {
  if (change.action === "create") {
    const sides = new Map(redactedFields(shown.after));
    return new Map(
      setFields(change.after ?? {}).map(([path, after]) => [
        path,
        { ...defined({ after: sides.get(path) }), digest: stableJson(["(none)", after]) },
      ]),
    );
  }
  return new Map(
    change.fields.map(({ path, before = "(none)", after = "(none)" }, at) => [
      path,
      { ...shown.fields[at], digest: stableJson([before, after]) },
    ]),
  );
}

function fieldText(sides: Sides | undefined): string {
  if (sides === undefined) return "not changed";
  const next = sides.after?.text ?? "(no longer managed)";
  if (sides.before === undefined || sides.before.sensitive === true) return next;
  return `${sides.before.text} → ${next}`;
}

/** @module Compares two plans: which changes are new, which are gone, which are other changes now. */
import { stableJson } from "../../model/json.ts";
import type { Change, FieldChange, Plan } from "../../model/plan.ts";
import { isSecretPath, type KindNames } from "../kind-words.ts";
import { sensitive, valueText } from "../value-text.ts";
import { plannedSpec } from "./planned-spec.ts";

/** Changes that differ from the earlier plan in the same way. */
export interface DifferenceView {
  readonly is: "new" | "gone" | "different";
  /** Sorted; at least one. */
  readonly addresses: readonly string[];
  /** Sentences without full stop: `update, was: replace`. */
  readonly facts: readonly string[];
}

/** The differences of two plans. */
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
  const before = changesOf(earlier);
  const after = changesOf(later);
  const found = [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((address) => {
    const difference = differenceOf(before.get(address), after.get(address), names);
    return difference === undefined ? [] : [{ ...difference, address }];
  });
  const same = [...after.keys()].filter((address) => before.has(address)).length - count(found, "different");
  const folded = new Map<string, DifferenceView>();
  for (const { is, facts, address } of found) {
    const key = stableJson([is, facts]);
    folded.set(key, { is, facts, addresses: [...(folded.get(key)?.addresses ?? []), address] });
  }
  const { timestamp, name } = earlier;
  return {
    isSame: earlier.fingerprint === later.fingerprint,
    timestamp,
    name,
    differences: [...folded.values()],
    same,
  };
}

function count(found: readonly Pick<DifferenceView, "is">[], is: DifferenceView["is"]): number {
  return found.filter((difference) => difference.is === is).length;
}

function changesOf({ changes }: Plan): ReadonlyMap<string, Change> {
  return new Map(changes.filter(({ action }) => action !== "keep").map((change) => [change.address, change]));
}

function differenceOf(
  before: Change | undefined,
  after: Change | undefined,
  names: KindNames,
): Omit<DifferenceView, "addresses"> | undefined {
  if (before === undefined) return after && { is: "new", facts: [factOf(after)] };
  if (after === undefined) return { is: "gone", facts: [factOf(before)] };
  const facts = [
    ...(before.action === after.action ? [] : [`${after.action}, was: ${before.action}`]),
    ...(before.id === after.id ? [] : [`id ${after.id ?? "(none)"}, was: ${before.id ?? "(none)"}`]),
    ...(before.disruption === after.disruption
      ? []
      : [`disruption ${after.disruption}, was: ${before.disruption}`]),
    ...guardFacts(before, after),
    ...(before.action === after.action ? fieldFacts(before, after, names) : []),
  ];
  return facts.length === 0 ? undefined : { is: "different", facts };
}

function factOf({ action, reason }: Change): string {
  return `${action}: ${reason}`;
}

function guardFacts(before: Change, after: Change): readonly string[] {
  const held = before.blocked.map(({ code }) => code);
  const holds = after.blocked.map(({ code }) => code);
  return [
    ...holds.filter((code) => !held.includes(code)).map((code) => `blocked now: ${code}`),
    ...held.filter((code) => !holds.includes(code)).map((code) => `no longer blocked: ${code}`),
  ];
}

function fieldFacts(before: Change, after: Change, names: KindNames): readonly string[] {
  const old = fieldsOf(before);
  const now = fieldsOf(after);
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was !== undefined && is !== undefined && stableJson(asJson(was)) === stableJson(asJson(is)))
      return [];
    const isSecret = was?.secret === true || is?.secret === true || isSecretPath(after.kind, path, names);
    if (isSecret && was !== undefined && is !== undefined) return [`${path}: another secret`];
    return [`${path}: ${fieldText(is, isSecret)}, was: ${fieldText(was, isSecret)}`];
  });
}

type Sides = Pick<FieldChange, "before" | "after" | "secret">;

/** The fields that a change sets; those of a new resource have no value before. */
function fieldsOf(change: Change): ReadonlyMap<string, Sides> {
  if (change.action === "create")
    return new Map([...plannedSpec(change).after].map(([path, after]) => [path, { after, secret: false }]));
  return new Map(
    change.fields.map(({ path, before, after, secret }) => [path, { before, after, secret } as Sides]),
  );
}

function asJson({ before, after }: Sides) {
  return [before ?? "(none)", after ?? "(none)"];
}

function fieldText(sides: Sides | undefined, isSecret: boolean): string {
  if (sides === undefined) return "not changed";
  if (isSecret) return sensitive;
  const { before, after } = sides;
  const next = after === undefined ? "(no longer managed)" : valueText(after, false);
  return before === undefined ? next : `${valueText(before, false)} → ${next}`;
}

/** @module Classifies the difference between what was last applied, what is seen and what is declared. */
import { sameValue } from "../../model/compare.ts";
import type { DriftClass } from "../../model/drift.ts";
import { type Json, stableJson } from "../../model/json.ts";
import { passwordRefused } from "../../model/probe-troubles.ts";
import { waitsFor } from "../../model/templates.ts";
import type { Trait } from "../../model/traits.ts";

/** Everything that is known of one field. A value is absent where there is none. */
export interface FieldValues {
  readonly applied?: Json;
  /** Absent, with `isShown`: it was looked at, and is not there any more. */
  readonly seen?: Json;
  /** False where nothing shows the field, so that the last apply is all that is known. */
  readonly isShown: boolean;
  readonly declared?: Json;
  /** Apply would change the field. */
  readonly isPlanned: boolean;
  /** Named by `ignoreChanges`. */
  readonly isIgnored: boolean;
  /** An operation of graphform that sets it was not seen to finish. */
  readonly isUnderWay: boolean;
  readonly trait: Trait;
}

/** The class of a difference, and why. */
export interface Verdict {
  readonly class: DriftClass;
  readonly reason: string;
}

/** The class of a field's difference; undefined where nothing differs, or where nobody can tell. */
export function classifyField(values: FieldValues): Verdict | undefined {
  const { applied, seen, isShown, isPlanned, isUnderWay, trait } = values;
  if (isUnderWay && isPlanned)
    return { class: "ours", reason: "set by an apply that was not seen to finish" };
  if (isUnderWay) return undefined;
  if (applied === undefined) return isPlanned ? ours("not applied yet") : undefined;
  if (!isShown && !isPlanned) return undefined;
  if (!isShown && trait.secret)
    return ours(
      "the secret of this run is another one than was last applied; nothing shows which of them holds",
    );
  if (!isShown) return ours("changed in the manifest; not shown by the service");
  if (seen === undefined || !sameValue(applied, seen, trait)) return classifyChanged(values);
  if (isPlanned) return ours(trait.operations === undefined ? "changed in the manifest" : leftBy(values));
  return String(spelling(applied)) === String(spelling(seen))
    ? undefined
    : { class: "cosmetic", reason: "the same value in another spelling" };
}

function classifyChanged({ seen, declared, isIgnored, trait }: FieldValues): Verdict {
  if (isIgnored) return { class: "cosmetic", reason: "left alone: ignoreChanges names it" };
  if (declared === undefined) return { class: "cosmetic", reason: "not managed: the manifest leaves it out" };
  if (waitsFor(declared).length > 0)
    return { class: "cosmetic", reason: "follows an output that is not known yet" };
  if (seen !== undefined && sameValue(declared, seen, trait))
    return { class: "cosmetic", reason: "the manifest declares the new value, too" };
  if (seen === null && trait.secret) return { class: "outside", reason: passwordRefused };
  return { class: "outside", reason: seen === undefined ? "removed outside" : "changed outside" };
}

/** An apply and a lifecycle command leave the same trace, and the manifest may have changed since either. */
function leftBy({ applied, declared }: FieldValues): string {
  return `left ${String(applied)} by graphform itself; the manifest declares ${String(declared)}`;
}

function ours(reason: string): Verdict {
  return { class: "ours", reason };
}

function spelling(value: Json): Json {
  return typeof value === "object" ? stableJson(value) : value;
}

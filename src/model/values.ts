/** @module Reads and compares the values of an object: the only equality of planning and of apply, the values that a database shows, and the last applied ones beneath. */
import deepDiff from "deep-diff";
import {
  type FieldSchema,
  fieldRows,
  type KindSchema,
  type ProbeReading,
  partnersOf,
  type Rows,
  rowAt,
} from "./field-schema.ts";
import { type Json, mapped, own, stableJson } from "./json.ts";
import type { KindRegistry } from "./kind.ts";
import { type Live, objectKey, type PhaseName, type Ref, type Seen } from "./observed.ts";
import { perObject } from "./once.ts";
import type { Step } from "./plan.ts";
import type { ProbeAnswer, RawValue } from "./probe.ts";
import { parseSize } from "./quantity.ts";
import { holdsSecret } from "./sealed.ts";
import type { Spec } from "./spec.ts";
import type { Bound, StateDocument } from "./state.ts";

/** The part of a field that decides how its values are compared. */
export type Comparison = Pick<FieldSchema, "type" | "x-compare">;

/** True if two values of a field mean the same: "25" and 25 of a number, 6GB and 6144MB of a size. */
export function sameValue(left: Json, right: Json, field: Comparison): boolean {
  if (left === right) return true;
  if (isCompound(left) || isCompound(right)) return sameJson(left, right);
  return canonical(left, field) === canonical(right, field);
}

/** True if two values are the same data, in any order of keys. */
export function sameJson(left: Json, right: Json): boolean {
  if (left === right) return true;
  return isCompound(left) && isCompound(right) && deepDiff.diff(left, right) === undefined;
}

function isCompound(value: Json): boolean {
  return typeof value === "object" && value !== null;
}

function canonical(value: Json, { type, "x-compare": compare }: Comparison): Json {
  switch (compare) {
    case "size":
      return parseSize(String(value)) ?? value;
    case "memory-label":
      return own(memoryLabels, String(value)) ?? value;
    case "acl":
      return canonicalRules(String(value));
    default:
      return asTyped(value, type);
  }
}

/** The label and the amount of one size of a Startup database. */
const memoryLabels: { readonly [label: string]: string } = { "1GB": "1200M", "2GB": "2200M" };

/** A value in the type of its field: "25" as 25 of a number. A field without one type takes any: its text counts. */
export function asTyped(value: Json, type: FieldSchema["type"]): Json {
  if (value === null) return value;
  if ((type === "integer" || type === "number") && typeof value === "string" && value.trim() !== "") {
    const number = Number(value);
    return Number.isNaN(number) ? value : number;
  }
  if (type === "boolean" && typeof value === "string") {
    const lower = value.toLowerCase();
    return lower === "true" ? true : lower === "false" ? false : value;
  }
  return type === "string" || type === undefined ? String(value) : value;
}

/** Rules that say what a new user is without them -> the rules before them that they take back. */
const initialRules: { readonly [rule: string]: RegExp } = {
  "-@all": /^(?:\+|allcommands$)/i,
  resetchannels: /^(?:&|allchannels$)/i,
  resetkeys: /^(?:[~%]|allkeys$)/i,
  "sanitize-payload": /^skip-sanitize-payload$/i,
  on: /^off$/i,
};

/**
 * Access rules without white space, the case of commands, and rules that say what is so without them, as databases write them. Their order
 * counts only if one takes something away: later rules win.
 */
function canonicalRules(text: string): string {
  const all = text.split(/\s+/).filter((token) => token !== "");
  const tokens = all
    .filter((token, at) => {
      const taken = own(initialRules, token.toLowerCase());
      return taken === undefined || all.slice(0, at).some((earlier) => taken.test(earlier));
    })
    .map((token) => (/^[+-]/.test(token) ? token.toUpperCase() : token));
  const onlyGrants = tokens.every((token) => /^[+~&%]/.test(token));
  return (onlyGrants ? [...new Set(tokens)].sort() : tokens).join(" ");
}

/**
 * The value of a field that a database shows: the first of `known` (declared, described, last applied) that the engine reads as this, or
 * the engine's own in the manifest's words. Undefined if it cannot be told.
 */
export function readBack(row: FieldSchema, raw: RawValue, known: readonly Json[]): Json | undefined {
  const probe = row["x-probe"];
  if (probe === undefined) return undefined;
  if ("connection" in probe) return probe.connection === "tls" ? raw : raw === true ? known[0] : null;
  const { reading } = probe;
  if (reading === "nodes") return known.find((value) => Number(value) === Number(raw) + 1);
  if (reading === "switch") return Number(raw) === 0 ? "off" : undefined;
  const isSize = reading === "size" || reading === "memory-label";
  if (reading === "rows" && numberOf(raw) === 0) return noRows;
  const live = engineValue(isSize ? undefined : reading, raw);
  const same = known.find((value) => engineValue(reading, value) === live);
  return same ?? (isSize ? sizeText(Number(raw)) : (numberOf(raw) ?? raw));
}

/** The value that the engine makes of a declared one. */
export function engineValue(reading: ProbeReading | undefined, value: Json): RawValue {
  if (reading === "size") return parseSize(String(value)) ?? String(value);
  if (reading === "memory-label") return own(labelBytes, String(value)) ?? String(value);
  const number = typeof value === "number" || typeof value === "string" ? numberOf(value) : undefined;
  if (number === undefined) return String(value);
  if (reading === "power-of-two") return 2 ** Math.max(7, Math.ceil(Math.log2(Math.max(1, number))));
  // Any negative number is no limit and reads as -1; services write no limit as 0.
  return reading === "rows" && number <= 0 ? -1 : number;
}

/** A running database with 0 returns no rows at all, although services write 0 for no limit: no value of the manifest means that. */
const noRows = "no rows";

/** Bytes of the labels of a Startup database: 1000-based, and less than the label's own number. */
const labelBytes: { readonly [label: string]: number } = {
  ...{ "1200M": 1e9, "1GB": 1e9, "2200M": 2e9, "2GB": 2e9 },
};

function numberOf(value: RawValue): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?[0-9]{1,15}$/.test(value.trim()) ? Number(value) : undefined;
}

const units: readonly (readonly [bytes: number, unit: string])[] = [
  [1024 ** 3, "GB"],
  [1e9, "G"],
  [1024 ** 2, "MB"],
  [1e6, "M"],
];

/** Bytes in the largest unit that shows them exactly; 0 means no limit. */
function sizeText(bytes: number): string {
  if (bytes === 0) return "no limit";
  const [factor, unit] = units.find(([each]) => bytes > 0 && bytes % each === 0) ?? [1, "B"];
  return `${bytes / factor}${unit}`;
}

/**
 * The values of an answer in the manifest's words; null if the declared one is refused. Only declared fields, and those that limit them, are
 * among them. `declared`: the values that are known now; `others`: those that are shown, and those last applied.
 */
export function valuesShown(
  schema: KindSchema,
  answer: Extract<ProbeAnswer, { readonly is: "answered" | "refused" }>,
  declared: Spec,
  others: readonly Spec[],
): Spec {
  if (answer.is === "refused") return { [answer.path]: null };
  const rows = fieldRows(schema);
  const isDeclared = (path: string): boolean => declared[path] !== undefined;
  const shown = Object.entries(answer.values).flatMap(([path, raw]): [string, Json][] => {
    const row = rows.get(path);
    if (row === undefined || ![path, ...partnersOf(path, rows)].some(isDeclared)) return [];
    const known = [declared, ...others].map((spec) => spec[path]).filter((value) => value !== undefined);
    const value = readBack(row, raw, known);
    return value === undefined ? [] : [[path, value]];
  });
  return Object.fromEntries(shown);
}

const byId = perObject((resources: StateDocument["resources"]) =>
  Map.groupBy(Object.values(resources), ({ id }) => id),
);

/** Values last applied to an object, whatever its address; empty if it is not bound. The state is one that does not change. */
export function lastApplied({ resources }: Pick<StateDocument, "resources">, kind: string, ref: Ref): Spec {
  const key = objectKey(kind, ref);
  const bound = byId(resources)
    .get(ref.id)
    ?.find((entry) => objectKey(entry.kind, entry) === key);
  return bound === undefined ? {} : appliedOf(bound);
}

/** The values that count as applied to a bound object: those sent since the last apply come over those recorded. */
export function appliedOf({ recorded, converging }: Pick<Bound, "recorded" | "converging">): Spec {
  return { ...recorded, ...converging?.record };
}

/** Lays shown values over the last applied ones. A value sent since is applied, or unknown if its operation failed. */
export function overlay(
  shown: Spec<Seen>,
  bound: Bound | undefined,
  phase: PhaseName,
  whole: readonly string[] = [],
): Spec<Seen> {
  if (bound === undefined) return shown;
  const unknown = phase === "failed" ? (bound.converging?.record ?? {}) : {};
  const recorded = Object.entries(appliedOf(bound))
    .filter(([path]) => !Object.hasOwn(unknown, path) && !whole.some((map) => path.startsWith(`${map}.`)))
    .map(([path, value]): [string, Seen] => [path, { value, source: "recorded" }]);
  return { ...Object.fromEntries(recorded), ...shown };
}

/** The values that an object shows, without their sources. */
export function specOf({ spec }: Pick<Live, "spec">): Spec {
  return mapped(spec, ({ value }) => value);
}

/** The facts that a decision about an object rests on; `state`: the one that the plan is made from. */
export interface DecisionFacts {
  readonly kinds: KindRegistry;
  readonly state: Pick<StateDocument, "resources">;
  readonly digest: (text: string) => string;
}

/** Notes the paths of an object that a decision used, those of them that its database showed, and the digest of their values. */
export function notesOn(
  live: Live | undefined,
  decision: Pick<Step, "kind" | "place" | "checks">,
  facts: DecisionFacts,
): Pick<Step, "checks" | "probed" | "precondition"> {
  const { checks } = decision;
  const probed = checks.filter((path) => live?.spec[path]?.source === "probed");
  const precondition = preconditionOf(live, decision, facts);
  return { checks, ...(probed.length === 0 ? {} : { probed }), precondition };
}

/** The precondition of a step on an object that shows these values. */
export function preconditionOf(
  live: Live | undefined,
  { kind, place, checks }: Pick<Step, "kind" | "place" | "checks">,
  { kinds, state, digest }: DecisionFacts,
): string {
  const applied = live === undefined ? {} : lastApplied(state, kind, { id: live.id, place });
  return digest(preconditionText(live, checks, applied, fieldRows(kinds.named(kind).schema)));
}

/**
 * The text whose digest a step's `precondition` is: exactly the values that its decision used. A field that shows nothing counts as last
 * applied: services show some values late. Secrets are never shown, and count for nothing.
 */
export function preconditionText(
  live: Live | undefined,
  checks: readonly string[],
  applied: Spec,
  rows: Rows,
): string {
  if (live === undefined) return stableJson({ there: false });
  const values = checks.map((path): [string, Json] => {
    const seen = live.spec[path];
    const last = holdsSecret(applied[path]) ? undefined : applied[path];
    if (seen === undefined || seen.source === "recorded") return [path, last ?? null];
    return [path, last !== undefined && sameValue(last, seen.value, rowAt(rows, path)) ? last : seen.value];
  });
  return stableJson({ there: true, id: live.id, values: Object.fromEntries(values) });
}

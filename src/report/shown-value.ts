/** @module Makes the one value that reports get: a secret is replaced in it before anything is rendered. */
import type { Json } from "../model/json.ts";
import { isObject, stableJson } from "../model/json.ts";
import { holdsSecret, isReference, isTemplate, sensitive } from "../model/sealed.ts";
import type { Spec } from "../model/spec.ts";
import { withoutUserinfo } from "../model/userinfo.ts";
import { escapeText, quoteText } from "./escape.ts";

const made: unique symbol = Symbol("shown");

/** A value that may be shown. Only this file makes one: neither a value as it was read nor a sealed one is assignable to it. */
export interface ShownValue {
  readonly [made]: true;
  /** On one line, for people: text in quotes, a secret as `(sensitive)`, an output that is not known yet as `(known after apply)`. */
  readonly text: string;
  /** As JSON, without what is known only after apply; absent if that is all of it. */
  readonly json?: Json;
  /** True, or the shape of the value with `true` at each place that has `(sensitive)` in it. */
  readonly sensitive: Json;
  /** The same for what is known only after apply. */
  readonly unknown: Json;
}

/** Replaces a value that is an output of a resource not created yet. */
export const knownAfterApply = "(known after apply)";

/** The value as it may be shown: hidden as a whole if `isHidden`, or if it holds a secret. */
export function shownValue(value: Json, isHidden: boolean): ShownValue {
  if (isHidden || holdsSecret(value))
    return { [made]: true, text: sensitive, json: sensitive, sensitive: true, unknown: false };
  return { [made]: true, ...partsOf(value), text: textOf(value) };
}

/** The fields that a spec sets: a group without entries sets none. */
export function shownFields(
  spec: Spec<ShownValue> = {},
): readonly (readonly [path: string, value: ShownValue])[] {
  return Object.entries(spec).filter(([, { json }]) => !isObject(json) || Object.keys(json).length > 0);
}

/** True if both are the same and shown as a whole: of two secrets nothing is said. */
export function sameShown(left: ShownValue | undefined, right: ShownValue | undefined): boolean {
  if (left === undefined || right === undefined || isMarked(left.sensitive) || isMarked(right.sensitive))
    return false;
  return left.text === right.text && stableJson(left.json ?? null) === stableJson(right.json ?? null);
}

/** True for `true`, and for a shape with `true` in it. */
export function isMarked(mark: Json): boolean {
  if (Array.isArray(mark)) return mark.some(isMarked);
  return isObject(mark) ? Object.values(mark).some(isMarked) : mark === true;
}

function partsOf(value: Json): Pick<ShownValue, "json" | "sensitive" | "unknown"> {
  if (isReference(value) || isTemplate(value)) return { sensitive: false, unknown: true };
  if (typeof value === "string") {
    const json = withoutUserinfo(value);
    return { json, sensitive: json !== value, unknown: false };
  }
  if (Array.isArray(value)) {
    const parts = value.map(partsOf);
    const marks = (which: "sensitive" | "unknown"): Json => {
      const list = parts.map((part) => part[which]);
      return list.some(isMarked) ? list : [];
    };
    return {
      json: parts.map((part) => part.json ?? null),
      sensitive: marks("sensitive"),
      unknown: marks("unknown"),
    };
  }
  if (!isObject(value)) return { json: value, sensitive: false, unknown: false };
  const parts = Object.entries(value).map(([key, inner]) => [key, partsOf(inner)] as const);
  const marks = (which: "sensitive" | "unknown"): Json =>
    Object.fromEntries(
      parts.flatMap(([key, part]) => (isMarked(part[which]) ? [[key, part[which]] as const] : [])),
    );
  const json = Object.fromEntries(
    parts.flatMap(([key, part]) => (part.json === undefined ? [] : [[key, part.json] as const])),
  );
  return { json, sensitive: marks("sensitive"), unknown: marks("unknown") };
}

function textOf(value: Json): string {
  if (isReference(value)) return knownAfterApply;
  if (isTemplate(value)) {
    const [only] = value.$template;
    return value.$template.length <= 1 && typeof only !== "string"
      ? knownAfterApply
      : quoteText(withoutUserinfo(expressionOf(value)));
  }
  if (typeof value === "string") return quoteText(withoutUserinfo(value));
  return typeof value === "object" ? escapeText(stableJson(asWritten(value)), 240) : String(value);
}

/** Replaces every expression in lists and maps by its text. */
function asWritten(value: Json): Json {
  if (isTemplate(value) || isReference(value)) return withoutUserinfo(expressionOf(value));
  if (typeof value === "string") return withoutUserinfo(value);
  if (Array.isArray(value)) return value.map(asWritten);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asWritten(inner)]));
}

function expressionOf(value: Json): string {
  if (isReference(value)) return `\${${value.$ref}}`;
  if (!isTemplate(value)) return String(value);
  return value.$template.map(expressionOf).join("");
}

/** @module Masks secrets and unknown values for JSON reports. */
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import { holdsSecret, isReference, isSealed, isTemplate } from "../model/sealed.ts";
import { sensitive } from "./value-text.ts";

/**
 * A value in the shape of Terraform's plan. `shown` omits unknown values and has `(sensitive)` for secrets; `sensitive` and
 * `unknown` have the shape of the value, with `true` at each such place.
 */
export interface Masked {
  readonly shown?: Json;
  readonly sensitive: Json;
  readonly unknown: Json;
}

/** Masks a value. `isSecret` is called with every dotted path. */
export function masked(value: Json, isSecret: (path: string) => boolean, path = ""): Masked {
  if (path !== "" && isSecret(path)) return { shown: sensitive, sensitive: true, unknown: false };
  if (isSealed(value)) return { shown: sensitive, sensitive: true, unknown: false };
  if (isTemplate(value) || isReference(value)) {
    return isUnknown(value)
      ? { sensitive: holdsSecret(value), unknown: true }
      : { shown: sensitive, sensitive: true, unknown: false };
  }
  if (Array.isArray(value)) return maskedList(value, isSecret, path);
  if (isObject(value)) return maskedMap(Object.entries(value), isSecret, path);
  return { shown: value, sensitive: false, unknown: false };
}

/** True for a value that is known only after apply. A template without a reference combines secrets, so it is known. */
function isUnknown(value: Json): boolean {
  if (isReference(value)) return true;
  return isTemplate(value) && (value.$template.some(isReference) || !holdsSecret(value));
}

function maskedMap(
  entries: readonly (readonly [string, Json])[],
  isSecret: (path: string) => boolean,
  path: string,
): Masked {
  const parts = entries.map(
    ([key, inner]) => [key, masked(inner, isSecret, path === "" ? key : `${path}.${key}`)] as const,
  );
  const marks = (which: "sensitive" | "unknown"): Json =>
    Object.fromEntries(
      parts.map(([key, part]) => [key, part[which]] as const).filter(([, mark]) => isMarked(mark)),
    );
  const shown = parts.flatMap(([key, part]): [string, Json][] =>
    part.shown === undefined ? [] : [[key, part.shown]],
  );
  return { shown: Object.fromEntries(shown), sensitive: marks("sensitive"), unknown: marks("unknown") };
}

function maskedList(items: readonly Json[], isSecret: (path: string) => boolean, path: string): Masked {
  const parts = items.map((item) => masked(item, isSecret, `${path}[]`));
  const marks = (which: "sensitive" | "unknown"): Json => {
    const list = parts.map((part) => part[which]);
    return list.some(isMarked) ? list : [];
  };
  return {
    shown: parts.map((part) => part.shown ?? null),
    sensitive: marks("sensitive"),
    unknown: marks("unknown"),
  };
}

function isMarked(mark: Json): boolean {
  if (Array.isArray(mark)) return mark.length > 0;
  return isObject(mark) ? Object.keys(mark).length > 0 : mark === true;
}

/** @module Walks and merges the plain values of a manifest, and marks those that are missing because of an error that was reported. */
import { isObject, type Json, type JsonObject, mapped } from "../model/json.ts";
import { isTemplate, type Template } from "../model/sealed.ts";
import type { Path } from "./source.ts";

/** Stands for a missing value. Its problem was reported; do not report problems that follow from it. */
export const unresolved: Template = { $template: [] };

/** True for a value that is, or contains, an unresolved one. */
export function holdsUnresolved(value: Json | undefined): boolean {
  if (isTemplate(value)) return value.$template.length === 0;
  if (Array.isArray(value)) return value.some(holdsUnresolved);
  return isObject(value) && Object.values(value).some(holdsUnresolved);
}

/** The value if it is a map; otherwise an empty map. */
export function mapOf(value: Json | undefined): JsonObject {
  return isObject(value) && !isTemplate(value) ? value : {};
}

/** The texts of a list; none for a value of another type. */
export function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item: Json) => typeof item === "string") : [];
}

/** Every text in a value that is wanted, with its path. */
export function textsIn(
  value: Json | undefined,
  isWanted: (text: string) => boolean,
  path: Path = [],
): readonly { readonly text: string; readonly path: Path }[] {
  const found: { readonly text: string; readonly path: Path }[] = [];
  const at = [...path];
  const walk = (inner: Json, key: string | number): void => {
    at.push(key);
    add(inner);
    at.pop();
  };
  const add = (inner: Json | undefined): void => {
    if (typeof inner === "string") {
      if (isWanted(inner)) found.push({ text: inner, path: [...at] });
    } else if (Array.isArray(inner)) inner.forEach(walk);
    else if (isObject(inner)) for (const key of Object.keys(inner)) walk(inner[key] ?? null, key);
  };
  add(value);
  return found;
}

export function mapTexts(value: Json, replace: (text: string, path: Path) => Json, path: Path = []): Json {
  if (typeof value === "string") return replace(value, path);
  if (Array.isArray(value)) return value.map((item, at) => mapTexts(item, replace, [...path, at]));
  if (!isObject(value)) return value;
  return mapped(value, (inner, key) => mapTexts(inner, replace, [...path, key]));
}

/** @module Marks values that are missing because of an error that was reported. */
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Template } from "../model/sealed.ts";
import { isTemplate } from "../model/sealed.ts";

/** Stands for a missing value. Its problem was reported; do not report problems that follow from it. */
export const unresolved: Template = { $template: [] };

/** True where a value is, or contains, an unresolved one. */
export function holdsUnresolved(value: Json | undefined): boolean {
  if (isTemplate(value)) return value.$template.length === 0;
  if (Array.isArray(value)) return value.some(holdsUnresolved);
  return isObject(value) && Object.values(value).some(holdsUnresolved);
}

/** The value where it is a map; otherwise an empty map. */
export function mapOf(value: Json | undefined): { readonly [key: string]: Json } {
  return isObject(value) && !isTemplate(value) ? value : {};
}

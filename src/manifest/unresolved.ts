import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Template } from "../model/sealed.ts";
import { isTemplate } from "../model/sealed.ts";

/** Stands for a value that could not be had; a problem was reported, and nothing that follows from it should be. */
export const unresolved: Template = { $template: [] };

/** True where such a value stands anywhere inside. */
export function holdsUnresolved(value: Json | undefined): boolean {
  if (isTemplate(value)) return value.$template.length === 0;
  if (Array.isArray(value)) return value.some(holdsUnresolved);
  return isObject(value) && Object.values(value).some(holdsUnresolved);
}

/** A map of the manifest, or an empty one in the place of anything else. */
export function mapOf(value: Json | undefined): { readonly [key: string]: Json } {
  return isObject(value) && !isTemplate(value) ? value : {};
}

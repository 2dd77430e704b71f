/** @module Names a place of objects for people. */
import type { JsonObject } from "./json.ts";

/** A list in words: its kind, and the parameters of its place. "instances of pro single-zone". */
export function placeText(kind: string, place: JsonObject): string {
  return `${kind} of ${Object.values(place).join(" ") || "the service"}`;
}

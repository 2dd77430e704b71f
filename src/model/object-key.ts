/** @module Names an object of the service as text: its kind, its place and its id. */
import { stableJson } from "./json.ts";
import type { Ref } from "./observed.ts";

/** The text that is equal for equal objects. An id alone names none: users of two instances may have the same. */
export function objectKey(kind: string, { id, place }: Pick<Ref, "id" | "place">): string {
  return `${kind} ${stableJson(place)} ${id}`;
}

/** @module Tells objects of the service apart: by kind, place and id, and by the time of their creation. */
import type { Address } from "./address.ts";
import { serviceTime } from "./clock.ts";
import { shellWord } from "./errors.ts";
import { type JsonObject, stableJson } from "./json.ts";
import type { Live, Ref } from "./observed.ts";
import type { Bound } from "./state.ts";

/** The text that is equal for equal objects. An id alone names none: users of two instances may have the same. */
export function objectKey(kind: string, { id, place }: Pick<Ref, "id" | "place">): string {
  return `${kind} ${stableJson(place)} ${id}`;
}

/** Says that another object has a bound id: it shows, or has shown, another second of its creation. Undefined if a time is unknown. */
export function anotherObject(bound: Bound | undefined, live: Pick<Live, "createdAt">): string | undefined {
  const other = bound?.otherCreatedAt ?? live.createdAt;
  if (bound === undefined || bound.shownCreatedAt === other) return undefined;
  const [then, now] = [serviceTime(bound.shownCreatedAt), serviceTime(other)];
  if (then === undefined || now === undefined || Math.abs(then - now) < 1000) return undefined;
  const seen = live.createdAt === other ? "it was created at" : "it was once shown as created at";
  return `${bound.id} is there, but is another object than the one that was bound: ${seen} ${other}, and that one at ${bound.shownCreatedAt}`;
}

/** The ways on from another object under a bound id, in one sentence. */
export function remedyForAnother(address: Address, id: string): string {
  const word = shellWord(address);
  return `if the one that was bound is gone for good: graphform state rm ${word}; to manage the one that is there: after that, graphform import ${word} ${shellWord(id)}`;
}

/** A list in words: its kind, and the parameters of its place. "instances of pro single-zone". */
export function placeText(kind: string, place: JsonObject): string {
  return `${kind} of ${Object.values(place).join(" ") || "the service"}`;
}

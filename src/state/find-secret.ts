/** @module Finds secrets in clear text anywhere in a value. */
import { maskerOf } from "../model/mask.ts";

/**
 * Shorter texts may stand anywhere by chance: "free" is a tier. They are kept out by where they come from: what feeds a
 * secret field is sealed before there is a plan.
 */
const shortest = 8;

/** The dotted path at which one of the texts is found in a value, in any spelling; undefined where none is. */
export function findSecret(value: unknown, texts: Iterable<string>): string | undefined {
  const long = new Set([...texts].filter((text) => text.length >= shortest));
  const masker = maskerOf(() => long);
  return findText(value, (text) => masker.text(text) !== text, "");
}

function findText(value: unknown, contains: (text: string) => boolean, at: string): string | undefined {
  if (typeof value === "string") return contains(value) ? at : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    if (contains(key)) return `a key of ${at}`;
    const found = findText(member, contains, at === "" ? key : `${at}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

import { maskerOf } from "../model/mask.ts";

/**
 * Shorter texts may stand anywhere by chance: "free" is a tier. They are kept out by where they come from: what feeds a
 * secret field is sealed before there is a plan.
 */
const telling = 8;

/** Where one of the texts stands in clear in a value, in any spelling, as a dotted path; undefined where none does. */
export function findSecret(value: unknown, texts: Iterable<string>): string | undefined {
  const long = new Set([...texts].filter((text) => text.length >= telling));
  const masker = maskerOf(() => long);
  return findText(value, (text) => masker.text(text) !== text, "");
}

function findText(value: unknown, holds: (text: string) => boolean, at: string): string | undefined {
  if (typeof value === "string") return holds(value) ? at : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    if (holds(key)) return `a key of ${at}`;
    const found = findText(member, holds, at === "" ? key : `${at}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

import { randomInt } from "node:crypto";

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** A fresh id: the prefix, a dash and nine random characters. */
export function newId(prefix: string): string {
  return `${prefix}-${Array.from({ length: 9 }, () => letters[randomInt(letters.length)]).join("")}`;
}

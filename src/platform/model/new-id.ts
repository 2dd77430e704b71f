/** @module Makes random ids for new records. */
import { randomInt } from "node:crypto";

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** The prefix, a dash and nine random lower-case letters and digits. */
export function newId(prefix: string): string {
  return `${prefix}-${Array.from({ length: 9 }, () => letters[randomInt(letters.length)]).join("")}`;
}

/** @module Digests texts: every name that is made of something else, and every comparison of secrets, is made by it. */
import { createHash } from "node:crypto";

/** SHA-256 of the parts. Their lengths are digested too, so that no other parts have the same. */
export function digestOf(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest();
}

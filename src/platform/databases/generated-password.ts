/** @module Generates the password of an instance that was created without one. */
import { createHmac } from "node:crypto";

/** The same password at every start with the same key. */
export function generatedPassword(instanceId: string, key: Buffer): string {
  return createHmac("sha256", key).update(instanceId).digest("base64url");
}

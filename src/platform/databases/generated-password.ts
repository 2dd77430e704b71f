import { createHmac } from "node:crypto";

/** The password of an instance that was created without one: the same at every start of the platform that has this key. */
export function generatedPassword(instanceId: string, key: Buffer): string {
  return createHmac("sha256", key).update(instanceId).digest("base64url");
}

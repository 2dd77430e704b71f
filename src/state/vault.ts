import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { GraphformError } from "../model/errors.ts";
import type { Sealed, Vault } from "../model/sealed.ts";

/** A new random key for a state's fingerprints: 32 bytes in hex. */
export function newKey(): string {
  return randomBytes(32).toString("hex");
}

/** The secrets of one run under a state's key. Texts live in this closure: nothing that prints the vault shows them. */
export function createVault(key: string): Vault {
  if (!/^[0-9a-f]{64}$/.test(key)) {
    throw new GraphformError("vault-key", "the state's key is not 32 bytes in hex", {
      hint: "restore the state from its backup; a new key would make every secret look changed",
    });
  }
  const secretKey = createSecretKey(key, "hex");
  const texts = new Map<string, string>();
  return {
    seal(plaintext): Sealed {
      const $secret = `hmac-sha256:${createHmac("sha256", secretKey).update(plaintext, "utf8").digest("hex")}`;
      texts.set($secret, plaintext);
      return { $secret };
    },
    open: (sealed) => texts.get(sealed.$secret),
    texts: () => texts.values(),
  };
}

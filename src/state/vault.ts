/** @module Seals secrets as fingerprints under a key of the state. */
import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { GraphformError } from "../model/errors.ts";
import { defined, isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Plan } from "../model/plan.ts";
import { isSealed, type Sealed, type Vault } from "../model/sealed.ts";

/** A new random key for a state's fingerprints: 32 bytes in hex. */
export function newKey(): string {
  return randomBytes(32).toString("hex");
}

/**
 * The secrets of one run under a state's key. Before a state is written there is none, and a secret stands as its label: a plan must
 * not hold a fingerprint together with what verifies it. Texts live in this closure: nothing that prints the vault shows them.
 */
export function createVault(key: string | undefined): Vault {
  const fingerprint = key === undefined ? undefined : keyedFingerprint(key);
  const texts = new Map<string, string>();
  const labels = new Map<string, Sealed>();
  const all = new Set<string>();
  return {
    seal(plaintext, label): Sealed {
      const sealed = { $secret: fingerprint === undefined ? label : fingerprint(plaintext) };
      texts.set(sealed.$secret, plaintext);
      labels.set(label, sealed);
      all.add(plaintext);
      return sealed;
    },
    open: (sealed) => texts.get(sealed.$secret),
    labelled: (label) => labels.get(label),
    texts: () => all,
  };
}

const scheme = "hmac-sha256:";

/** True for a secret that stands as its keyed fingerprint, and not as its label. */
export function isFingerprint({ $secret }: Sealed): boolean {
  return $secret.startsWith(scheme);
}

function keyedFingerprint(key: string): (plaintext: string) => string {
  if (!/^[0-9a-f]{64}$/.test(key)) {
    throw new GraphformError("vault-key", "the state's key is not 32 bytes in hex", {
      hint: "restore the state from its backup; a new key would make every secret look changed",
    });
  }
  const secretKey = createSecretKey(key, "hex");
  return (plaintext) => scheme + createHmac("sha256", secretKey).update(plaintext, "utf8").digest("hex");
}

/** Seals the labels in the steps of a plan that was made before there was a state. A label that this run does not know opens nothing. */
export function withSeals(plan: Plan, vault: Pick<Vault, "labelled">): Plan {
  if (plan.serial > 0) return plan;
  const steps = plan.steps.map((step) => {
    const { spec, patch, record } = step;
    const seal = (object: JsonObject | undefined): JsonObject | undefined =>
      object && sealedIn(object, vault);
    return { ...step, ...defined({ spec: seal(spec), patch: seal(patch), record: seal(record) }) };
  });
  return { ...plan, steps };
}

function sealedIn(object: JsonObject, vault: Pick<Vault, "labelled">): JsonObject {
  const entries = Object.entries(object);
  return Object.fromEntries(entries.map(([key, value]) => [key, sealed(value, vault)]));
}

function sealed(value: Json, vault: Pick<Vault, "labelled">): Json {
  if (isSealed(value)) return vault.labelled(value.$secret) ?? value;
  if (Array.isArray(value)) return value.map((item: Json) => sealed(item, vault));
  return isObject(value) ? sealedIn(value, vault) : value;
}

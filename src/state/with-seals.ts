/** @module Seals the secrets of a saved plan under the key of the state that it is applied to. */
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Plan } from "../model/plan.ts";
import { isSealed, type Vault } from "../model/sealed.ts";

/**
 * A plan whose steps have their secrets sealed under the key of the state that it is applied to. Only one that was made
 * before there was a state has labels in their place; a label that this run does not know stays, and opens nothing.
 */
export function withSeals(plan: Plan, vault: Pick<Vault, "labelled">): Plan {
  if (plan.serial > 0) return plan;
  const steps = plan.steps.map((step) => {
    const { spec, patch, record } = step;
    return {
      ...step,
      ...(spec === undefined ? {} : { spec: sealedIn(spec, vault) }),
      ...(patch === undefined ? {} : { patch: sealedIn(patch, vault) }),
      ...(record === undefined ? {} : { record: sealedIn(record, vault) }),
    };
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

import type { Address } from "../model/address.ts";
import type { Json } from "../model/json.ts";
import { stableJson } from "../model/json.ts";
import type { OutputChange } from "../model/plan.ts";
import { holdsSecret, isTemplate } from "../model/sealed.ts";
import { resolveKnown } from "../model/templates.ts";
import type { PlanInput } from "./input.ts";

/** What becomes of the declared outputs; one that waits for a change is unknown until then. */
export function outputChanges(input: PlanInput, anew: ReadonlySet<Address>): { readonly [name: string]: OutputChange } {
  const names = [...new Set([...Object.keys(input.outputs), ...Object.keys(input.state.outputs)])].sort();
  return Object.fromEntries(names.map((name) => [name, outputChange(name, input, anew)]));
}

function outputChange(name: string, input: PlanInput, anew: ReadonlySet<Address>): OutputChange {
  const declared = input.outputs[name];
  const recorded = input.state.outputs[name];
  const before: Json | undefined = recorded?.value;
  const sensitive = declared?.sensitive ?? recorded?.sensitive ?? false;
  const shown = before === undefined ? {} : { before };
  if (declared === undefined) return { action: "delete", ...shown, unknown: false, sensitive };
  const after = resolveKnown(declared.value, (address) => (anew.has(address) ? undefined : input.observed.get(address)?.outputs));
  const secret = sensitive || holdsSecret(after);
  if (isTemplate(after)) {
    return { action: before === undefined ? "create" : "update", ...shown, after, unknown: true, sensitive: secret };
  }
  const same = before !== undefined && stableJson(before) === stableJson(after);
  const action = same ? "no-op" : before === undefined ? "create" : "update";
  return { action, ...shown, after, unknown: false, sensitive: secret };
}

/** @module Compares declared outputs with recorded ones. */
import type { Address } from "../model/address.ts";
import { defined, type Json, type JsonObject, own } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import type { Observed } from "../model/observed.ts";
import type { Change, OutputChange } from "../model/plan.ts";
import { holdsSecret } from "../model/sealed.ts";
import type { StateDocument } from "../model/state.ts";
import { referencesIn, referent, resolveKnown, waitsFor } from "../model/templates.ts";
import { sameJson } from "../model/values.ts";
import type { PlanInput } from "./subjects.ts";

/** The recorded outputs that a destroy leaves: those whose resources are all left. One without a resource goes with the last of them. */
export function outputsLeft(
  recorded: StateDocument["outputs"],
  declared: PlanInput["outputs"],
  left: ReadonlySet<Address>,
): StateDocument["outputs"] {
  const found = Object.entries(recorded).filter(([name]) => {
    const value = own(declared, name)?.value;
    if (value === undefined) return false;
    const addresses = waitsFor(value);
    return addresses.length === 0 ? left.size > 0 : addresses.every((address) => left.has(address));
  });
  return Object.fromEntries(found);
}

/** The outputs after a destroy: those of resources that stay are kept, all others are removed. */
export function outputsAfterDestroy(
  input: PlanInput,
  changes: readonly Change[],
): { readonly [name: string]: OutputChange } {
  const going = new Set(changes.flatMap(({ address, blocked }) => (blocked.length === 0 ? [address] : [])));
  const left = new Set(Object.keys(input.state.resources).filter((address) => !going.has(address)));
  const kept = outputsLeft(input.state.outputs, input.outputs, left);
  const entries = Object.entries(input.state.outputs).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.map(([name, { value, sensitive }]): [string, OutputChange] => {
      const shared = { before: value, unknown: false, sensitive };
      const isKept = Object.hasOwn(kept, name);
      return [name, isKept ? { action: "no-op", after: value, ...shared } : { action: "delete", ...shared }];
    }),
  );
}

/** The objects and outputs that references mean once the changes proposed so far are applied. */
export interface Ahead {
  /** Addresses that get a new object, their first one too. */
  readonly newObjects: Set<Address>;
  /** The outputs that are known before the plan is applied. */
  readonly outputs: Map<Address, JsonObject>;
}

/** The references as they are before any change. */
export function asObserved({ observed }: Pick<PlanInput, "observed">): Ahead {
  const outputs = new Map([...observed].map(([address, seen]) => [address, seen.outputs]));
  return { newObjects: new Set(), outputs };
}

/** The outputs of an object after its change in place: some show a field of it, others are not known before the service shows them. */
export function outputsAfter(
  { fields }: Pick<Change, "fields">,
  { outputs }: Pick<Observed, "outputs">,
  { unknownAfter }: Pick<Kind, "unknownAfter">,
): JsonObject {
  const changed = new Map(fields.map(({ path, after = null }) => [path, after]));
  const unknown = new Set(fields.flatMap(({ path }) => own(unknownAfter, path) ?? []));
  const after = Object.entries(outputs).map(([name, value]) => [name, changed.get(name) ?? value] as const);
  return Object.fromEntries(
    after.filter(([name, value]) => !unknown.has(name) && waitsFor(value).length === 0),
  );
}

/** Compares declared outputs with recorded ones. `inProgress` are changed by a step: unknown until then. */
export function outputChanges(
  input: PlanInput,
  ahead: Ahead,
  inProgress: ReadonlySet<Address>,
): { readonly [name: string]: OutputChange } {
  const names = [...new Set([...Object.keys(input.outputs), ...Object.keys(input.state.outputs)])].sort();
  return Object.fromEntries(names.map((name) => [name, outputChange(name, input, ahead, inProgress)]));
}

function outputChange(
  name: string,
  input: PlanInput,
  ahead: Ahead,
  inProgress: ReadonlySet<Address>,
): OutputChange {
  const declared = own(input.outputs, name);
  const recorded = own(input.state.outputs, name);
  const before: Json | undefined = recorded?.value;
  const sensitive = declared?.sensitive === true || recorded?.sensitive === true;
  const shown = defined({ before });
  if (declared === undefined) return { action: "delete", ...shown, unknown: false, sensitive };
  const after = resolveKnown(declared.value, (address) => ahead.outputs.get(address));
  const secret = sensitive || holdsSecret(after);
  const waiting = waitsFor(after);
  if (waiting.length > 0 && !waiting.some((address) => inProgress.has(address))) {
    const stays = before === undefined ? { after, unknown: true } : { after: before, unknown: false };
    const why = defined({ missing: missingIn(after, input) });
    return { action: "no-op", ...shown, ...stays, ...why, sensitive: secret };
  }
  const unknown = waiting.length > 0;
  const isSame = !unknown && before !== undefined && sameJson(before, after);
  const action = isSame ? "no-op" : before === undefined ? "create" : "update";
  return { action, ...shown, after, unknown, sensitive: secret };
}

/** The reason for a missing output of an existing object that the value refers to; undefined if none is missing. */
export function missingIn(value: Json, { observed }: Pick<PlanInput, "observed">): string | undefined {
  const reasons = referencesIn(value).flatMap((reference) => {
    const { address, output } = referent(reference);
    const reason = own(observed.get(address)?.missing ?? {}, output);
    return reason === undefined ? [] : [`${address} has no ${output}: ${reason}`];
  });
  return reasons[0];
}

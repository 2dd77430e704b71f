/** @module Computes the recorded outputs that name an object whose address was switched. */
import { type ApplyContext, driverOf } from "../apply/context.ts";
import type { Address } from "../model/address.ts";
import type { JsonObject } from "../model/json.ts";
import type { MigrationTerms } from "../model/migration.ts";
import type { Bound, RecordedOutput, StateDocument } from "../model/state.ts";
import type { Binding } from "../model/state-event.ts";
import { resolveKnown, waitsFor } from "../model/templates.ts";

type Shown = ReadonlyMap<Address, JsonObject>;

/** Those of the addresses that are bound, with their bindings. */
export function bindingsAt(
  addresses: readonly Address[],
  boundAt: (address: Address) => Bound | undefined,
): readonly Binding[] {
  return addresses.flatMap((at) => {
    const bound = boundAt(at);
    return bound === undefined ? [] : [[at, bound] as const];
  });
}

/** The outputs of bound objects, read unless they are known. Those that cannot be read are left out: that is no reason to give up a proved stop. */
export async function outputsOf(
  bindings: readonly Binding[],
  context: ApplyContext,
  known: (address: Address) => JsonObject | undefined = () => undefined,
): Promise<Shown> {
  const read = async ([at, { kind, ...ref }]: Binding) => {
    const live = known(at) === undefined ? driverOf(context, kind).get(ref, context.stopping) : undefined;
    return [at, known(at) ?? (await live?.catch(() => undefined))?.outputs] as const;
  };
  const found = await Promise.all(bindings.map(read));
  return new Map(found.flatMap(([at, outputs]) => (outputs === undefined ? [] : [[at, outputs] as const])));
}

/** The recorded outputs, with new values for those that name one of these objects. One that cannot be resolved stays as it is. */
export async function outputsNaming(
  shown: Shown,
  declared: MigrationTerms["outputs"],
  context: ApplyContext,
): Promise<StateDocument["outputs"]> {
  const { outputs: recorded, resources } = context.journal.state;
  const naming = Object.entries(declared ?? {}).filter(
    ([name, { value }]) => recorded[name] !== undefined && waitsFor(value).some((at) => shown.has(at)),
  );
  const others = naming.flatMap(([, { value }]) => waitsFor(value)).filter((at) => !shown.has(at));
  const bindings = bindingsAt([...new Set(others)], (at) => resources[at]);
  const all = new Map([...(await outputsOf(bindings, context, (at) => context.outputs.get(at))), ...shown]);
  const renewed = naming.flatMap(([name, { value, sensitive }]): readonly [string, RecordedOutput][] => {
    const now = resolveKnown(value, (at) => all.get(at));
    const isSecret = sensitive || recorded[name]?.sensitive === true;
    return waitsFor(now).length > 0 ? [] : [[name, { value: now, sensitive: isSecret }]];
  });
  return { ...recorded, ...Object.fromEntries(renewed) };
}

/** @module Computes the bindings after a switch: an address and everything inside of it gets the objects of its twin. */
import { type Address, type Twin, twinOf, withoutTwin } from "../model/address.ts";
import type { KindRegistry } from "../model/kind.ts";
import type { Bound, Migration, StateDocument } from "../model/state.ts";
import type { Binding, StateEvent } from "../model/state-event.ts";
import { referenceFields } from "../model/templates.ts";

type Switched = Extract<StateEvent, { readonly type: "switched" }>;

/**
 * The event by which the twin of an address takes over. The object that was there becomes the former one; what lives inside of it is
 * remembered in the migration, since it goes with it. Guards and references stay those of the address.
 */
export function switchEvent(
  address: Address,
  /** Addresses of what lives inside. */
  inside: readonly Address[],
  /** The twin that takes over: the next one, or on the way back the former one. */
  from: Twin,
  migration: Omit<Migration, "former">,
  state: Pick<StateDocument, "resources" | "migrations">,
  kinds: KindRegistry,
): Switched {
  const before = (at: Address): Bound | undefined => state.resources[at];
  const after = (at: Address): Bound | undefined =>
    from === "former" && at !== address
      ? state.migrations?.[address]?.former?.[at]
      : state.resources[twinOf(at, from)];
  const moved = bindingsAt([address, ...inside], after).map(
    ([at, bound]): Binding => [at, takenOver(bound, before(at), kinds)],
  );
  const old = before(address);
  const former = bindingsAt(inside, before);
  const lost = inside.filter((at) => before(at) !== undefined && after(at) === undefined);
  const twins = from === "next" ? [address, ...inside].map((at) => twinOf(at, "next")) : [];
  return {
    type: "switched",
    address,
    migration: { ...migration, former: Object.fromEntries(former) },
    bindings: [...moved, ...(old === undefined ? [] : [[twinOf(address, "former"), old] as const])],
    released: [...twins, ...lost],
  };
}

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

/** The binding of a twin under the declared address: names of twins become declared ones. */
function takenOver(bound: Bound, before: Bound | undefined, kinds: KindRegistry): Bound {
  const references = referenceFields(kinds.named(bound.kind).schema);
  const names = references.flatMap(({ path, section, place }) => {
    const name = (place ? before?.recorded[path] : undefined) ?? bound.recorded[path];
    if (typeof name !== "string") return [];
    return [[path, withoutTwin(`${section}.${name}`).slice(section.length + 1)] as const];
  });
  const { protect, onDelete, refs } = before ?? { ...bound, refs: bound.refs.map(withoutTwin) };
  return { ...bound, protect, onDelete, refs, recorded: { ...bound.recorded, ...Object.fromEntries(names) } };
}

/** @module Applies `moved` blocks to the state: new addresses, and new names in references. */
import { type Address, twinIn, twinKinds, twinOf, withoutTwin } from "../model/address.ts";
import type { Json } from "../model/json.ts";
import type { KindRegistry } from "../model/kind.ts";
import type { Move } from "../model/manifest.ts";
import type { Bound, StateDocument } from "../model/state.ts";
import { referencedIn } from "../model/templates.ts";

/** The moves of bound objects to the ends of their chains. An address that a moving object leaves is free; one that stays is never moved to. */
export function destinations(state: StateDocument, moved: readonly Move[]): ReadonlyMap<Address, Address> {
  if (moved.length === 0) return new Map();
  const trails = new Map(Object.keys(state.resources).map((address) => [address, [address]]));
  const taken = new Set(trails.keys());
  const next = new Map(moved.map((move) => [move.from, move.to]));
  for (let moving = true; moving; ) {
    moving = false;
    for (const trail of trails.values()) {
      const at = trail.at(-1) ?? "";
      const to = next.get(at);
      if (to === undefined || trail.includes(to) || taken.has(to)) continue;
      trail.push(to);
      taken.delete(at);
      taken.add(to);
      moving = true;
    }
  }
  const ends = new Map([...trails].map(([from, trail]) => [from, trail.at(-1) ?? from]));
  // A twin goes along with its address.
  for (const from of ends.keys()) {
    const twin = twinIn(from);
    if (twin !== undefined) ends.set(from, twinOf(ends.get(withoutTwin(from)) ?? withoutTwin(from), twin));
  }
  return new Map([...ends].filter(([from, to]) => from !== to));
}

/** The recorded references that name an address, under the name that they get when it moves. */
export function renamedReferences(
  state: StateDocument,
  from: Address,
  to: Address,
  kinds: KindRegistry,
): { readonly [address: Address]: { readonly [path: string]: Json } } {
  const kindOf = (address: Address): string =>
    state.resources[address]?.kind ?? state.rounds[state.intents[address]?.round ?? ""]?.kind ?? "";
  const entries = { ...state.intents, ...state.resources };
  const twins = twinKinds.map((twin): [Address, Address] => [twinOf(from, twin), twinOf(to, twin)]);
  const names = new Map([[from, to], ...twins]);
  const renamedIn = Object.entries(entries).map(
    ([address, entry]) => [address, renamed(kindOf(address), entry, names, kinds)] as const,
  );
  return Object.fromEntries(renamedIn.filter(([, paths]) => Object.keys(paths).length > 0));
}

/** The state as it will be once the moves are done, for looking and planning: bindings, references, recorded names. */
export function afterMoves(state: StateDocument, moved: readonly Move[], kinds: KindRegistry): StateDocument {
  const to = destinations(state, moved);
  if (to.size === 0) return state;
  const entries = Object.entries(state.resources).map(([address, bound]): [Address, Bound] => {
    const refs = bound.refs.map((ref) => to.get(ref) ?? ref);
    const recorded = { ...bound.recorded, ...renamed(bound.kind, bound, to, kinds) };
    return [to.get(address) ?? address, { ...bound, refs, recorded }];
  });
  const migrations = Object.entries(state.migrations ?? {}).map(([at, each]) => [to.get(at) ?? at, each]);
  return {
    ...state,
    resources: Object.fromEntries(entries),
    ...(state.migrations === undefined ? {} : { migrations: Object.fromEntries(migrations) }),
  };
}

/** The recorded references to what moves, under its new name. */
function renamed(
  kind: string,
  { recorded }: Pick<Bound, "recorded">,
  to: ReadonlyMap<Address, Address>,
  kinds: KindRegistry,
): { readonly [path: string]: Json } {
  const moving = referencedIn(kinds.find(kind)?.schema, recorded).filter(({ address }) => to.has(address));
  return Object.fromEntries(
    moving.map(({ path, section, address }) => [path, to.get(address)?.slice(section.length + 1) ?? ""]),
  );
}

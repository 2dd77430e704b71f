/** @module Adds the guards that a manifest declares to those that the state remembers, for what it removes. */
import type { Desired } from "../../model/desired.ts";
import type { Bound, StateDocument } from "../../model/state.ts";
import type { PlanInput } from "../input.ts";
import { destinations } from "../moves.ts";
import { stricterOnDelete } from "./protection.ts";

/**
 * Adds the guards that the manifest declares now to those that the state remembers, the stricter of each. `destroy` plans
 * without the blocks, as every plan does without those that are left out, and their lifecycle still counts. Only `protect: false`
 * lifts a remembered protection.
 */
export function withDeclaredGuards(
  state: StateDocument,
  { desired, removed, moved, kinds }: Pick<PlanInput, "desired" | "removed" | "moved" | "kinds">,
): StateDocument {
  const ends = destinations(state, moved);
  const leftOut = removed.flatMap(({ address, lifecycle }) =>
    lifecycle === undefined ? [] : [[address, { lifecycle }] as const],
  );
  if (desired.length + leftOut.length === 0) return state;
  const declarations = new Map<string, Pick<Desired, "lifecycle"> & Partial<Desired>>([
    ...leftOut,
    ...desired.map((entry) => [entry.address, entry] as const),
  ]);
  const guarded = Object.entries(state.resources).map(([address, bound]): [string, Bound] => {
    const declared = declarations.get(ends.get(address) ?? address);
    if (declared === undefined) return [address, bound];
    const { lifecycle, kind, spec } = declared;
    const byDefault = kind !== undefined && spec !== undefined && kinds.named(kind).protectedByDefault(spec);
    const protect = lifecycle.protect ?? (bound.protect || byDefault);
    return [address, { ...bound, protect, onDelete: stricterOnDelete(lifecycle.onDelete, bound.onDelete) }];
  });
  return { ...state, resources: Object.fromEntries(guarded) };
}

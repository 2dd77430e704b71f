/** @module Adds the guards that a manifest declares to those that the state remembers, for `destroy`. */
import type { Bound, StateDocument } from "../../model/state.ts";
import type { PlanInput } from "../input.ts";
import { destinations } from "../moves.ts";
import { stricterOnDelete } from "./protection.ts";

/**
 * Adds the guards that the manifest declares now to those that the state remembers, the stricter of each. `destroy` plans
 * without the blocks, and their lifecycle still counts. Only `protect: false` lifts a remembered protection.
 */
export function withDeclaredGuards(
  state: StateDocument,
  { desired, moved, kinds }: Pick<PlanInput, "desired" | "moved" | "kinds">,
): StateDocument {
  const ends = destinations(state, moved);
  const declarations = new Map(desired.map((entry) => [entry.address, entry]));
  const guarded = Object.entries(state.resources).map(([address, bound]): [string, Bound] => {
    const declared = declarations.get(ends.get(address) ?? address);
    if (declared === undefined) return [address, bound];
    const { lifecycle } = declared;
    const byDefault = kinds.named(declared.kind).protectedByDefault(declared.spec);
    const protect = lifecycle.protect ?? (bound.protect || byDefault);
    return [address, { ...bound, protect, onDelete: stricterOnDelete(lifecycle.onDelete, bound.onDelete) }];
  });
  return { ...state, resources: Object.fromEntries(guarded) };
}

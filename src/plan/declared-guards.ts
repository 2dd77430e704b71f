import type { Bound, StateDocument } from "../model/state.ts";
import { kindNamed, type PlanInput } from "./input.ts";
import { destinations } from "./moves.ts";

/**
 * The state with the guards that the manifest declares now, whether or not they were ever applied: `destroy` looks at
 * no block for what is to become of it, and still goes by what its lifecycle says. What has no block keeps what the
 * state remembers.
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
    const protect = lifecycle.protect ?? kindNamed(kinds, declared.kind).protectedByDefault(declared.spec);
    return [address, { ...bound, protect, onDelete: lifecycle.onDelete }];
  });
  return { ...state, resources: Object.fromEntries(guarded) };
}

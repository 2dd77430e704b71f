import type { Bound, StateDocument } from "../model/state.ts";
import { kindNamed, type PlanInput } from "./input.ts";
import { destinations } from "./moves.ts";

/**
 * The state with the guards that the manifest declares now, whether or not they were ever applied, where they are the
 * more careful ones: `destroy` looks at no block for what is to become of it, and still goes by what its lifecycle says.
 * Only `protect: false` lifts what the state remembers.
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
    const byDefault = kindNamed(kinds, declared.kind).protectedByDefault(declared.spec);
    const protect = lifecycle.protect ?? (bound.protect || byDefault);
    return [address, { ...bound, protect, onDelete: moreCareful(lifecycle.onDelete, bound.onDelete) }];
  });
  return { ...state, resources: Object.fromEntries(guarded) };
}

function moreCareful(one: Bound["onDelete"], other: Bound["onDelete"]): Bound["onDelete"] {
  const careful = ["retain", "backup"] as const;
  return careful.find((rule) => rule === one || rule === other) ?? "delete";
}

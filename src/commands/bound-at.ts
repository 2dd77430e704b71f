/** @module Looks up the resource that the state binds to an address. */
import { kinds } from "../kinds/index.ts";
import { nearest } from "../manifest/problems/nearest.ts";
import { GraphformError } from "../model/errors.ts";
import type { Kind } from "../model/kind.ts";
import type { Bound, StateDocument } from "../model/state.ts";

/** The binding of an address; with `kind` only one of that kind. Throws `not-bound` with the nearest address. */
export function boundAt(state: StateDocument, address: string, kind?: string): Bound {
  const found = Object.hasOwn(state.resources, address) ? state.resources[address] : undefined;
  if (found !== undefined && (kind === undefined || found.kind === kind)) return found;
  const known = Object.entries(state.resources)
    .filter(([, bound]) => kind === undefined || bound.kind === kind)
    .map(([name]) => name);
  const close = nearest(address, known);
  const noun = kinds.find(kind ?? "")?.noun ?? "resource";
  const hint =
    close === undefined
      ? known.length === 0
        ? "nothing was applied or imported yet"
        : `graphform state list shows what there is: ${known.slice(0, 5).join(", ")}${known.length > 5 ? ", ..." : ""}`
      : `did you mean ${close}?`;
  throw new GraphformError("not-bound", `the state of ${state.name} has no ${noun} at ${address}`, { hint });
}

/** The kind with this name. Throws `kind-unknown`. */
export function kindNamed(name: string): Kind {
  const kind = kinds.find(name);
  if (kind !== undefined) return kind;
  throw new GraphformError("kind-unknown", `there is no kind "${name}"`, {
    hint: `kinds are ${kinds.all.map((candidate) => candidate.name).join(", ")}`,
  });
}

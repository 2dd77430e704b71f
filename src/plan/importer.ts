/** @module Finds the declared address that takes over an object by its id. */
import type { Desired } from "../model/desired.ts";
import type { PlanInput } from "./input.ts";
import type { Subject } from "./subject.ts";

/** The other address that asks for the subject's object by its id. */
export function importerOf(
  { address, kind, observed }: Subject,
  { desired }: Pick<PlanInput, "desired">,
): Desired | undefined {
  if (observed === undefined) return undefined;
  return importersIn(desired)
    .get(`${kind} ${observed.id}`)
    ?.find((entry) => entry.address !== address);
}

type Importers = ReadonlyMap<string, readonly Desired[]>;

/** Made once for each manifest: every address of a plan asks. */
const known = new WeakMap<readonly Desired[], Importers>();

function importersIn(desired: readonly Desired[]): Importers {
  const before = known.get(desired);
  if (before !== undefined) return before;
  const importing = desired.filter(({ importId }) => importId !== undefined);
  const found = Map.groupBy(importing, ({ kind, importId }) => `${kind} ${importId}`);
  known.set(desired, found);
  return found;
}

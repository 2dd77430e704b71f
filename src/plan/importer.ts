/** @module Finds the declared address that takes over an object by its id. */
import type { Desired } from "../model/desired.ts";
import { objectKey } from "../model/object-key.ts";
import { perObject } from "../model/per-object.ts";
import type { PlanInput } from "./input.ts";
import type { Subject } from "./subjects.ts";

type Known = Pick<PlanInput, "desired" | "observed">;

/** The other address that asks for the subject's object by its id. */
export function importerOf({ address, kind, observed }: Subject, input: Known): Desired | undefined {
  if (observed === undefined) return undefined;
  const importers = importersIn(input);
  const found = [...importers(objectKey(kind, observed)), ...importers(unseenKey(kind, observed.id))];
  return found.find((entry) => entry.address !== address);
}

/** Made once for each plan: every address asks. */
const importersIn = perObject(({ desired, observed }: Known): ((key: string) => readonly Desired[]) => {
  const importing = desired.flatMap((entry): readonly (readonly [string, Desired])[] => {
    const { address, kind, importId } = entry;
    if (importId === undefined) return [];
    const seen = observed.get(address);
    return [[seen === undefined ? unseenKey(kind, importId) : objectKey(kind, seen), entry]];
  });
  const groups = Map.groupBy(importing, ([key]) => key);
  return (key) => (groups.get(key) ?? []).map(([, entry]) => entry);
});

/** The key of an object that was not looked at: only its id is known. */
function unseenKey(kind: string, id: string): string {
  return `${kind} ? ${id}`;
}

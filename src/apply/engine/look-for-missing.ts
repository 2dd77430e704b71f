/** @module Looks for what a step finds missing, and words the refusal when nothing proves that it is gone. */
import type { Address } from "../../model/address.ts";
import { GraphformError } from "../../model/errors.ts";
import { type JsonObject, stableJson } from "../../model/json.ts";
import type { Live, Ref } from "../../model/observed.ts";
import { shellWord } from "../../model/shell-word.ts";
import { lookFor, type Place } from "../../polling/look-for.ts";
import { type ApplyContext, driverOf } from "../context.ts";

/** The part of an apply that such a look uses. */
export type LookContext = Pick<ApplyContext, "drivers" | "profile" | "clock" | "journal" | "stopping">;

/** A place, with the ids that the state binds there and those of an earlier list: a list that lacks one of them is checked. */
export function placeWithWitnesses(
  kind: string,
  place: JsonObject,
  context: Pick<LookContext, "drivers" | "journal">,
  earlier: readonly string[] = [],
): Place {
  const key = stableJson(place);
  const bound = Object.values(context.journal.state.resources)
    .filter((entry) => entry.kind === kind && stableJson(entry.place) === key)
    .map(({ id, createdAt }): [string, number] => [id, Date.parse(createdAt)]);
  const listed = earlier.map((id): [string, number] => [id, Number.NaN]);
  return { place, reader: driverOf(context, kind), witnesses: new Map([...listed, ...bound]) };
}

/**
 * Looks for an object that was missing: undefined once it is proved absent, the object once it is shown. `createdAt` is the
 * latest time at which it can have been created, in ms since 1970. Throws `absence-unproven` after the longest time that proofs take.
 */
export async function untilShownOrAbsent(
  { kind, address }: { readonly kind: string; readonly address: Address },
  { id, place }: Ref,
  createdAt: number,
  context: LookContext,
): Promise<Live | undefined> {
  const known = placeWithWitnesses(kind, place, context);
  // The clock that the state was written by may be ahead of this one.
  const madeAt = Math.min(createdAt, context.clock.now());
  const verdict = (await lookFor(new Map([[id, madeAt]]), known, context)).get(id);
  if (verdict?.is === "shown") return verdict.live;
  if (verdict?.is === "absent") return undefined;
  const name = shellWord(address);
  throw new GraphformError(
    "absence-unproven",
    `${address} (${id}) is not shown, and nothing proves that it is gone: the service's lists and descriptions contradict each other`,
    {
      hint: `look for it at the service. If it is gone: graphform state rm ${name}; if it has another id: graphform import ${name} ID; if your rights have changed: use those of before`,
    },
  );
}

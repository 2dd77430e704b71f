/** @module Describes objects that no address is bound to, where one of them may be a declared resource. */

import { lackedWitnesses } from "../model/consistency.ts";
import type { Desired } from "../model/desired.ts";
import { isServiceError } from "../model/errors.ts";
import { type KnownObject, knowsNothing, type Live } from "../model/observed.ts";
import { listWhole, placeWithWitnesses } from "../polling/prove-absence.ts";
import { type Listed, type ListedPlace, look, type ObserveContext, readerOf } from "./observe-context.ts";

/**
 * Lists a place again while its list, begun at `from` or later, lacks a bound object that describe shows, for kinds of which one may be
 * adopted by its name. `short`: the places whose lists still do at the end.
 */
export async function listAgain(
  places: readonly ListedPlace[],
  lists: readonly Listed[],
  desired: readonly Desired[],
  { shown, from }: { readonly shown: ReadonlySet<string>; readonly from: number },
  context: ObserveContext,
): Promise<{ readonly lists: readonly Listed[]; readonly short: readonly ListedPlace[] }> {
  const { clock, profile, signal } = context;
  const sought = soughtKinds(desired, context);
  const short: ListedPlace[] = [];
  const again = await Promise.all(
    places.map(async (at, index): Promise<Listed> => {
      const list = lists[index] ?? [];
      const reader = readerOf(at.kind, context);
      if (isServiceError(list) || !sought.has(at.kind) || reader.isListed === false) return list;
      const place = placeWithWitnesses(at, reader, context.state);
      const seen = { from, listed: new Set(list) };
      if (!lackedWitnesses(seen, place.witnesses, profile.timing).some((id) => shown.has(`${at.kind} ${id}`)))
        return list;
      const last = await listWhole(place, { clock, profile, stopping: signal });
      if (!last.isWhole) short.push(at);
      return [...(last.listed ?? list)];
    }),
  );
  return { lists: again, short };
}

/** Describes unmanaged objects of kinds with an unbound address: name or mark may show that one is its object. */
export async function describeUnmanaged(
  unmanaged: readonly KnownObject[],
  desired: readonly Desired[],
  context: ObserveContext,
): Promise<ReadonlyMap<KnownObject, Live>> {
  const sought = soughtKinds(desired, context);
  return look(
    unmanaged.filter(({ kind }) => sought.has(kind)),
    context,
  );
}

/** Kinds with an unbound address whose object may exist: without data found by name, with marks by the mark; at first all. */
function soughtKinds(desired: readonly Desired[], context: ObserveContext): ReadonlySet<string> {
  const open = desired.filter(
    ({ address, importId }) => importId === undefined && context.state.resources[address] === undefined,
  );
  const wanted = [...new Set(open.map(({ kind }) => kind))].filter((name) => {
    if (knowsNothing(context.state)) return true;
    const { holdsData, schema, marksOwner } = context.kinds.named(name);
    const isNamed = !holdsData && Object.values(schema.properties).some((row) => row["x-identity"] === true);
    return isNamed || marksOwner(context.profile);
  });
  return new Set(wanted);
}

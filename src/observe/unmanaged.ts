/** @module Describes objects that no address is bound to, where one of them may be a declared resource. */
import type { Desired } from "../model/desired.ts";
import type { JsonObject } from "../model/json.ts";
import { knowsNothing } from "../model/knows-nothing.ts";
import type { Live } from "../model/observed.ts";
import { type Known, lookAtOne, type ObserveContext } from "./context.ts";
import { isSkipped } from "./unread.ts";

/**
 * An object at the service that no address is bound to.
 */
export interface UnmanagedObject {
  readonly kind: string;
  readonly id: string;
  readonly place: JsonObject;
  /** Absent where it was listed and not described. */
  readonly live?: Live;
}

/**
 * Describes unmanaged objects of the kinds in which a declared address is not bound: one of them may be the object of that
 * address, and its name or its mark shows it. Objects of other kinds are returned without a description.
 */
export async function describeUnmanaged(
  unmanaged: readonly Known[],
  desired: readonly Desired[],
  context: ObserveContext,
): Promise<readonly UnmanagedObject[]> {
  const sought = soughtKinds(desired, context);
  const isDescribed = ({ kind }: Known): boolean => sought.has(kind);
  const lives = await Promise.all(
    unmanaged.map(async (entry) => {
      if (!isDescribed(entry)) return undefined;
      try {
        return await lookAtOne(entry, context);
      } catch (error) {
        if (!isSkipped(error, context)) throw error;
        return undefined;
      }
    }),
  );
  return unmanaged.map(({ kind, ref }, at) => {
    const live = lives[at];
    return { kind, ...ref, ...(live === undefined ? {} : { live }) };
  });
}

/**
 * Kinds with a declared address that is not bound and whose object may exist: kinds without data are found by name, kinds
 * with marks by the mark. Where the state has never known anything all kinds count.
 */
function soughtKinds(desired: readonly Desired[], context: ObserveContext): ReadonlySet<string> {
  const open = desired.filter(
    ({ address, importId }) => importId === undefined && context.state.resources[address] === undefined,
  );
  const wanted = [...new Set(open.map(({ kind }) => kind))].filter((name) => {
    if (knowsNothing(context.state)) return true;
    const { holdsData, schema, marksOwner } = context.kinds.named(name);
    const isNamed = !holdsData && Object.values(schema.properties).some((row) => row["x-identity"] === true);
    return isNamed || marksOwner?.(context.profile) === true;
  });
  return new Set(wanted);
}

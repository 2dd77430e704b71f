/** @module Connects to the two databases of a migration with the logins of the manifest. */
import { type ApplyContext, driverOf } from "../apply/context.ts";
import { type Address, twinOf } from "../model/address.ts";
import { GraphformError } from "../model/errors.ts";
import type { Reader } from "../model/kind.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Guard } from "../model/plan.ts";
import type { Spec } from "../model/spec.ts";
import type { Bound, CopyOf } from "../model/state.ts";
import { knownValues } from "../model/templates.ts";
import { takeInventory } from "./data/inventory.ts";
import { openSide, type Side } from "./data/nodes.ts";
import { isOwnCopy, notOwnCopy } from "./data/own-copy.ts";
import { refusalsOf } from "./data/preflight.ts";
import type { Refused } from "./data/refusals.ts";

/** The binding of an address. Throws `not-bound`. */
export function boundAt(address: Address, { journal }: Pick<ApplyContext, "journal">): Bound {
  const bound = journal.state.resources[address];
  if (bound === undefined) throw new GraphformError("not-bound", `${address} is bound to nothing`);
  return bound;
}

/**
 * Connects to the object that an address is bound to, with the values that were last applied to it. The connections outlive a request to
 * stop: it must still be possible to put back the cap and to end the pause. Throws `not-asked`.
 */
export async function openBound(address: Address, context: ApplyContext): Promise<Side> {
  const bound = boundAt(address, context);
  const driver = driverOf(context, bound.kind);
  const live = await driver.get(bound, context.stopping);
  const spec: Spec = knownValues(bound.recorded, context.open, (other) => context.outputs.get(other));
  return openLive(bound, live, spec, driver, context.aborting);
}

async function openLive(
  { id, place }: Ref,
  live: Live | undefined,
  spec: Spec,
  reader: Reader,
  signal: AbortSignal,
): Promise<Side> {
  const found = live && (await reader.databases?.({ id, place }, { live, spec, referents: {} }, signal));
  if (typeof found === "object") return openSide(found, signal);
  throw new GraphformError("not-asked", `${id}: ${found ?? "the service does not show it"}`, {
    hint: "its data can be moved only by a run that reaches it and knows the password that was last applied: declare that one until then",
  });
}

/** The reasons, as guards of a plan, not to move the data of a running database, or not to empty or delete a new one (`copyOf`). None if it cannot be asked, unless it is to be deleted. */
export async function foresee(
  ref: Ref,
  live: Live,
  spec: Spec,
  reader: Reader,
  signal: AbortSignal,
  copyOf?: CopyOf,
): Promise<readonly Guard[]> {
  const foreign = copyOf === undefined ? [] : [notOwnCopy(ref.id, copyOf.id)];
  const ask = async (side: Side): Promise<readonly Refused[]> => {
    if (copyOf === undefined) return refusalsOf(await takeInventory(side, signal, 10_000), {});
    return (await isOwnCopy(side, copyOf.mark)) ? [] : foreign;
  };
  const found = await openLive(ref, live, spec, reader, signal)
    .then((side) => ask(side).finally(side.close))
    .catch(() => (copyOf?.isLeaving === true ? foreign : []));
  signal.throwIfAborted();
  return found.map(({ message, hint }) => ({ code: "on-replace", message, lift: hint }));
}

/** Works with connections to both databases, and closes them. */
export async function withSides<T>(
  address: Address,
  context: ApplyContext,
  work: (source: Side, target: Side) => Promise<T>,
): Promise<T> {
  const source = await openBound(address, context);
  try {
    const target = await openBound(twinOf(address, "next"), context);
    return await work(source, target).finally(target.close);
  } finally {
    source.close();
  }
}

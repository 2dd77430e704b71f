/** @module Connects to the two databases of a migration with the logins of the manifest. */
import type { ApplyContext } from "../apply/context.ts";
import { driverOf } from "../apply/context.ts";
import { type Address, twinOf } from "../model/address.ts";
import { GraphformError } from "../model/errors.ts";
import type { Spec } from "../model/spec.ts";
import { knownValues } from "../model/templates.ts";
import { openSide, type Side } from "./data/nodes.ts";

/** Connects to the object that an address is bound to, with the values that were last applied to it. Throws `not-asked`. */
export async function openBound(address: Address, context: ApplyContext, signal: AbortSignal): Promise<Side> {
  const bound = context.journal.state.resources[address];
  if (bound === undefined) throw new GraphformError("not-bound", `${address} is bound to nothing`);
  const driver = driverOf(context, bound.kind);
  const live = await driver.get({ id: bound.id, place: bound.place }, signal);
  const spec: Spec = knownValues(bound.recorded, context.open, (other) => context.outputs.get(other));
  const found =
    live === undefined || driver.databases === undefined
      ? `the service does not show ${bound.id}`
      : await driver.databases({ id: bound.id, place: bound.place }, { live, spec, referents: {} }, signal);
  if (typeof found === "string")
    throw new GraphformError("not-asked", `${address}: ${found}`, {
      hint: "its data can be moved only by a run that reaches it and knows the password that was last applied",
    });
  return openSide(found, signal);
}

/** Works with connections to both databases, and closes them. */
export async function withSides<T>(
  address: Address,
  context: ApplyContext,
  signal: AbortSignal,
  work: (source: Side, target: Side) => Promise<T>,
): Promise<T> {
  const source = await openBound(address, context, signal);
  try {
    const target = await openBound(twinOf(address, "next"), context, signal);
    try {
      return await work(source, target);
    } finally {
      target.close();
    }
  } finally {
    source.close();
  }
}

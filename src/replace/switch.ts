/** @module Switches an address: it and everything inside of it get the objects of its twin, in one version of the state. */
import type { ApplyContext, StepResult } from "../apply/context.ts";
import { type Address, type Twin, twinOf, withoutTwin } from "../model/address.ts";
import type { KindRegistry } from "../model/kind.ts";
import type { MigrationTerms } from "../model/migration.ts";
import type { Step } from "../model/plan.ts";
import type { Bound, Migration } from "../model/state.ts";
import type { Binding, StateEvent } from "../model/state-event.ts";
import { referenceFields } from "../model/templates.ts";
import { boundAt } from "./sides.ts";
import { bindingsAt, outputsNaming, outputsOf } from "./switched-outputs.ts";

type Switched = Extract<StateEvent, { readonly type: "switched" }>;

/** Gives an address to its twin by one version of the state, which also has the outputs that name the new object. */
export async function switchOver(
  { address }: Step,
  { inside, hold, hook, outputs: declared = {} }: MigrationTerms,
  from: Twin,
  more: Partial<Pick<Migration, "phase" | "hook">>,
  context: ApplyContext,
): Promise<StepResult> {
  const { journal, clock, outputs } = context;
  const now = clock.now();
  const found: Partial<Migration> = journal.state.migrations?.[address] ?? {};
  const { cap: _, pausedUntil: __, former: ___, hook: ____, ...known } = found;
  const migration: Migration = {
    ...known,
    phase: hook === undefined ? "hold" : "hook",
    since: new Date(now).toISOString(),
    heldUntil: new Date(now + hold).toISOString(),
    ...(hook === undefined ? {} : { hook: "due" }),
    ...more,
  };
  const event = switchEvent(address, inside, from, migration, context);
  const shown = await outputsOf(event.bindings, context, (at) =>
    outputs.get(at === twinOf(address, "former") ? address : twinOf(at, from)),
  );
  await journal.record({ ...event, outputs: await outputsNaming(shown, declared, context) });
  for (const at of [...event.released, ...event.bindings.map(([bound]) => bound)]) outputs.delete(at);
  for (const [at, found] of shown) outputs.set(at, found);
  return { result: "done", id: boundAt(address, context).id };
}

/** The event by which the twin of an address takes over. The object that was there becomes the former one, and the migration remembers what lives inside of it. */
function switchEvent(
  address: Address,
  /** Addresses of what lives inside. */
  inside: readonly Address[],
  /** The twin that takes over: the next one, or on the way back the former one. */
  from: Twin,
  migration: Omit<Migration, "former">,
  { journal: { state }, kinds }: ApplyContext,
): Switched {
  const before = (at: Address): Bound | undefined => state.resources[at];
  const after = (at: Address): Bound | undefined =>
    from === "former" && at !== address
      ? state.migrations?.[address]?.former?.[at]
      : state.resources[twinOf(at, from)];
  const moved = bindingsAt([address, ...inside], after).map(
    ([at, bound]): Binding => [at, takenOver(bound, before(at), kinds)],
  );
  const old = before(address);
  const lost = inside.filter((at) => before(at) !== undefined && after(at) === undefined);
  const twins = from === "next" ? [address, ...inside].map((at) => twinOf(at, "next")) : [];
  return {
    type: "switched",
    address,
    migration: { ...migration, former: Object.fromEntries(bindingsAt(inside, before)) },
    bindings: [...moved, ...(old === undefined ? [] : [[twinOf(address, "former"), old] as const])],
    released: [...twins, ...lost],
  };
}

/** The binding of a twin under the declared address: names of twins become declared ones. */
function takenOver(bound: Bound, before: Bound | undefined, kinds: KindRegistry): Bound {
  const references = referenceFields(kinds.named(bound.kind).schema);
  const names = references.flatMap(({ path, section, place }) => {
    const name = (place ? before?.recorded[path] : undefined) ?? bound.recorded[path];
    if (typeof name !== "string") return [];
    return [[path, withoutTwin(`${section}.${name}`).slice(section.length + 1)] as const];
  });
  const { protect, onDelete, refs } = before ?? { ...bound, refs: bound.refs.map(withoutTwin) };
  return { ...bound, protect, onDelete, refs, recorded: { ...bound.recorded, ...Object.fromEntries(names) } };
}

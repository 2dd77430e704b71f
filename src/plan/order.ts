/** @module Joins the steps of all addresses into one order. */
import type { Address } from "../model/address.ts";
import { powerOf } from "../model/field-schema.ts";
import { stableJson } from "../model/json.ts";
import type { KindRegistry } from "../model/kind.ts";
import type { Change, Step } from "../model/plan.ts";
import type { Spec } from "../model/spec.ts";
import { hostsIn } from "../model/templates.ts";

/**
 * These rules always hold:
 *
 *     create or update X      after everything that X's desired references name is there, but the stop of an object that X is inside of
 *     migrate X               after everything that its new object needs, and everything inside of both, is there
 *     move X                  after what stood at its new address has moved away
 *     create X again          after its old object is bound to the address that asks for it
 *
 * These hold unless the step that would come first already waits for the other one:
 *
 *     delete X                after everything that refers to X now is deleted, or lets go of it
 *     forget X                after everything that refers to X now is forgotten: a run that is cut off deletes none of it
 *     delete what refers to X after the backup of X is complete, if X is to be backed up and deleted
 *     delete X for a new one  after everything that the new one names is there: what cannot be made is not deleted
 *     create X                after the object that stands at the place of X under another address is deleted
 *     stop X                  after everything inside of X is made, changed and deleted: that needs a running X
 *     delete what is inside X after X is started
 */
export function order(
  steps: readonly Step[],
  changes: readonly Change[],
  heldBy: (address: Address) => readonly Address[],
  kinds: KindRegistry,
): readonly Step[] {
  const making = steps.filter(({ operation }) => operation !== "delete" && operation !== "forget");
  const building = Map.groupBy(making, ({ address }) => address);
  // A migration waits for the new objects and for what lives inside of both: none of these waits for it.
  const migrating = new Map(
    steps.filter(({ operation }) => operation === "migrate").map(({ key, refs = [] }) => [key, refs]),
  );
  const changeOf = new Map(changes.map((change) => [change.address, change]));
  const hostsOf = ({ address, kind, operation }: Step): readonly Address[] => {
    const { before = {}, after = before } = changeOf.get(address) ?? {};
    const spec = operation === "delete" ? before : after;
    return hostsIn(kinds.named(kind).schema, spec).map((host) => host.address);
  };
  const isStop = ({ operation, kind, verb }: Step): boolean =>
    operation === "operate" && verb === powerOf(kinds.named(kind).schema)?.["running>stopped"];
  const builtFirst = (step: Step): readonly string[] => {
    const sendsValues = ["create", "update", "heal", "operate", "migrate"].includes(step.operation);
    const others = sendsValues ? (step.refs ?? []).filter((ref) => ref !== step.address) : [];
    return others
      .flatMap((ref) => building.get(ref) ?? [])
      .filter((other) => !isStop(other) || !hostsOf(step).includes(other.address))
      .map(({ key }) => key)
      .filter((key) => !migrating.get(key)?.includes(step.address));
  };
  const free = freeing(steps);
  const after = new Map(
    steps.map((step) => [step.key, new Set([...step.after, ...builtFirst(step), ...free(step)])]),
  );
  const wishes = [
    ...removals(steps, heldBy),
    ...renewals(steps, builtFirst),
    ...namesakesIn(changes, kinds),
    ...whileRunning(steps, hostsOf, isStop),
  ];
  for (const [later, earlier] of wishes) {
    if (!isAfter(earlier, later, after)) after.get(later)?.add(earlier);
  }
  return steps.map((step) => ({ ...step, after: [...(after.get(step.key) ?? [])].sort() }));
}

/** Stop of an object -> the work inside of it; deletion inside of an object -> its start. What is blocked holds nothing up. */
function whileRunning(
  steps: readonly Step[],
  hostsOf: (step: Step) => readonly Address[],
  isStop: (step: Step) => boolean,
): readonly (readonly [string, string])[] {
  const open = steps.filter(({ blocked }) => blocked.length === 0);
  const switches = Map.groupBy(
    open.filter(({ operation }) => operation === "operate"),
    ({ address }) => address,
  );
  return open
    .filter(({ operation }) => ["create", "update", "heal", "delete"].includes(operation))
    .flatMap((step) =>
      hostsOf(step)
        .flatMap((host) => switches.get(host) ?? [])
        .map((power): readonly [string, string] =>
          isStop(power) ? [power.key, step.key] : [step.key, power.key],
        ),
    );
}

/** Finds the steps that leave the new address of a move, or that bind the old object of a create. */
function freeing(steps: readonly Step[]): (step: Step) => readonly string[] {
  const leaving = Map.groupBy(steps, ({ from }) => from);
  const binding = Map.groupBy(steps, ({ operation, id }) => (operation === "bind" ? id : undefined));
  return ({ operation, address, id }) => {
    if (operation === "move") return (leaving.get(address) ?? []).map(({ key }) => key);
    return operation !== "create" || id === undefined ? [] : (binding.get(id) ?? []).map(({ key }) => key);
  };
}

/** Deletion -> the steps that it waits for. If two waits contradict each other, the first in the list holds: that for a deletion. */
export function removals(
  steps: readonly Step[],
  heldBy: (address: Address) => readonly Address[],
): readonly (readonly [string, string])[] {
  const holdings = steps.flatMap((step) =>
    (step.operation === "forget" ? [] : heldBy(step.address)).map((address) => ({ address, step })),
  );
  const holders = Map.groupBy(holdings, ({ address }) => address);
  const pairs = steps
    .filter((step) => step.operation === "delete")
    .flatMap((later) =>
      (holders.get(later.address) ?? [])
        .filter(({ step }) => step.address !== later.address)
        .map(({ step }) => ({ later, earlier: step })),
    );
  const deleted = pairs.filter(({ earlier }) => earlier.operation === "delete");
  const backups = new Map(
    steps
      .filter((step) => step.operation === "backup" && step.blocked.length === 0)
      .map((step) => [step.address, step]),
  );
  // An object that is kept because its backup failed keeps those that refer to it.
  const backedUp = deleted.flatMap(({ later, earlier }) => {
    const backup = backups.get(later.address);
    return backup === undefined ? [] : [{ later: earlier, earlier: backup }];
  });
  const forgotten = new Map(
    steps.filter(({ operation }) => operation === "forget").map((step) => [step.address, step]),
  );
  const forgetting = [...forgotten.values()].flatMap((earlier) =>
    heldBy(earlier.address)
      .flatMap((address) => forgotten.get(address) ?? [])
      .map((later) => ({ later, earlier })),
  );
  const lettingGo = pairs.filter(
    ({ later, earlier }) => earlier.operation === "update" && !(earlier.refs ?? []).includes(later.address),
  );
  return [...deleted, ...backedUp, ...lettingGo, ...forgetting].map(({ later, earlier }) => [
    later.key,
    earlier.key,
  ]);
}

/** Deletion that makes room for a new object -> the objects that the new one needs. */
export function renewals(
  steps: readonly Step[],
  builtFirst: (step: Step) => readonly string[],
): readonly (readonly [string, string])[] {
  const creates = new Map(
    steps.filter(({ operation }) => operation === "create").map((step) => [step.address, step]),
  );
  return steps.flatMap(({ operation, address, key: removal }) => {
    const create = operation === "delete" ? creates.get(address) : undefined;
    return create === undefined ? [] : builtFirst(create).map((key) => [removal, key] as const);
  });
}

/** Address that gets a new object -> the deletion of the object that has its name. Only a kind whose names are its places has one object of a name. */
function namesakesIn(
  changes: readonly Change[],
  kinds: KindRegistry,
): readonly (readonly [string, string])[] {
  const nameOf = ({ kind: section }: Change, spec: Spec | undefined): string | undefined => {
    const kind = kinds.named(section);
    const place = kind.place(spec ?? {});
    return spec === undefined || kind.namedBy === undefined || !Object.hasOwn(place, kind.namedBy)
      ? undefined
      : `${section} ${stableJson(place)}`;
  };
  const leaving = new Map(
    changes
      .filter(({ action }) => action === "delete" || action === "replace")
      .map((change) => [nameOf(change, change.before), change]),
  );
  leaving.delete(undefined);
  return changes
    .filter(({ action }) => action === "create" || action === "replace")
    .flatMap((change): readonly (readonly [string, string])[] => {
      const { address, action } = leaving.get(nameOf(change, change.after)) ?? change;
      return address === change.address
        ? []
        : [[change.address, action === "replace" ? `${address}#delete` : address]];
    });
}

/** True if the first step comes after the second one, directly or through others. */
function isAfter(key: string, other: string, after: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const reached = new Set([key]);
  for (const at of reached) {
    if (at === other) return true;
    for (const next of after.get(at) ?? []) reached.add(next);
  }
  return false;
}

import { kinds } from "../../src/kinds/index.ts";
import type { Address } from "../../src/model/address.ts";
import { isObject } from "../../src/model/json.ts";
import type { ApplyEvent } from "../../src/model/outcome.ts";
import type { Call } from "../../src/model/service.ts";
import type { StateDocument } from "../../src/model/state.ts";
import { stateFormatter } from "../../src/state/format-state.ts";
import { readState } from "../../src/state/read-state.ts";
import type { Proc } from "./proc.ts";
import { isEchoed, type Sender } from "./service-model.ts";
import { isLeaving, isThere, type Thing } from "./thing.ts";
import type { World } from "./world.ts";

/** A promise that was broken. */
export interface Violation {
  /** Stable, so that a shrunken case can be told to break the same one. */
  readonly promise: string;
  readonly detail: string;
}

/** Watches everything that the program does to the world, and knows what it must not do. */
export interface Oracle {
  /** The first one. */
  readonly violation: Violation | undefined;
  violate(promise: string, detail: string): void;
  sender(process: Proc): Sender;
  /** A version of the state becomes durable. */
  stores(process: Proc, next: StateDocument): void;
  /** A process tells how it goes. */
  hears(process: Proc, event: ApplyEvent): void;
  /** Something is written for people or programs: no secret in it. */
  says(what: string, value: unknown): void;
  /** Looks at everything that must hold between two events. */
  check(): void;
}

const format = stateFormatter();

export function oracle(world: World): Oracle {
  let violation: Violation | undefined;
  let isDirty = false;
  const violate = (promise: string, detail: string): void => {
    violation ??= { promise, detail };
  };

  const addressOf = (thing: Thing): Address => boundAddress(thing, world.stored) ?? thing.madeFor ?? "";

  /** The address that the process means: while one makes room for another, two may be bound to one object. */
  const declaredAddress = (thing: Thing, process: Proc): Address => {
    const bound = Object.entries(world.stored?.resources ?? {}).filter(([, entry]) => entry.id === thing.id);
    const moved = bound.map(([address]) => destination(address, process));
    const declared = moved.find((address) => process.resource(address) !== undefined);
    return declared ?? moved[0] ?? destination(addressOf(thing), process);
  };

  const writes = (process: Proc, thing: Thing, call: Call): void => {
    const address = declaredAddress(thing, process);
    const what = `${process.name}: ${call.operation} of ${thing.id} (${address})`;
    if (!thing.ours) return violate("foreign", `${what}: it is not ours`);
    const operation = call.operation.split(".")[1] ?? "";
    const declared = process.run.does === "destroy" ? undefined : process.resource(address);
    if (operation === "delete" || operation === "backup") return deletes(process, thing, address, what);
    if (declared === undefined) return violate("undeclared", `${what}: nothing declares it`);
    if (operation === "stop" && declared.spec["power"] !== "stopped")
      return violate("stopped", `${what}: it is to run`);
    if (operation === "update") overwrites(process, thing, address, call, what);
  };

  const deletes = (process: Proc, thing: Thing, address: Address, what: string): void => {
    if (isLeaving(thing)) return;
    const { run } = process;
    const isAllowed = run.allowDestroy?.includes(address) === true;
    const declared = run.does === "destroy" ? undefined : process.resource(address);
    const remembered = [...thing.protects];
    const isProtected = declared === undefined ? !remembered.includes(false) : protects(process, address);
    if (isProtected && !isAllowed) violate("protected", `${what}: it is protected`);
    if (declared === undefined && run.does === "apply" && run.resources.length === 0)
      violate("empty manifest", what);
    const isRefused =
      declared !== undefined && declared.onReplace !== "recreate" && thing.kind === "instances";
    if (isRefused && !isAllowed && run.replace?.includes(address) !== true)
      violate("replacement refused", what);
    if (declared === undefined && run.released?.includes(address) === true) violate("released", what);
  };

  /** Values that its decision was based on must still have been there when it looked last. */
  const overwrites = (process: Proc, thing: Thing, address: Address, call: Call, what: string): void => {
    const step = process.plan?.steps.find((each) => each.address === address && each.operation === "update");
    if (step === undefined) return violate("not in the plan", what);
    if (step.after.some((key) => key.split("#")[0] === address)) return;
    const seen = process.seen.get(thing);
    if (seen?.planned === undefined) return;
    const params = isObject(call.body?.["requestParams"]) ? call.body["requestParams"] : {};
    for (const [name, value] of Object.entries({ ...call.body, ...params })) {
      const isShown =
        name in seen.planned.top || (world.registry.options.echo && name in seen.planned.params);
      if (!isShown || name === "password" || name === "graphdbPassword") continue;
      const [planned, last] = [seen.planned, seen.last].map(
        (look) => ({ ...look.params, ...look.top })[name],
      );
      // What is there already may be of an earlier request of its own.
      if (planned !== last && last !== value)
        violate("stale", `${what}: ${name} was ${String(planned)}, and ${String(last)} at the last look`);
    }
  };

  const makes = (process: Proc, thing: Thing): void => {
    isDirty = true;
    const address = thing.madeFor ?? "";
    if (process.run.does === "destroy" || process.resource(address) === undefined) {
      violate("undeclared", `${process.name} created ${thing.id} for ${address}, which is not declared`);
    }
  };

  const check = (): void => {
    if (!isDirty || violation !== undefined) return;
    isDirty = false;
    const owners = new Map<Address, Thing>();
    for (const thing of world.registry.things) {
      if (!thing.ours || !isThere(thing)) continue;
      const address = addressOf(thing);
      const twin = owners.get(address);
      if (twin !== undefined) violate("doubled", `${twin.id} and ${thing.id} are both there for ${address}`);
      owners.set(address, thing);
      if (!isKnown(thing, world.stored))
        violate("orphan", `nobody knows ${thing.id}, which was made for ${address}`);
    }
  };

  const stores = (process: Proc, next: StateDocument): void => {
    const before = world.stored;
    if (process.phase === "planning") {
      violate("write during plan", `${process.name} wrote version ${next.serial} of the state`);
    }
    if (next.serial <= (before?.serial ?? 0)) violate("serial", `${next.serial} after ${before?.serial}`);
    world.stored = next;
    isDirty = true;
    says("state", next);
    const bound = new Set(Object.values(next.resources).map((entry) => entry.id));
    for (const [address, { id }] of Object.entries(before?.resources ?? {})) {
      if (!bound.has(id)) lets(process, address, id);
    }
    for (const { id } of Object.values(next.resources)) claims(process, id);
  };

  const lets = (process: Proc, address: Address, id: string): void => {
    const thing = world.registry.at(id);
    if (thing === undefined || !isThere(thing)) return;
    const isSaid = process.plan?.steps.some(
      (step) => step.operation === "forget" && step.id === id && step.blocked.length === 0,
    );
    if (isSaid !== true)
      violate("released too early", `${process.name} let go of ${id} (${address}), which is still there`);
    thing.ours = false;
  };

  /** What is bound is ours, if the manifest said so. */
  const claims = (process: Proc, id: string): void => {
    const thing = world.registry.at(id);
    if (thing === undefined || thing.ours || !isThere(thing)) return;
    const isImport = process.run.resources.some((entry) => entry.importId === id);
    if (!isImport) violate("foreign", `${process.name} bound ${id}, which is not ours`);
    thing.ours = true;
    thing.protects = new Set([false, true]);
  };

  const says = (what: string, value: unknown): void => {
    if (violation === undefined && JSON.stringify(value).includes("s3cret-"))
      violate("secret", `a secret stands in the ${what}`);
  };

  /** What is called done has ended, as far as it was asked for here. */
  const hears = (process: Proc, event: ApplyEvent): void => {
    says("events", event);
    if (event.type !== "step-end" || event.outcome.result !== "done") return;
    const { address, operation, key } = event.outcome;
    const thing = world.registry.at(world.stored?.resources[address]?.id ?? "");
    if (thing === undefined || !["create", "update", "operate"].includes(operation)) return;
    world.registry.advance();
    if (thing.work !== undefined && thing.worker === process.name) {
      violate(
        "done too early",
        `${process.name}: ${key} is called done, and ${thing.id} is ${thing.work.through}`,
      );
    }
  };

  return {
    get violation(): Violation | undefined {
      return violation;
    },
    violate,
    says,
    hears,
    stores,
    check,
    sender: (process) => ({
      addressOf: (tag) => process.run.resources.find((entry) => entry.tag === tag)?.address,
      protects: (address) => protects(process, address),
      writes: (thing, call) => {
        isDirty = true;
        thing.worker = process.name;
        writes(process, thing, call);
      },
      made: (thing) => {
        thing.worker = process.name;
        makes(process, thing);
      },
      saw: (thing) => {
        const look = world.registry.shown(thing);
        const last = isEchoed(thing, world.registry) ? look : { ...look, params: {} };
        const before = process.seen.get(thing)?.planned;
        const plans = process.phase === "planning" && !(process.run.plan === "use" && before !== undefined);
        const planned = plans ? last : before;
        process.seen.set(thing, planned === undefined ? { last } : { planned, last });
      },
    }),
  };
}

/** What a manifest says of a resource's protection, or its kind where it says nothing. */
export function protects(process: Pick<Proc, "resource">, address: Address): boolean {
  const declared = process.resource(address);
  const kind = kinds.find(({ name }) => name === address.split(".")[0]);
  return declared?.protect ?? kind?.protectedByDefault(declared?.spec ?? {}) ?? true;
}

/** The state as a process that starts now reads it: as text, with every check. */
export function reread(state: StateDocument): StateDocument {
  return readState(format(state), "simulated", state.name);
}

function boundAddress(thing: Thing, state: StateDocument | undefined): Address | undefined {
  return Object.entries(state?.resources ?? {}).find(
    ([, entry]) => entry.id === thing.id && entry.kind === thing.kind,
  )?.[0];
}

/** Bound, or announced and not yet acknowledged. */
function isKnown(thing: Thing, state: StateDocument | undefined): boolean {
  if (boundAddress(thing, state) !== undefined) return true;
  const intent = state?.intents[thing.madeFor ?? ""];
  return intent !== undefined && !intent.before.includes(thing.id);
}

function destination(address: Address, { run }: Proc): Address {
  let at = address;
  for (const [from, to] of run.moved ?? []) if (at === from) at = to;
  return at;
}

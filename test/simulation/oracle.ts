import type { Address } from "../../src/model/address.ts";
import type { ApplyEvent } from "../../src/model/outcome.ts";
import type { StateDocument } from "../../src/model/state.ts";
import { boundAddress, protects } from "./belonging.ts";
import { judgeWrites } from "./judge-writes.ts";
import type { Proc } from "./proc.ts";
import { isEchoed, type Sender } from "./service-model.ts";
import { isThere, type Thing } from "./thing.ts";
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
  /** A database was asked by a process whether it answers, and did. */
  answers(process: Proc, id: string): void;
  /** A process tells how it goes. */
  hears(process: Proc, event: ApplyEvent): void;
  /** Something is written for people or programs: no secret in it. */
  says(what: string, value: unknown): void;
  /** Looks at everything that must hold between two events. */
  check(): void;
}

export function oracle(world: World): Oracle {
  let violation: Violation | undefined;
  let isDirty = false;
  const violate = (promise: string, detail: string): void => {
    violation ??= { promise, detail };
  };
  const judge = judgeWrites(world, violate);

  /** A saved plan is carried out by one process alone. A late request of a dead one belongs to the plan that it had. */
  const uses = (process: Proc): void => {
    const { saved } = world;
    if (
      process.run.plan !== "use" ||
      saved === undefined ||
      saved.plan.fingerprint !== process.plan?.fingerprint
    )
      return;
    saved.usedBy ??= process;
    if (saved.usedBy !== process)
      violate("plan twice", `${process.name} carries out what ${saved.usedBy.name} began`);
  };

  const makes = (process: Proc, thing: Thing): void => {
    isDirty = true;
    const address = thing.madeFor ?? "";
    const home = world.registry.at(thing.place);
    if (home?.ours === false) violate("foreign", `${process.name} created ${thing.id} in what is not ours`);
    if (process.run.does === "destroy" || process.resource(address) === undefined) {
      violate("undeclared", `${process.name} created ${thing.id} for ${address}, which is not declared`);
    }
  };

  const check = (): void => {
    if (!isDirty || violation !== undefined) return;
    isDirty = false;
    const owners = new Map<Address, Thing>();
    const open = new Map<string, Thing[]>();
    for (const thing of world.registry.things) {
      if (!thing.ours || !isThere(thing)) continue;
      const bound = boundAddress(thing, world.stored);
      const round = bound === undefined ? roundOf(thing, world.stored) : undefined;
      if (bound === undefined && round === undefined)
        violate("orphan", `nobody knows ${thing.id}, which was made for ${thing.madeFor}`);
      // Which of the creates that are in flight together an object is of is decided once their answers are there.
      if (round !== undefined) open.set(round, [...(open.get(round) ?? []), thing]);
      if (bound === undefined) continue;
      // Objects of creates that were in flight together may have been exchanged: it is what it is bound as.
      if (thing.madeFor !== undefined && round === undefined) settleOwner(thing, bound);
      const twin = owners.get(bound);
      if (twin !== undefined) violate("doubled", `${twin.id} and ${thing.id} are both there for ${bound}`);
      owners.set(bound, thing);
    }
    for (const [round, made] of open) {
      const intents = Object.values(world.stored?.intents ?? {}).filter((intent) => intent.round === round);
      if (made.length > intents.length)
        violate(
          "doubled",
          `${made.map(({ id }) => id).join(", ")} for ${intents.length} creates of ${round}`,
        );
    }
  };

  const settled = new Set<Thing>();
  const settleOwner = (thing: Thing, address: Address): void => {
    if (settled.has(thing)) return;
    settled.add(thing);
    if (thing.madeFor === address) return;
    thing.madeFor = address;
    const protect = world.stored?.resources[address]?.protect;
    if (protect !== undefined) thing.protects = new Set([protect]);
  };

  const stores = (process: Proc, next: StateDocument): void => {
    const before = world.stored;
    if (next.serial <= (before?.serial ?? 0)) violate("serial", `${next.serial} after ${before?.serial}`);
    world.stored = next;
    isDirty = true;
    says("state", next);
    const bound = new Set(Object.values(next.resources).map((entry) => entry.id));
    for (const [address, { id }] of Object.entries(before?.resources ?? {})) {
      if (!bound.has(id)) lets(process, address, id);
    }
    const known = new Set(Object.values(before?.resources ?? {}).map((entry) => entry.id));
    for (const { id } of Object.values(next.resources)) if (!known.has(id)) claims(process, id);
  };

  const lets = (process: Proc, address: Address, id: string): void => {
    const thing = world.registry.at(id);
    if (thing === undefined || !isThere(thing) || !thing.ours) return;
    const isSaid = process.plan?.steps.some(
      (step) =>
        step.operation === "forget" && step.id === id && step.gone !== true && step.blocked.length === 0,
    );
    if (isSaid !== true)
      violate("released too early", `${process.name} let go of ${id} (${address}), which is still there`);
    thing.ours = false;
    // One that is let go of while lists hide it, and declared again at once, could be taken for the new one.
    Object.assign(thing, { listedFrom: 0, describedFrom: 0 });
  };

  /** What is bound is ours, if the manifest said so. */
  const claims = (process: Proc, id: string): void => {
    const thing = world.registry.at(id);
    if (thing === undefined || thing.ours || !isThere(thing)) return;
    const isImport = process.run.resources.some((entry) => entry.importId === id);
    // A network is found by its name (decision 13), also by a manifest that lets go of it and wants it back.
    const isNamed = process.run.resources.some(
      ({ address, spec }) => address.startsWith("networks.") && spec["name"] === thing.look.top["name"],
    );
    if (!isImport && !(isNamed && thing.kind === "networks"))
      violate("foreign", `${process.name} bound ${id}, which is not ours`);
    thing.ours = true;
    thing.protects = new Set([false, true]);
  };

  const says = (what: string, value: unknown): void => {
    if (violation === undefined && JSON.stringify(value).includes("s3cret-"))
      violate("secret", `a secret stands in the ${what}`);
  };

  /** Databases that have answered a process, and addresses that it has warned of. */
  const tried = new Map<Proc, Set<string>>();
  const remember = (process: Proc, what: string): void => {
    tried.set(process, (tried.get(process) ?? new Set()).add(what));
  };

  /** What is called done has ended, as far as it was asked for here. */
  const hears = (process: Proc, event: ApplyEvent): void => {
    says("events", event);
    if (event.type === "step-start" && process.stopping.signal.aborted)
      violate("begun after the stop", `${process.name}: ${event.key}`);
    if (event.type === "warning") remember(process, event.address ?? "");
    if (event.type !== "step-end" || event.outcome.result !== "done") return;
    const { address, operation, key } = event.outcome;
    const thing = world.registry.at(world.stored?.resources[address]?.id ?? "");
    if (thing === undefined || !["create", "update", "operate"].includes(operation)) return;
    world.registry.advance();
    const isTried = [thing.id, address].some((what) => tried.get(process)?.has(what));
    if (operation === "create" && thing.kind === "instances" && !isTried && !process.stopping.signal.aborted)
      violate("not tried", `${process.name}: ${key} is called done, and nobody has asked ${thing.id}`);
    if (thing.worker !== process.name) return;
    const { work, look, touchedAt } = thing;
    const hasFailed = look.status === "FAILED" && touchedAt !== undefined;
    if (work === undefined) thing.isMistaken ||= hasFailed;
    else if (isTouched(thing)) thing.isMistaken = true;
    else
      violate("done too early", `${process.name}: ${key} is called done, and ${thing.id} is ${work.through}`);
  };

  return {
    get violation(): Violation | undefined {
      return violation;
    },
    violate,
    says,
    answers: remember,
    hears,
    stores,
    check,
    sender: (process) => ({
      addressOf: (tag) => process.run.resources.find((entry) => entry.tag === tag)?.address,
      protects: (address) => protects(process, address),
      writes: (thing, call) => {
        isDirty = true;
        thing.worker = process.name;
        uses(process);
        judge(process, thing, call);
      },
      made: (thing) => {
        thing.worker = process.name;
        uses(process);
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

/** The open round that an unbound object can be of: that of the address that it was made for, or another one. */
function roundOf(thing: Thing, state: StateDocument | undefined): string | undefined {
  if (state === undefined) return undefined;
  const own = state.intents[thing.madeFor ?? ""]?.round;
  const isOf = (round: string): boolean => {
    const listed = state.rounds[round];
    return listed?.kind === thing.kind && !listed.before.includes(thing.id);
  };
  if (own !== undefined && isOf(own)) return own;
  return Object.keys(state.rounds).find((round) => isOf(round) && keyOfPlace(state, round) === thing.place);
}

function keyOfPlace(state: StateDocument, round: string): string {
  const { tier, component, instance } = state.rounds[round]?.place ?? {};
  if (instance !== undefined) return String(instance);
  return tier === undefined ? "" : `${String(tier)}/${String(component)}`;
}

/**
 * True where somebody else changed it between the last look and our request: that moves the modification time, which
 * counts for a sign that the work has begun.
 */
function isTouched({ touchedAt, look }: Thing): boolean {
  return touchedAt !== undefined && look.modifiedAt - touchedAt < 1000;
}

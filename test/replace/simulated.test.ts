import { describe, expect, it, vi } from "vitest";
import { type ApplyContext, unplannedStep } from "../../src/apply/context.ts";
import { GraphformError } from "../../src/model/errors.ts";
import type { Driver } from "../../src/model/kind.ts";
import type { Live, PhaseName } from "../../src/model/observed.ts";
import type { Bound, Migration, StateDocument } from "../../src/model/state.ts";
import type { Freeze } from "../../src/replace/data/freeze.ts";
import type { Side } from "../../src/replace/data/nodes.ts";
import { Refused } from "../../src/replace/data/refusals.ts";
import { migrate } from "../../src/replace/migrate.ts";
import { isSwitched, toRepair } from "../../src/replace/phases.ts";
import { repairMigrations } from "../../src/replace/shutdown.ts";
import { emptyState } from "../../src/state/document.ts";
import { openJournal } from "../../src/state/journal.ts";
import { applyContext } from "../support/apply-context.ts";
import { createMemoryStore } from "../support/memory-store.ts";
import { toyProfile } from "../support/toy-kind.ts";
import { type ToyService, toyService } from "../support/toy-service.ts";
import { type VirtualClock, virtualClock } from "../support/virtual-clock.ts";

/** Rules that a model may break, so that the simulation proves that it would find it. */
type Broken =
  | "no cap while it stops"
  | "no proof of the pause"
  | "no repair"
  | "no kill of clients"
  | "no proof of the copy";

/** A database as its clients know it. */
interface Database {
  numbers: Set<number>;
  /** Writes that wait in a pause. */
  waiting: number[];
  isCapped: boolean;
  pausedUntil: number;
  /** It has the key of a copy that has not ended. */
  isCopy: boolean;
  /** Grows with every write of one process. */
  version: number;
  /** Grows while it does not run: another number is another process. */
  process: number;
}

interface Held {
  readonly id: string;
  isRenewed: boolean;
  isFenced: boolean;
  isProved(): boolean;
  readonly lost: AbortController;
}

const [pause, address, next] = [30_000, "toys.a", "toys.a~next"];

/** Two databases, a service, writers, and a state that runs share which are killed. */
class World {
  readonly clock: VirtualClock;
  readonly service: ToyService;
  store = createMemoryStore(born());
  /** The versions of the state before the switch. */
  readonly versions: StateDocument[] = [];
  /** The clients go on at this database, whatever the state says. */
  followed: string | undefined;
  readonly databases = new Map<string, Database>();
  readonly acknowledged = new Set<number>();
  /** Writes of the last process of each database. */
  readonly lastVersions = new Map<Database, number>();
  readonly broken: Broken | undefined;
  /** Passes of the run that is in progress before it is killed. */
  left = Number.POSITIVE_INFINITY;
  died: PromiseWithResolvers<void> = Promise.withResolvers();
  held: Held | undefined;
  losesPauses = true;
  /** A look of a way back may show the status of so many ms before. */
  readonly lag: number;
  readonly #shown = new Map<string, { readonly at: number; readonly phase: PhaseName }[]>();
  /** Share of the writes that are no queries: no cap holds them. */
  readonly plain: number;
  isOver = false;
  /** A database did not answer in the run. */
  wasSilent = false;
  /** The message of the last step that was done. */
  told = "";
  #next = 0;

  constructor(seed: number, broken?: Broken) {
    this.clock = virtualClock(seed);
    this.broken = broken;
    this.plain = this.one([0, 0.3]);
    this.lag = this.one([0, 0, 50_000]);
    const work = this.one([1000, 10_000, 60_000, 14 * 60_000, 17 * 60_000]);
    this.service = toyService(this.clock, { work });
    for (const size of [1, 2]) this.databases.set(this.service.add({ size }), database());
    if (this.chance(0.3))
      this.service.fault({ on: "stop", effect: this.one(["lost-before", "lost-after", "503-after"]) });
  }

  one<T>(all: readonly T[]): T {
    const found = all[Math.floor(this.clock.random() * all.length)];
    if (found === undefined) throw new Error("nothing to choose");
    return found;
  }

  chance(share: number): boolean {
    return this.clock.random() < share;
  }

  of(id: string): Database {
    const found = this.databases.get(id);
    if (found === undefined) throw new Error(`no database ${id}`);
    return found;
  }

  isUp(id: string): boolean {
    return this.service.all().find((toy) => toy.id === id)?.phase === "ready";
  }

  /** A database as the service shows it: it may have copies of its records, of which one is late. */
  shown(live: Live): Live {
    const { phase } = this.#shown.get(live.id)?.findLast(({ at }) => at <= this.clock.now() - this.lag) ?? {};
    const isLate = phase !== undefined && this.lag > 0 && this.chance(0.4);
    return isLate ? { ...live, phase: { ...live.phase, is: phase } } : live;
  }

  /** A moment of a run: it takes time, it may be the last, and another client may end the pause. */
  async pass(): Promise<void> {
    this.left -= 1;
    if (this.left === 0) this.died.resolve();
    if (this.left <= 0) await new Promise<never>(() => {});
    await this.clock.sleep(this.clock.random() * 1500);
    // Other writes than queries have no second lock while the database stops.
    const isLost = this.plain === 0 || this.held?.isFenced === false;
    if (this.losesPauses && isLost && this.held !== undefined && this.chance(0.03))
      this.of(this.held.id).pausedUntil = 0;
  }

  /** Everything that happens beside the runs: writers, ends of pauses, renewals. */
  async live(): Promise<void> {
    const followed = async (): Promise<string> =>
      this.followed ?? (await this.store.read())?.resources[address]?.id ?? "toy-1";
    while (!this.isOver) {
      await this.clock.sleep(100 + this.clock.random() * 400);
      for (const [id, each] of this.databases) this.settle(id, each);
      this.renew();
      for (const id of ["toy-1", await followed()]) this.write(id);
    }
  }

  settle(id: string, each: Database): void {
    const toy = this.service.all().find((other) => other.id === id);
    const phase = toy?.work === undefined ? (toy?.phase ?? "gone") : "pending";
    const shown = this.#shown.get(id) ?? [];
    if (shown.at(-1)?.phase !== phase) this.#shown.set(id, [...shown, { at: this.clock.now(), phase }]);
    if (this.isUp(id)) this.lastVersions.set(each, each.version);
    else
      Object.assign(each, {
        ...{ waiting: [], isCapped: false, pausedUntil: 0 },
        ...{ version: 0, process: each.process + 1 },
      });
    if (this.clock.now() >= each.pausedUntil)
      for (const number of each.waiting.splice(0)) this.take(each, number);
  }

  renew(): void {
    const { held } = this;
    if (held === undefined || this.left <= 0 || !held.isRenewed) return;
    if (held.isProved()) this.extend(held.id, pause);
    else held.lost.abort(new Refused("freeze-lost", "the pause was lost"));
  }

  extend(id: string, ms: number): void {
    const each = this.of(id);
    if (this.isUp(id)) each.pausedUntil = Math.max(each.pausedUntil, this.clock.now() + ms);
  }

  write(id: string): void {
    const each = this.of(id);
    this.#next += 1;
    if (!this.isUp(id) || (each.isCapped && !this.chance(this.plain))) return;
    if (this.clock.now() < each.pausedUntil) each.waiting.push(this.#next);
    else this.take(each, this.#next);
  }

  take(each: Database, number: number): void {
    each.numbers.add(number);
    each.version += 1;
    this.acknowledged.add(number);
  }
}

function database(): Database {
  const none = { isCapped: false, isCopy: false, pausedUntil: 0, version: 0, process: 0 };
  return { numbers: new Set(), waiting: [], ...none };
}

const now = vi.hoisted(() => ({ world: undefined as World | undefined }));
const world = (): World => {
  if (now.world === undefined) throw new Error("no world");
  return now.world;
};
const idOf = (side: Side): string => String(side.primary.target.host);
/** A write of a run of ours: it sets or deletes the key of a copy. */
const change = (id: string, isCopy: boolean): void => {
  const each = world().of(id);
  Object.assign(each, { isCopy, version: each.version + 1 });
};
const sideOf = (id: string): Side => {
  const { process } = world().of(id);
  const control = {
    get isOpen() {
      return world().isUp(id) && world().of(id).process === process;
    },
    one: async (command: unknown) => change(id, command === "set"),
  } as unknown as Side["primary"]["control"];
  const primary = { target: { host: id }, role: "primary", control } as unknown as Side["primary"];
  return { primary, replicas: [], nodes: [primary], close: () => undefined };
};

vi.mock("../../src/replace/data/nodes.ts", () => ({}));
vi.mock("../../src/replace/data/inventory.ts", () => ({
  takeInventory: async (side: Side) => {
    await world().pass();
    const databases = world().of(idOf(side)).numbers.size === 0 ? [] : [{ number: 0 }];
    return { engine: {}, isCluster: false, isOnDisk: true, memory: { used: 0, max: 0 }, databases };
  },
  totalsOf: () => ({ databases: 0, keys: 0, graphs: 0, nodes: 0, edges: 0 }),
}));
vi.mock("../../src/replace/data/preflight.ts", () => ({
  refusalsOf: () => [],
  refusalsOfSide: async () => [],
}));
vi.mock("../../src/replace/data/durable.ts", () => ({
  makeDurable: async (side: Side, last: unknown) => {
    change(idOf(side), last === "set");
    await world().pass();
  },
}));
const isOwn = (side: Side, mark?: Migration["mark"]): boolean => {
  const { isCopy, numbers, process, version } = world().of(idOf(side));
  const isAsLeft = mark?.runId === String(process) && mark.writes === version;
  return world().broken === "no proof of the copy" || isCopy || numbers.size === 0 || isAsLeft;
};
vi.mock("../../src/replace/data/own-copy.ts", () => ({
  ...{ setCopyKey: "set", deleteCopyKey: "delete" },
  isOwnCopy: async (side: Side, mark?: Migration["mark"]) => {
    await world().pass();
    return isOwn(side, mark);
  },
  notOwnCopy: (next: string) => new Refused("not-a-copy", `${next} may be in use`),
  writeCountOf: async (side: Side) => {
    const { process, version } = world().of(idOf(side));
    return { runId: String(process), writes: version };
  },
}));
/** Empties a new database, as the program does: never one that others may have written to. */
const emptied = (side: Side): Database => {
  if (!isOwn(side)) throw new Refused("not-a-copy", `${idOf(side)} may be in use`);
  change(idOf(side), false);
  world().of(idOf(side)).numbers.clear();
  return world().of(idOf(side));
};
vi.mock("../../src/replace/data/rehearse.ts", () => ({
  rehearse: async (_: Side, target: Side) => {
    emptied(target);
    change(idOf(target), true);
    await world().pass();
    emptied(target);
    return { bytes: 1, largest: 1, copy: 10_000, verify: 10_000, durable: 1, stall: 1 };
  },
}));
vi.mock("../../src/replace/data/copy.ts", () => ({
  copy: async (source: Side, target: Side) => {
    const { numbers } = emptied(target);
    change(idOf(target), true);
    for (const number of world().of(idOf(source)).numbers) {
      if (world().chance(0.02)) await world().pass();
      numbers.add(number);
    }
    await world().pass();
    return { keys: 1, bytes: 1, largest: 1 };
  },
}));
vi.mock("../../src/replace/data/compare-data.ts", () => ({
  compareData: async (source: Side, target: Side) => {
    await world().pass();
    const [before, after] = [source, target].map((side) => world().of(idOf(side)).numbers.size);
    return before === after ? [] : [`${before} and ${after} numbers`];
  },
}));
vi.mock("../../src/replace/data/proof.ts", () => ({
  factsOf: async ({ target }: Side["primary"]) => {
    const each = world().of(String(target.host));
    return { runId: String(each.process), writes: each.version };
  },
}));
vi.mock("../../src/replace/data/freeze.ts", () => ({
  pauseNode: async (node: Side["primary"], ms: number) => {
    await world().pass();
    world().extend(String(node.target.host), ms);
  },
  unpause: async (side: Side) => {
    await world().pass();
    world().of(idOf(side)).pausedUntil = 0;
  },
}));
vi.mock("../../src/replace/data/quiesce.ts", () => ({
  readCap: async (side: Side) => (world().of(idOf(side)).isCapped ? 1 : 0),
  setCap: async (side: Side, cap: number) => {
    await world().pass();
    world().of(idOf(side)).isCapped = cap === 1 && world().broken !== "no cap while it stops";
  },
  letWrite: async (side: Side, cap?: number) => {
    await world().pass();
    Object.assign(world().of(idOf(side)), {
      pausedUntil: 0,
      ...(cap === undefined ? {} : { isCapped: cap === 1 }),
    });
  },
  quiesce: async (side: Side, { cap }: { readonly cap: number }): Promise<Freeze> => {
    const [here, id] = [world(), idOf(side)];
    const each = here.of(id);
    each.isCapped = true;
    await here.pass();
    const isIdle = here.chance(0.9);
    if (isIdle) here.extend(id, pause);
    const { version } = each;
    await here.pass();
    each.isCapped = cap === 1;
    if (!isIdle) throw new Refused("not-idle", "queries still ran");
    return freezeOf(here, id, version);
  },
}));
vi.mock("../../src/replace/sides.ts", () => {
  const boundAt = (at: string, { journal }: ApplyContext): Bound => {
    const bound = journal.state.resources[at];
    if (bound === undefined) throw new Error(`${at} is bound to nothing`);
    return bound;
  };
  const openBound = async (at: string, context: ApplyContext): Promise<Side> => {
    await world().pass();
    const { id } = boundAt(at, context);
    const isSilent = world().losesPauses && world().chance(0.1);
    if (isSilent) world().wasSilent = true;
    if (!world().isUp(id) || isSilent) throw new GraphformError("not-asked", `${id} does not answer`);
    return sideOf(id);
  };
  return {
    boundAt,
    openBound,
    withSides: async (at: string, context: ApplyContext, work: (a: Side, b: Side) => unknown) =>
      work(await openBound(at, context), await openBound(`${at}~next`, context)),
  };
});

function freezeOf(here: World, id: string, version: number): Freeze {
  const each = here.of(id);
  const isHeld = (): boolean => each.version === version && here.clock.now() < each.pausedUntil;
  const held: Held = {
    id,
    isRenewed: true,
    isFenced: false,
    isProved: () => here.broken === "no proof of the pause" || isHeld() || (held.isFenced && !here.isUp(id)),
    lost: new AbortController(),
  };
  here.held = held;
  return {
    lost: held.lost.signal,
    async prove() {
      await here.pass();
      return held.isProved() ? undefined : new Refused("freeze-lost", "the pause was lost");
    },
    async endConnections() {
      await here.pass();
      if (here.broken !== "no kill of clients") each.waiting = [];
      const isProved = held.isProved();
      held.isFenced = true;
      return isProved ? undefined : new Refused("freeze-lost", "the pause was lost");
    },
    async release() {
      held.isRenewed = false;
      await here.pass();
      each.pausedUntil = 0;
      return true;
    },
    abandon: () => void Object.assign(held, { isRenewed: false }),
  };
}

function born(): StateDocument {
  const at = (id: string): Bound => ({
    ...{ kind: "toys", id, place: {}, recorded: {}, protect: false, onDelete: "delete", refs: [] },
    createdAt: new Date(0).toISOString(),
  });
  const state = emptyState("toys", { lineage: "lineage-1", key: "00".repeat(32) });
  return { ...state, resources: { [address]: at("toy-1"), [next]: at("toy-2") } };
}

/** One run until its end, or until it is killed after so many moments. */
async function run(here: World, what: "apply" | "plan" | "undo", moments: number): Promise<void> {
  here.left = moments;
  here.died = Promise.withResolvers();
  Object.assign(here, { held: undefined, wasSilent: false });
  const between =
    <A extends readonly unknown[], T>(work: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      await here.pass();
      const result = await work(...given);
      await here.pass();
      return result;
    };
  const { list, create, update, delete: remove, operate } = here.service;
  const get: Driver["get"] = async (...given) => {
    const live = await here.service.get(...given);
    return live && what === "undo" ? here.shown(live) : live;
  };
  const driver: Driver = {
    ...{ list: between(list), get: between(get), create: between(create), update: between(update) },
    ...{ delete: between(remove), operate: between(operate) },
  };
  const { store, clock } = here;
  const state = (await store.read()) ?? born();
  const remember = async (): Promise<void> => {
    const version = await store.read();
    const migration = version?.migrations?.[address];
    if (version !== undefined && (migration === undefined || !isSwitched(migration)))
      here.versions.push(version);
  };
  const write: typeof store.write = (next) => store.write(next).then(remember);
  const append: typeof store.append = (next) => store.append(next).then(remember);
  const journal = openJournal({ write: between(write), append: between(append) }, state, clock);
  const timing = { ...toyProfile.timing, settle: 60_000 };
  const profile = { ...toyProfile, timing };
  const context = applyContext(clock, driver, { journal, stateAtStart: state, profile });
  const step = async (verb: string): Promise<void> => {
    const bound = journal.state.resources[address];
    if (bound === undefined) throw new Error("nothing is bound");
    const terms = {
      cutover: true,
      maxReadOnly: 3600_000,
      inside: [],
      parameters: [],
      windows: [],
      hold: 3600_000,
    };
    const unplanned = unplannedStep(address, bound, "migrate", context.digest);
    const { result, message = "" } = await migrate({ ...unplanned, verb, migration: terms }, context);
    here.told = result === "done" ? message : "";
  };
  const work = async (): Promise<void> => {
    if (what === "undo") return step("undo");
    if (here.broken !== "no repair" && toRepair(journal.state).length > 0) await repairMigrations(context);
    const migration = journal.state.migrations?.[address];
    if (what === "plan" || (migration !== undefined && isSwitched(migration))) return;
    await step("preflight");
    await step("cutover");
  };
  await Promise.race([work().catch((error: unknown) => assertExpected(error)), here.died.promise]);
}

/** Failures that a person is told, after which he runs it again. */
function assertExpected(error: unknown): void {
  const name = error instanceof Error ? error.name : "";
  if (!["GraphformError", "ServiceError", "Refused"].includes(name)) throw error;
}

/** The moments of a run until it is killed, which happens to a share of the runs. */
function momentsOf(here: World, share: number, most: number): number {
  return here.chance(share) ? 1 + Math.floor(here.clock.random() * most) : Number.POSITIVE_INFINITY;
}

/** True if a run that was not killed has left a running database that takes no writes. */
async function isUnrepaired(here: World): Promise<boolean> {
  const state = (await here.store.read()) ?? born();
  const toy = here.service.all().find(({ id }) => id === state.resources[address]?.id);
  return (
    here.left > 0 &&
    !here.wasSilent &&
    toRepair(state).length > 0 &&
    toy?.phase === "ready" &&
    toy.work === undefined
  );
}

/**
 * Ways back and forward again under the writers, killed and not. No acknowledged number may be missing on both databases, and a count that is
 * told is that of the database which lost the address.
 */
async function goBack(here: World): Promise<readonly string[]> {
  const wrong: string[] = [];
  const isSettled = async (): Promise<boolean> => {
    const state = (await here.store.read()) ?? born();
    return state.migrations?.[address]?.phase === "hold" && toRepair(state).length === 0;
  };
  for (let tries = 0; tries < 8 && (tries < 4 || !(await isSettled())); tries += 1) {
    here.losesPauses = tries < 4;
    const before = (await here.store.read()) ?? born();
    const { mark } = before.migrations?.[address] ?? {};
    const closed = here.of(before.resources[address]?.id ?? "");
    here.told = "";
    await run(
      here,
      tries > 3 || here.chance(0.8) ? "undo" : "plan",
      momentsOf(here, tries < 4 ? 0.7 : 0, 40),
    );
    wrong.push(...wrongCount(here.told, (here.lastVersions.get(closed) ?? 0) - (mark?.writes ?? 0)));
    here.left = 0;
    await here.clock.sleep(here.one([0, 10_000, 60_000, 20 * 60_000]));
  }
  const takesWrites = await doesTakeWrites(here);
  const state = (await here.store.read()) ?? born();
  const all = [...here.databases.values()];
  const missing = [...here.acknowledged].filter((number) => !all.some(({ numbers }) => numbers.has(number)));
  const { id: former } = state.resources[`${address}~former`] ?? {};
  return [
    ...wrong,
    ...(former === undefined || !here.isUp(former) ? [] : ["the database that lost the address runs"]),
    ...((await isSettled()) ? [] : [`the way back ended in the phase ${state.migrations?.[address]?.phase}`]),
    ...(missing.length === 0 ? [] : [`${missing.length} acknowledged numbers are on no database`]),
    ...(takesWrites ? [] : ["the winner of the way back takes no writes"]),
  ];
}

/** Says that a message tells another number of commands than there were. */
function wrongCount(told: string, actual: number): readonly string[] {
  const [, count] = /had got (\d+|no) command/.exec(told) ?? [];
  const isRight = count === undefined || (Number(count) || 0) === actual;
  return isRight ? [] : [`it told ${count} commands, and there were ${actual}`];
}

/**
 * Runs with a version of the state from before the switch, while the clients go on at the new database. It must keep what it has acknowledged, and
 * the old one must not be started: two would take writes then.
 */
async function restore(here: World): Promise<readonly string[]> {
  const state = (await here.store.read()) ?? born();
  const inUse = state.resources[address]?.id ?? "";
  const old = state.resources[`${address}~former`]?.id ?? "";
  here.followed = inUse;
  here.store = createMemoryStore(here.one(here.versions));
  for (let tries = 0; tries < 6; tries += 1) {
    await run(here, here.one(["apply", "apply", "undo", "plan"]), momentsOf(here, 0.3, 40));
    here.left = 0;
    await here.clock.sleep(here.one([0, 10_000, 60_000]));
  }
  const { numbers } = here.of(inUse);
  const missing = [...here.acknowledged].filter((number) => !numbers.has(number));
  return [
    ...(missing.length === 0 ? [] : [`${missing.length} acknowledged numbers are lost by an older state`]),
    ...(here.isUp(old) ? ["an older state started the old database"] : []),
  ];
}

/** True if the database of the address takes writes within 45 s. */
async function doesTakeWrites(here: World): Promise<boolean> {
  const state = await here.store.read();
  const winner = here.of(state?.resources[address]?.id ?? "");
  const before = winner.version;
  await here.clock.sleep(45_000);
  return winner.version > before;
}

/** Plays one seed, and returns what is wrong in the end. */
async function play(seed: number, broken?: Broken): Promise<readonly string[]> {
  const here = new World(seed, broken);
  now.world = here;
  const isDone = async (): Promise<boolean> => {
    const migration = (await here.store.read())?.migrations?.[address];
    return (
      migration !== undefined &&
      isSwitched(migration) &&
      toRepair((await here.store.read()) ?? born()).length === 0
    );
  };
  const story = async (): Promise<readonly string[]> => {
    await here.clock.sleep(5000);
    for (let tries = 0; tries < 5 && !(await isDone()); tries += 1) {
      const { phase } = (await here.store.read())?.migrations?.[address] ?? {};
      const what =
        phase === "fence" && here.chance(0.3)
          ? "undo"
          : here.one(["apply", "apply", "apply", "plan"] as const);
      await run(here, what, momentsOf(here, 0.8, 70));
      if (what === "plan" && (await isUnrepaired(here)))
        return ["a plan left a database that takes no writes"];
      here.left = 0;
      await here.clock.sleep(here.one([0, 10_000, 60_000, 20 * 60_000]));
    }
    here.losesPauses = false;
    for (let tries = 0; tries < 6 && !(await isDone()); tries += 1)
      await run(here, "apply", Number.POSITIVE_INFINITY);
    here.left = 0;
    await here.clock.sleep(20_000);
    const takesWrites = await doesTakeWrites(here);
    const state = await here.store.read();
    const winner = here.of(state?.resources[address]?.id ?? "");
    const missing = [...here.acknowledged].filter((number) => !winner.numbers.has(number));
    return [
      ...((await isDone()) ? [] : [`it ended in the phase ${state?.migrations?.[address]?.phase}`]),
      ...(missing.length === 0 ? [] : [`${missing.length} acknowledged numbers are missing`]),
      ...(takesWrites ? [] : ["the winner takes no writes"]),
      ...(await here.one([goBack, restore, async () => []])(here)),
    ];
  };
  const told = story().finally(() => {
    here.isOver = true;
  });
  here.live().catch(() => undefined);
  return here.clock.drive(told);
}

const seeds = Number(process.env["SIMULATED_SEEDS"] ?? 40);

describe("simulated migrations, killed, with lost answers, lost pauses and later runs", () => {
  it(`of ${seeds} seeds all end with one winner that has every acknowledged number and takes writes`, async () => {
    for (let seed = 1; seed <= seeds; seed += 1) expect([seed, await play(seed)]).toEqual([seed, []]);
  });

  // The seed after each rule is the first that finds it; a change of the rules may move it.
  it.each<[Broken, number, string]>([
    ["no cap while it stops", 65, "acknowledged numbers are missing"],
    ["no proof of the pause", 5, "acknowledged numbers are missing"],
    ["no repair", 9, "a plan left a database that takes no writes"],
    ["no kill of clients", 53, "acknowledged numbers are missing"],
    ["no proof of the copy", 4, "acknowledged numbers are lost by an older state"],
  ])("find the broken rule: %s", async (broken, known, expected) => {
    let wrong = "";
    for (let seed = known; seed < known + 100 && !wrong.includes(expected); seed += 1)
      wrong = (await play(seed, broken)).join();
    expect(wrong).toContain(expected);
  });
});

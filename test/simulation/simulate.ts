import type { Address } from "../../src/model/address.ts";
import type { Bound } from "../../src/model/state.ts";
import { protectsByDefault } from "./belonging.ts";
import { bounds, type Case, type RunCase } from "./case.ts";
import { type Oracle, oracle, type Violation } from "./oracle.ts";
import { act } from "./others.ts";
import { letGo, type Proc, proc } from "./proc.ts";
import { apply, clockOf, type Ended, plan } from "./program.ts";
import { isAtRest, isOnlyKilled, type Play, type Played, settleDown, summary } from "./settle-down.ts";
import { push } from "./shared-store.ts";
import { isThere, type Thing } from "./thing.ts";
import { type World, worldOf } from "./world.ts";

/** What became of a case. */
export interface Result {
  readonly violation: Violation | undefined;
  /** Runs of the program, and events: requests, answers, timers, writes of the state. */
  readonly runs: number;
  readonly events: number;
  /** Virtual ms that passed. */
  readonly time: number;
}

/** A run that takes more events than this goes round in circles. */
const longest = 20_000;

/** Plays a case: its runs with everything that befalls them, then calm ones until nothing is left to do. */
export async function simulate(given: Case, tell?: (line: string) => void): Promise<Result> {
  const world = worldOf(given, tell);
  const watch = oracle(world);
  const begun = world.schedule.now();
  preexisting(world);
  let [runs, events] = [0, 0];
  const play: Play = async (run) => {
    await putBack(world, watch);
    runs += 1;
    const played = await perform(run, runs, world, watch);
    world.tell(`run ${runs} ended: ${summary(played.ended)}`);
    events += played.events;
    return played;
  };
  for (const run of given.runs) {
    if (watch.violation === undefined) await play(run);
  }
  const last = given.runs.at(-1);
  const isUndisturbed = given.runs.every((run) => run.others === undefined);
  if (last !== undefined && watch.violation === undefined)
    await settleDown(last, { isUndisturbed, isOnlyKilled: isOnlyKilled(given) }, play, world, watch);
  return { violation: watch.violation, runs, events, time: world.schedule.now() - begun };
}

/** A person puts back what the run before could not store. */
async function putBack(world: World, watch: Oracle): Promise<void> {
  const { schedule, shared } = world;
  if (shared?.errored === undefined) return;
  let isOver = false;
  push(shared, (process) => clockOf(process, world), world, watch)
    .catch((error: unknown) => watch.violate("push", String(error)))
    .finally(() => {
      isOver = true;
    });
  await schedule.rest();
  while (!isOver) await schedule.step();
}

/** What a run is not shown. While a create is open only lost rights that show nothing at all can be told from its absence, by an old witness. */
function lostRights({ blind, resources }: RunCase, { registry, stored }: World): RunCase["blind"] {
  const open = Object.values(stored?.intents ?? {}).map(({ round }) => stored?.rounds[round]);
  const hasWitness = ({ kind, id, createdAt, converging }: Bound, of: string | undefined): boolean =>
    kind === of &&
    converging?.operation !== "delete" &&
    registry.now() - Date.parse(createdAt) > 2 * bounds.listLag &&
    registry.at(id)?.goneAt === undefined;
  const isToldApart = open.every((round) =>
    Object.values(stored?.resources ?? {}).some((bound) => hasWitness(bound, round?.kind)),
  );
  // What is made while nothing else is shown would be the only thing that is: then only a part seems to be gone.
  const isAnyFree = resources.some(
    ({ address }) => stored?.resources[address] === undefined && stored?.intents[address] === undefined,
  );
  if (blind === "all" && isAnyFree) return undefined;
  return open.length === 0 || (blind === "all" && isToldApart) ? blind : undefined;
}

/** One run, from the start of the process to its end or its death. */
async function perform(run: RunCase, nth: number, world: World, watch: Oracle): Promise<Played> {
  const { schedule } = world;
  if (run.later !== undefined) await pass(run.later, world, watch);
  // What is denied in its creation grace period is there, and is compared only in the second plan.
  const isQuiet = isAtRest(world) && !world.registry.moments.isWrong();
  world.registry.moments.blind(lostRights(run, world));
  const others = (at: number | "pause"): void => {
    for (const other of run.others ?? []) if (other.at === at) act(other, world);
  };
  const process = proc(`run ${nth}`, run, run.faults ?? [], schedule.now(), () => others("pause"));
  others(0);
  let ended: Ended | undefined;
  let open = 1;
  const end = (): void => {
    open -= 1;
  };
  if (run.plan !== "save") declares(process, world);
  const begun = run.plan === "save" ? plan(process, world, watch) : apply(process, world, watch, 0);
  begun.then(
    (outcome) => {
      ended = outcome;
      end();
    },
    (error: unknown) => watch.violate("defect", String(error)),
  );
  let events = 0;
  await schedule.rest();
  for (; open > 0 && watch.violation === undefined; events++) {
    if (events > longest) watch.violate("endless", `run ${nth} takes more than ${longest} events`);
    if (events > 0) others(events);
    if (run.rival?.at === events) {
      open += 1;
      const rival = proc(`rival of run ${nth}`, run, [], schedule.now());
      const work =
        run.rival.does === "plan" ? plan(rival, world, watch) : apply(rival, world, watch, run.rival.wait);
      work.then(end, (error: unknown) => watch.violate("defect", String(error)));
    }
    if (run.crash === events && ended === undefined) {
      process.dead = true;
      end();
      await schedule.rest();
      continue;
    }
    if (run.away?.at === events) process.awayUntil = schedule.now() + run.away.ms;
    if (run.stop === events) process.stopping.abort();
    if (run.abort === events) {
      process.stopping.abort();
      process.aborting.abort();
    }
    if (run.stop === events || run.abort === events) letGo(process);
    try {
      await schedule.step();
    } catch (error) {
      watch.violate("stuck", error instanceof Error ? error.message : "");
    }
    watch.check();
  }
  world.registry.moments.blind(undefined);
  if (ended !== undefined && run.plan !== "save") remembers(process, ended, world);
  return { ended, events, isQuiet };
}

/** Lets time pass between two runs: what is under way at the service goes on. */
async function pass(ms: number, world: World, watch: Oracle): Promise<void> {
  let isOver = false;
  world.schedule.after(ms, world.service, () => {
    isOver = true;
  });
  while (!isOver) await world.schedule.step();
  watch.check();
}

const hour = 3_600_000;

/** Objects that were there before: networks to adopt, a database to import. */
function preexisting({ registry }: World): void {
  for (const name of ["a", "b"]) {
    const top = {
      name: `old ${name}`,
      cloudProviderName: "aws",
      cloudProviderRegion: "us-east-1",
      cidr: "10.250.0.0/16",
    };
    registry.bear({
      id: `network-before-${name}`,
      kind: "networks",
      place: "",
      seen: true,
      age: hour,
      look: { status: "", top, params: {} },
    });
  }
  const top = { cloud_provider: "aws", region: "us-east-1" };
  const params = { name: "old", graphdbUser: "u", graphdbPassword: "s3cret-900-1" };
  registry.bear({
    id: "instance-before",
    kind: "instances",
    place: "startup/standalone",
    seen: true,
    age: hour,
    look: { status: "RUNNING", top, params },
  });
}

/** From now on a manifest says this of each object's protection; until it has been applied both may count. */
function declares(process: Proc, world: World): void {
  each(process, world, (address, thing) => {
    const said = process.resource(address)?.protect ?? protectsByDefault(thing);
    process.protectsBefore.set(thing, thing.protects);
    return new Set([...thing.protects, said]);
  });
}

/** A run that did everything has remembered what its manifest says, save of what was held back: that it only tightens. */
function remembers(process: Proc, ended: Ended, world: World): void {
  const isWhole =
    ended.is === "done" && ended.steps.every((step) => step.result === "done" || step.result === "blocked");
  const { does, targets, exclude } = process.run;
  if (!isWhole || does !== "apply" || targets !== undefined || exclude !== undefined) return;
  const held = new Set(
    ended.steps.filter(({ result }) => result === "blocked").map(({ address }) => address),
  );
  each(process, world, (address, thing) => {
    const declared = process.resource(address)?.protect;
    const before = process.protectsBefore.get(thing) ?? thing.protects;
    if (declared === true) return new Set([true]);
    if (held.has(address)) return before;
    return declared === false ? new Set([false]) : new Set([...before, protectsByDefault(thing)]);
  });
}

function each(
  process: Proc,
  world: World,
  next: (address: Address, thing: Thing) => ReadonlySet<boolean>,
): void {
  for (const thing of world.registry.things) {
    if (!isThere(thing)) continue;
    const bound = Object.entries(world.stored?.resources ?? {}).find(([, entry]) => entry.id === thing.id);
    let address = bound?.[0] ?? thing.madeFor ?? "";
    for (const [from, to] of process.run.moved ?? []) if (address === from) address = to;
    if (process.resource(address) !== undefined) thing.protects = next(address, thing);
  }
}

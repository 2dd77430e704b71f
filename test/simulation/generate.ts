import { defined } from "../../src/model/json.ts";
import { type Chance, chance } from "../support/chance.ts";
import {
  bounds,
  type Case,
  type Effect,
  type Fault,
  type Other,
  type RunCase,
  type ServiceCase,
  type WireCase,
} from "./case.ts";
import { door } from "./case-parts.ts";
import { aimed } from "./generate-aimed.ts";
import { guarded } from "./generate-guarded.ts";
import { edit, firstManifest, type ManifestCase } from "./generate-manifest.ts";
import { shared } from "./generate-shared.ts";
import { wrong } from "./generate-wrong.ts";

/** The case of a seed. One seed is one case, however often it is asked for. */
export function generate(seed: number): Case {
  const dice = chance(seed ^ 0x5f3759df);
  const service = serviceCase(dice);
  const runs: RunCase[] = [];
  let manifest = firstManifest(dice, service.networks);
  const count = dice.between(1, 3);
  const past: ManifestCase[] = [];
  for (let at = 0; at < count; at++) {
    if (at > 0) manifest = next(manifest, past.at(-2), dice, service);
    past.push(manifest);
    const run = runCase(manifest, at, dice, service);
    runs.push(...(dice.is(0.08) ? saved(run, dice) : [run]));
  }
  const plain = guarded(seed, { seed, service, runs });
  return shared(
    seed,
    killed(
      seed,
      narrowed(seed, cached(seed, wired(seed, wrong(seed, aimed(seed, twinned(seed, misled(seed, plain))))))),
    ),
  );
}

/** Now and then a run with the state of this service is pointed at another one. */
function misled(seed: number, given: Case): Case {
  const dice = chance(seed ^ 0x2545f491);
  const last = given.runs.at(-1);
  if (last === undefined || given.runs.length < 2 || !dice.is(0.03)) return given;
  const { does, resources } = last;
  const elsewhere = dice.is(0.5) ? "service" : "manifest";
  return { ...given, runs: [...given.runs.slice(0, -1), { does, resources, elsewhere }, last] };
}

/** Now and then somebody else makes the same at the same moment; where both stay, nobody can tell which is whose. */
function twinned(seed: number, given: Case): Case {
  const dice = chance(seed ^ 0x1b873593);
  const doBothStay = given.runs.every((run) => run.others === undefined);
  if (!doBothStay || !dice.is(0.05)) return given;
  const effect = dice.is(0.5) ? "twin" : "elder";
  const fault: Fault = { on: "create", nth: dice.between(1, 3), effect };
  const [first, ...rest] = given.runs;
  // Every other create has worked: the twin could stand in the place of one that made nothing.
  const others = (first?.faults ?? []).filter(({ on }) => on !== "create");
  return first === undefined
    ? given
    : { ...given, runs: [{ ...first, faults: [...others, fault] }, ...rest] };
}

/**
 * Some cases are only killed, at any moment of their last run: then the next one has to be enough. What a person asked
 * for in that run alone, a replacement, is not asked for again: half of it is taken for somebody else's doing.
 */
function killed(seed: number, given: Case): Case {
  const dice = chance(seed ^ 0x7f4a7c15);
  if (!dice.is(0.08)) return given;
  const runs = given.runs.flatMap(
    ({ does, resources, moved, released, allowDestroy, plan, later }): RunCase[] => {
      const told = Object.entries({ moved, released, allowDestroy, later }).filter(
        ([, value]) => value !== undefined,
      );
      return plan === "save" ? [] : [{ does, resources, ...Object.fromEntries(told) }];
    },
  );
  const crash = dice.between(1, 120);
  const last = runs.length - 1;
  return { ...given, runs: runs.map((run, at) => (at === last ? { ...run, crash } : run)) };
}

/** Some services are met through the real client, with sessions that end and limits that are reached. */
function wired(seed: number, given: Case): Case {
  const dice = chance(seed ^ 0x2545f491);
  // A create that the door turned away made nothing: a twin of another one could stand in its place.
  const hasTwin = given.runs.some(({ faults = [] }) =>
    faults.some(({ effect }) => effect === "twin" || effect === "elder"),
  );
  if (hasTwin || !dice.is(0.15)) return given;
  const wire: WireCase = {
    tokenLife: Math.round(dice.scale(1500, 300_000)),
    refreshLife: Math.round(dice.scale(1500, 3_000_000)),
    perSecond: Math.round(dice.scale(3, 200)),
    atOnce: Math.round(dice.scale(1, 50)),
    retryAfter: dice.is(0.5) ? 0 : dice.between(1, 20),
  };
  const trouble = (): Fault => ({
    on: "session",
    nth: dice.between(1, 6),
    effect: dice.of([
      "lost-before",
      "lost-after",
      "500-before",
      "500-after",
      "unavailable",
      "rate-limited-until",
    ]),
  });
  const runs = given.runs.map((run) =>
    dice.is(0.5) ? { ...run, faults: [...(run.faults ?? []), trouble()] } : run,
  );
  return { ...given, service: { ...given.service, wire }, runs };
}

/** Some runs are told to leave a part of the manifest out, and may not read something: what is named may refer to it. */
function narrowed(seed: number, given: Case): Case {
  const dice = chance(seed ^ 0x68e31da4);
  if (!dice.is(0.15)) return given;
  const runs = given.runs.map((run, at): RunCase => {
    const addresses = run.resources.map(({ address }) => address);
    if (run.plan !== undefined || run.elsewhere !== undefined || addresses.length === 0) return run;
    if (at === 0 || !dice.is(0.7)) return run;
    const named = [dice.of(addresses)];
    const unread = dice.of<Fault["on"]>(["describe", "describe", "list"]);
    const fault: Fault = { on: unread, nth: dice.between(1, 4), effect: "forbidden" };
    return { ...run, [dice.is(0.7) ? "targets" : "exclude"]: named, faults: [fault, ...(run.faults ?? [])] };
  });
  return { ...given, runs };
}

/** Some services are met through a cache. An elder is tempting then: an old `Date` moves the time of its birth behind the request. */
function cached(seed: number, given: Case): Case {
  const dice = chance(seed ^ 0x3c6ef372);
  const effects = given.runs.flatMap(({ faults = [] }) => faults.map(({ effect }) => effect));
  const hasElder = effects.includes("elder");
  if (effects.includes("twin") || !dice.is(hasElder ? 0.5 : 0.3)) return given;
  const wire = given.service.wire ?? (hasElder ? door() : undefined);
  const cacheAge = Math.round(dice.scale(30_000, 280_000));
  return wire === undefined ? given : { ...given, service: { ...given.service, wire, cacheAge } };
}

/** Mostly somebody edits the manifest; sometimes the last edit is taken back. */
function next(
  manifest: ManifestCase,
  before: ManifestCase | undefined,
  dice: Chance,
  service: ServiceCase,
): ManifestCase {
  const isBack = before !== undefined && before.moved.length === manifest.moved.length && dice.is(0.25);
  return isBack ? { ...before, tag: manifest.tag } : edit(manifest, dice, service.networks);
}

/** A plan that is kept, and its application later on; sometimes twice, or after an apply that knew nothing of it. */
function saved(run: RunCase, dice: Chance): readonly RunCase[] {
  const { does, resources, moved, released, replace, allowDestroy, maxDeletes } = run;
  const input = { does, resources, moved, released, replace, allowDestroy, maxDeletes };
  const same = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const save: RunCase = { ...same, does, resources, plan: "save" };
  const use: RunCase = { ...run, plan: "use" };
  const way = dice.next();
  if (way < 0.3) return [save, use, use];
  return way < 0.5 ? [save, run, use] : [save, use];
}

function serviceCase(dice: Chance): ServiceCase {
  const often = (probability: number, value: () => number): number =>
    dice.is(probability) ? Math.round(value()) : 0;
  return {
    networks: dice.is(0.6),
    echo: dice.is(0.5),
    listLag: often(0.6, () => dice.scale(100, bounds.listLag * 0.8)),
    describeLag: often(0.4, () => dice.scale(100, bounds.listLag * 0.8)),
    linger: often(0.4, () => dice.scale(100, bounds.listLag * 0.8)),
    flicker: dice.is(0.3),
    stale: often(0.6, () => dice.scale(100, bounds.stale * 0.9)),
    latency: Math.round(dice.scale(5, 400)),
    work: Math.round(dice.scale(100, 20_000)),
    deleteAnytime: dice.is(0.5),
    twoPhase: dice.is(0.5),
    usersOfNobody: dice.is(0.7) ? 404 : 500,
    skew: dice.is(0.7) ? 0 : dice.between(-120_000, 120_000),
  };
}

function runCase(manifest: ManifestCase, at: number, dice: Chance, service: ServiceCase): RunCase {
  const { resources, moved, released } = manifest;
  const moment = (): number => Math.round(dice.scale(1, 90));
  const faults = dice.is(0.7) ? many(dice, 3, () => fault(dice, service)) : [];
  const pause = dice.is(0.2) ? Math.round(dice.scale(100, 100_000)) : undefined;
  const others = dice.is(pause === undefined ? 0.3 : 0.7)
    ? many(dice, 2, () => other(dice, at, pause !== undefined))
    : [];
  const addresses = resources.map((resource) => resource.address);
  return {
    does: at > 0 && dice.is(0.06) ? "destroy" : "apply",
    resources,
    ...(moved.length > 0 ? { moved } : {}),
    ...(released.length > 0 ? { released } : {}),
    ...(dice.is(0.06) ? { replace: [dice.of([...addresses, "instances.a"])] } : {}),
    ...(dice.is(0.15) ? { allowDestroy: [...new Set([...addresses, "instances.a", "instances.b"])] } : {}),
    ...(dice.is(0.05) ? { maxDeletes: dice.between(0, 1) } : {}),
    ...(faults.length > 0 ? { faults } : {}),
    ...(others.length > 0 ? { others } : {}),
    ...(dice.is(0.45) ? { crash: moment() } : {}),
    ...(dice.is(0.1) ? { stop: moment() } : {}),
    ...(dice.is(0.05) ? { abort: moment() } : {}),
    ...defined({ pause }),
    ...(at > 0 ? { later: Math.round(dice.scale(1, 100_000)) } : {}),
    ...(dice.is(0.1) ? { rival: rival(dice) } : {}),
  };
}

function rival(dice: Chance): NonNullable<RunCase["rival"]> {
  const wait = dice.is(0.5) ? 0 : Math.round(dice.scale(100, 200_000));
  return { at: Math.round(dice.scale(1, 60)), does: dice.is(0.5) ? "plan" : "apply", wait };
}

const writeEffects: readonly Effect[] = [
  "lost-before",
  "lost-after",
  "lost-after",
  "500-before",
  "500-after",
  "503-before",
  "nonsense-before",
  "nonsense-after",
  "unavailable",
  "rate-limited",
  "rate-limited-until",
  "forbidden",
  "unauthorized",
  "busy",
  "slow",
];
/** Refusals of creates that have worked all the same. */
const afterEffects: readonly Effect[] = [
  "invalid-after",
  "forbidden-after",
  "unauthorized-after",
  "busy-after",
  "rate-limited-after",
  "exception-after",
];
const workEffects: readonly Effect[] = ["fails", "fails", "sticks"];
const readEffects: readonly Effect[] = [
  "unavailable",
  "lost-before",
  "nonsense-after",
  "rate-limited",
  "unauthorized",
];

function fault(dice: Chance, service: ServiceCase): Fault {
  const on = dice.of<Fault["on"]>([
    "create",
    "create",
    "create",
    "update",
    "delete",
    "verb",
    "describe",
    "list",
    "ping",
    "state",
  ]);
  const nth = Math.round(dice.scale(1, on === "describe" || on === "list" ? 20 : 4));
  if (on === "state") return { on, nth: Math.round(dice.scale(1, 12)), effect: "unwritable" };
  if (on === "ping") return { on, nth, effect: "unavailable" };
  if (on === "describe" || on === "list") return { on, nth, effect: dice.of(readEffects) };
  // After a 503 lists are believed that have been prompt so far.
  const after503: readonly Effect[] = service.flicker ? [] : ["503-after"];
  // Nobody can tell an old change of an object from a new one when they arrive the wrong way round.
  const late: readonly Effect[] = on === "create" ? ["late", ...afterEffects] : [];
  return {
    on,
    nth,
    effect: dice.is(0.25) ? dice.of(workEffects) : dice.of([...writeEffects, ...after503, ...late]),
  };
}

function other(dice: Chance, run: number, pauses: boolean): Other {
  const early = dice.is(0.3) && run > 0;
  const at = pauses && dice.is(0.6) ? "pause" : early ? 0 : Math.round(dice.scale(1, 80));
  const changes: readonly Other["does"][] = ["rename", "rename", "rename", "regrant", "regrant"];
  const does = dice.of<Other["does"]>([
    ...(at === "pause" ? changes : []),
    "stop",
    "start",
    "delete",
    "rename",
    "rename",
    "regrant",
    "create",
    "backup",
    "person",
  ]);
  return { at, does, pick: dice.between(0, 5) };
}

function many<T>(dice: Chance, most: number, make: () => T): readonly T[] {
  return Array.from({ length: dice.between(1, most) }, make);
}

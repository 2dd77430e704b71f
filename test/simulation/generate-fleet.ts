import type { JsonObject } from "../../src/model/json.ts";
import type { Chance } from "../support/chance.ts";
import { bounds, type Case, type Effect, type Fault, type ResourceCase, type RunCase } from "./case.ts";
import { database } from "./case-parts.ts";

/**
 * Two to sixty-four databases of one class, created together: answers are lost in the middle of them, the process is killed
 * while they are in flight, strangers create theirs at the same time, and then some are changed, added or left out.
 */
export function fleet(given: Case, dice: Chance): Case {
  const size = dice.is(0.25) ? dice.between(32, 64) : Math.round(dice.scale(2, 64));
  const { listLag } = given.service;
  const service = {
    ...given.service,
    listLag: dice.is(0.4) ? Math.round(bounds.listLag * (0.5 + 0.4 * dice.next())) : listLag,
    // Where nothing is echoed only the region tells one of ours from another.
    echo: dice.is(0.4),
  };
  const vary = dice.of(variations);
  const members = Array.from({ length: size + 2 }, (_, at) => member(at + 1, vary(dice, at), dice));
  const first = members.slice(0, size);
  const runs = [together(first, 0, dice)];
  if (dice.is(0.3)) runs.push(together(first, 1, dice));
  if (dice.is(0.3)) runs.push(together(edited(members, dice), runs.length, dice));
  return { ...given, service, runs };
}

/** How the settings of the databases of one fleet differ, besides their passwords. */
const variations: readonly ((dice: Chance, at: number) => JsonObject)[] = [
  () => ({}),
  () => ({}),
  (_, at) => ({ name: `db ${at}` }),
  (_, at) => ({ name: `db ${at}` }),
  (dice, at) => (dice.is(0.5) ? { name: `db ${at}` } : {}),
  (dice) => ({ graphdbUser: `app_${dice.between(1, 3)}` }),
  (_, at) => ({ graphdbUser: `app_${at}` }),
  (dice, at) => ({
    ...(dice.is(0.7) ? { name: `db ${at % 3}` } : {}),
    ...(dice.is(0.3) ? { description: `text ${at}` } : {}),
    graphdbUser: dice.is(0.8) ? "app" : "other",
  }),
];

function member(tag: number, config: JsonObject, dice: Chance): ResourceCase {
  const made = database(tag, config, { address: `instances.m${tag}`, protect: false });
  return { ...made, spec: { ...made.spec, region: dice.is(0.85) ? "us-east-1" : "eu-west-1" } };
}

/** The fleet as somebody left it: some are gone, some have another password, two are new. */
function edited(members: readonly ResourceCase[], dice: Chance): readonly ResourceCase[] {
  const left = members.filter(() => dice.is(0.9));
  return left.map((resource) => (dice.is(0.2) ? renamed(resource) : resource));
}

function renamed(resource: ResourceCase): ResourceCase {
  const config = resource.spec["config"];
  const settings = typeof config === "object" && config !== null ? config : {};
  return {
    ...resource,
    spec: { ...resource.spec, config: { ...settings, name: `db again ${resource.tag}` } },
  };
}

/** One run over all of them; its troubles come while the creates are in flight. */
function together(resources: readonly ResourceCase[], at: number, dice: Chance): RunCase {
  const size = resources.length;
  // Ten events or so until the creates leave, then a request and an answer for each; about five with all the rest.
  const moment = (): number =>
    dice.is(0.7) ? 8 + dice.between(0, 2 * size) : dice.between(3, 5 * size + 20);
  const isTwinned = dice.is(0.1);
  const effects = isTwinned ? madeEffects : troubles;
  const lost = dice.of([0, 0.1, 0.3, 0.8]);
  const faults = resources.flatMap((_, nth): Fault[] =>
    dice.is(lost) ? [{ on: "create", nth: nth + 1, effect: dice.of(effects) }] : [],
  );
  const strangers = Array.from({ length: dice.is(0.3) ? dice.between(1, 4) : 0 }, () => ({
    at: moment(),
    does: "create" as const,
    pick: 0,
  }));
  const end = {
    ...(dice.is(0.4) ? { crash: moment() } : {}),
    ...(dice.is(0.05) ? { stop: moment() } : {}),
    ...(dice.is(0.05) ? { abort: moment() } : {}),
  };
  return {
    does: "apply",
    resources,
    ...(faults.length > 0 ? { faults } : {}),
    ...(strangers.length > 0 ? { others: strangers } : {}),
    ...(isTwinned ? {} : end),
    ...(at > 0 ? { later: Math.round(dice.scale(1, 60_000)) } : {}),
  };
}

/** With a twin every create has worked: in the place of one that made nothing nobody could tell the twin from it. */
const madeEffects: readonly Effect[] = [
  "lost-after",
  "lost-after",
  "lost-after",
  "500-after",
  "nonsense-after",
  "twin",
];
const troubles: readonly Effect[] = [
  "lost-before",
  "lost-before",
  "lost-after",
  "lost-after",
  "lost-after",
  "500-before",
  "500-after",
  "503-before",
  "nonsense-after",
  "late",
  "late",
  "slow",
  "busy",
  "rate-limited",
  "unavailable",
  "invalid-after",
  "forbidden-after",
];

import { type Chance, chance } from "../support/chance.ts";
import { bounds, type Case, type Fault, type ResourceCase, type RunCase, type Wrong } from "./case.ts";
import { database, enterprise } from "./case-parts.ts";

/** Some services are wrong for a moment, on any call; some of these cases aim at the moments that matter most. */
export function wrong(seed: number, given: Case): Case {
  const dice = chance(seed ^ 0x6a09e667);
  if (!dice.is(0.3)) return given;
  // A list that lacks one of two that look the same proves nothing, and nobody can tell.
  const isUnclear = given.runs.some(({ faults = [] }) => faults.some(({ effect }) => effect === "twin"));
  if (isUnclear) return given;
  if (dice.is(0.5)) return aimed(given, dice, chance(seed ^ 0x3c6ef372));
  const runs = given.runs.map((run): RunCase => {
    const moments = Array.from({ length: dice.between(0, 2) }, () => anywhere(dice));
    return moments.length === 0 ? run : { ...run, faults: [...(run.faults ?? []), ...moments] };
  });
  return { ...given, runs };
}

function anywhere(dice: Chance): Fault {
  const on = dice.of<Fault["on"]>([
    "describe",
    "describe",
    "list",
    "list",
    "create",
    "update",
    "delete",
    "verb",
  ]);
  const isRead = on === "describe" || on === "list";
  return { on, nth: Math.round(dice.scale(1, isRead ? 30 : 3)), effect: how(dice) };
}

function how(dice: Chance): Wrong {
  return dice.of<Wrong>(["wrong-all", "wrong-some", "wrong-some", "wrong-lists"]);
}

const kept: ResourceCase = database(9, {}, { address: "instances.kept", protect: false });

function aimed(given: Case, dice: Chance, tier: Chance): Case {
  const made = database(1, {}, { protect: false, ...(dice.is(0.5) ? { onDelete: "backup" } : {}) });
  // What is young may be hidden: nothing is concluded from that.
  const later = bounds.listLag + Math.round(dice.scale(5000, 200_000));
  const all = [kept, made];
  const on = dice.of<Fault["on"]>(["describe", "list"]);
  const moment: Fault = { on, nth: dice.between(1, 8), effect: how(dice) };
  const first: RunCase = { does: "apply", resources: all };
  const ways: readonly (() => readonly RunCase[])[] = [
    // The answer of a create is lost, and lists are wrong just then.
    () => [
      { does: "apply", resources: [kept] },
      {
        ...first,
        later: 2 * later,
        faults: [
          { on: "create", nth: 1, effect: dice.is(0.8) ? "lost-after" : "lost-before" },
          { on: "list", nth: dice.between(3, 5), effect: dice.is(0.6) ? "wrong-lists" : how(dice) },
        ],
      },
    ],
    // What runs is denied while a plan is made, or just before what it plans is done.
    () => [first, { ...first, later, faults: [moment] }],
    () => [first, { ...first, later, plan: "save", blind: "some" }, { ...first, plan: "use" }],
    () => {
      if (tier.is(0.5)) return [first, { ...first, later, blind: "all" }];
      const apart: RunCase = { ...first, resources: [{ ...kept, spec: enterprise(9) }, made] };
      return [apart, { ...apart, later, blind: "startup" }];
    },
    () => [
      first,
      { does: "apply", resources: [kept], later, plan: "save", blind: "some" },
      { does: "apply", resources: [kept], plan: "use" },
    ],
    // The rights are lost while a create is open.
    () => [
      { does: "apply", resources: [kept] },
      { ...first, later: 2 * later, faults: [{ on: "create", nth: 1, effect: "invalid-after" }] },
      { ...first, later, blind: "all" },
    ],
    // What is to go is denied to its deletion, or to the backup before it.
    () => [
      first,
      {
        does: "apply",
        resources: [kept],
        later,
        faults: [
          dice.is(0.5) ? { on: "delete", nth: 1, effect: dice.of(["wrong-all", "wrong-some"]) } : moment,
        ],
      },
    ],
    // What was just made is denied.
    () => [{ ...first, faults: [moment] }],
  ];
  const way = dice.is(0.2) ? ways[0] : dice.of(ways);
  return { ...given, runs: way?.() ?? given.runs };
}

import { describe, expect, it } from "vitest";
import { defined } from "../../src/model/json.ts";
import { actions, type Case, changeOf, planOf, stepsOf } from "../support/plan-input.ts";
import { toyProfile } from "../support/toy-kind.ts";

const { updateNeeds: _ready, ...careless } = toyProfile;

interface Row {
  readonly reason: string;
  readonly toy: Case;
  readonly steps: readonly string[];
  readonly disruption?: string;
}

const rows: readonly Row[] = [
  {
    reason: "stopped, and wanted running",
    toy: { wants: { power: "running" }, has: {}, phase: "stopped" },
    steps: ["a start"],
    disruption: "none",
  },
  {
    reason: "running, and wanted stopped",
    toy: { wants: { power: "stopped" }, has: {} },
    steps: ["a stop"],
    disruption: "downtime",
  },
  {
    reason: "failed: restarted",
    toy: { wants: { power: "running" }, has: {}, phase: "failed" },
    steps: ["a restart"],
    disruption: "restart",
  },
  {
    reason: "failed, and something to change: the change tries it again",
    toy: { wants: { power: "running", colour: "red" }, has: { colour: "blue" }, phase: "failed" },
    steps: ["a update"],
    disruption: "restart",
  },
  {
    reason: "failed, wanted stopped, and something to change: the change mends it, then it is stopped",
    toy: { wants: { power: "stopped", colour: "red" }, has: { colour: "blue" }, phase: "failed" },
    steps: ["a update", "a stop < a"],
  },
  {
    reason: "failed, and wanted stopped: restarted first, since that is the way",
    toy: { wants: { power: "stopped" }, has: {}, phase: "failed" },
    steps: ["a restart", "a stop < a#restart"],
  },
  {
    reason: "stopped as wanted",
    toy: { wants: { power: "stopped" }, has: {}, phase: "stopped" },
    steps: [],
  },
  {
    reason: "stopped as wanted, and something to change: up for the change, and down again",
    toy: { wants: { power: "stopped", colour: "red" }, has: { colour: "blue" }, phase: "stopped" },
    steps: ["a start", "a update < a#start", "a stop < a"],
  },
  {
    reason: "stopped, wanted running, and something to change",
    toy: { wants: { power: "running", colour: "red" }, has: { colour: "blue" }, phase: "stopped" },
    steps: ["a start", "a update < a#start"],
  },
  {
    reason: "running, wanted stopped, and something to change",
    toy: { wants: { power: "stopped", colour: "red" }, has: { colour: "blue" } },
    steps: ["a update", "a stop < a"],
  },
  {
    reason: "to be created stopped",
    toy: { wants: { power: "stopped" } },
    steps: ["a create", "a stop < a"],
  },
  {
    reason: "to be created running, which it is by itself",
    toy: { wants: { power: "running" } },
    steps: ["a create"],
  },
  {
    reason: "the manifest does not say: not managed",
    toy: { wants: {}, has: {}, phase: "stopped" },
    steps: [],
  },
];

describe("power", () => {
  it.each(rows)("$reason", ({ toy, steps, disruption }) => {
    const plan = planOf({ a: toy });
    expect(stepsOf(plan)).toEqual(steps);
    if (disruption !== undefined) expect(changeOf(plan, "a").disruption).toBe(disruption);
  });

  it("changes what is stopped in one go where the service allows it", () => {
    const toy: Case = {
      wants: { power: "stopped", colour: "red" },
      has: { colour: "blue" },
      phase: "stopped",
    };
    expect(stepsOf(planOf({ a: toy }, { profile: careless }))).toEqual(["a update"]);
  });
});

describe("what has failed", () => {
  const toy: Case = { wants: { power: "running" }, has: {}, phase: "failed" };

  it("has its ways on: what the service recorded, a snapshot, a new one, the vendor; never an adoption", () => {
    const [known] = Object.values(toyProfile.operations);
    const operations = {
      ...toyProfile.operations,
      ...defined({ "toy.events": known, "snapshot.list": known }),
    };
    const { id, waysOn } = changeOf(planOf({ a: toy }, { profile: { ...toyProfile, operations } }), "a");
    expect(changeOf(planOf({ a: toy }), "a").waysOn).not.toMatch(/events|snapshot/);
    expect(waysOn?.split("; ")).toEqual([
      "graphform toy events toys.a shows what the service has recorded",
      "graphform snapshot list shows what can be restored",
      "graphform apply --replace toys.a makes a new, empty one",
      `the vendor's support can look into ${id}`,
    ]);
  });

  it("and is deleted or replaced has none", () => {
    const gone = planOf({ a: { has: {}, phase: "failed", recorded: {} } });
    const replaced = planOf({ a: { ...toy, wants: { size: 2 }, has: { size: 1 } } });
    const found = [gone, replaced].map((plan) => changeOf(plan, "a"));
    expect(found.map(({ action, waysOn }) => [action, waysOn])).toEqual([
      ["delete", undefined],
      ["replace", undefined],
    ]);
  });
});

describe("a replacement", () => {
  it("does not ask whether what it replaces runs", () => {
    const toy: Case = { wants: { power: "stopped", size: 2 }, has: { size: 1 } };
    const [removal] = planOf({ a: toy }).steps;
    expect(removal).toMatchObject({ operation: "delete", checks: ["size"] });
  });
});

const since = "2026-01-01T00:00:00.000Z";

describe("what is under way", () => {
  const pending: Case = { has: { colour: "red" }, phase: "pending" };

  it.each<[string, Case, readonly string[]]>([
    [
      "our own create",
      { ...pending, wants: { colour: "red" }, converging: { operation: "create", since, record: {} } },
      ["a wait"],
    ],
    [
      "our own update, before it shows",
      {
        ...pending,
        wants: { colour: "blue" },
        converging: { operation: "update", since, record: { colour: "blue" } },
      },
      ["a wait"],
    ],
    [
      "our own update, and another wish since",
      {
        ...pending,
        wants: { colour: "green" },
        converging: { operation: "update", since, record: { colour: "blue" } },
      },
      ["a wait", "a update < a#wait"],
    ],
    ["somebody else's doing", { ...pending, wants: { colour: "red" } }, ["a wait"]],
    [
      "somebody else's doing, on what is to be stopped",
      { ...pending, wants: { power: "stopped" }, recorded: { power: "running" } },
      ["a wait", "a stop < a#wait"],
    ],
    [
      "somebody else's doing, and a change: checked once it is over",
      { ...pending, wants: { colour: "blue" } },
      ["a update"],
    ],
    [
      "our own stop",
      {
        ...pending,
        wants: { power: "stopped" },
        converging: { operation: "stop", since, record: { power: "stopped" } },
      },
      ["a wait"],
    ],
    [
      "our own stop, and something to change: up for the change, and down again",
      {
        ...pending,
        wants: { power: "stopped", colour: "blue" },
        converging: { operation: "stop", since, record: { power: "stopped" } },
      },
      ["a wait", "a start < a#wait", "a update < a#start", "a stop < a"],
    ],
    [
      "our own stop, wanted running again, and something to change",
      {
        ...pending,
        wants: { power: "running", colour: "blue" },
        converging: { operation: "stop", since, record: { power: "stopped" } },
      },
      ["a wait", "a start < a#wait", "a update < a#start"],
    ],
    [
      "our own stop, and wanted running again",
      {
        ...pending,
        wants: { power: "running" },
        converging: { operation: "stop", since, record: { power: "stopped" } },
      },
      ["a wait", "a start < a#wait"],
    ],
    [
      "our own create of what is to be stopped",
      { ...pending, wants: { power: "stopped" }, converging: { operation: "create", since, record: {} } },
      ["a wait", "a stop < a#wait"],
    ],
    [
      "our own start for a change to what is to be stopped",
      { ...pending, wants: { power: "stopped" }, converging: { operation: "start", since, record: {} } },
      ["a wait", "a stop < a#wait"],
    ],
    [
      "our own change of what is to be stopped",
      { ...pending, wants: { power: "stopped" }, converging: { operation: "update", since, record: {} } },
      ["a wait", "a stop < a#wait"],
    ],
    [
      "our own update that failed meanwhile",
      {
        ...pending,
        phase: "failed",
        wants: { colour: "blue", power: "running" },
        converging: { operation: "update", since, record: { colour: "blue" } },
      },
      ["a update"],
    ],
    [
      "our own update that is done but not recorded",
      {
        wants: { colour: "blue" },
        has: { colour: "blue" },
        converging: { operation: "update", since, record: { colour: "blue" } },
      },
      ["a wait"],
    ],
    ["a person", { wants: {}, has: {}, phase: "waiting-for-person" }, ["a wait"]],
  ])("is waited for, and taken for done: %s", (_, toy, steps) => {
    expect(stepsOf(planOf({ a: toy }))).toEqual(steps);
  });

  it("is not waited for by a deletion", () => {
    const plan = planOf({ a: pending, b: { wants: {}, has: {} } });
    expect(actions(plan)).toMatchObject({ a: "delete" });
    expect(stepsOf(plan)).toEqual(["a delete"]);
  });

  it("is no drift", () => {
    const converging = { operation: "update", since, record: { colour: "blue" } };
    const toy: Case = {
      wants: { colour: "blue" },
      has: { colour: "blue" },
      recorded: { colour: "red" },
      phase: "pending",
      converging,
    };
    expect(changeOf(planOf({ a: toy }), "a").drift).toEqual([]);
  });
});

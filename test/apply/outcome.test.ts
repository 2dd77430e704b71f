import { describe, expect, it } from "vitest";
import { outcomeOf } from "../../src/apply/join-results.ts";
import type { Outcome, StepOutcome } from "../../src/model/outcome.ts";
import type { Operation } from "../../src/model/plan.ts";
import { differencesLeft } from "../../src/reconcile/verify.ts";
import { addressOf, planOf } from "../support/plan-input.ts";
import { toyWorld } from "../support/toy-world.ts";

function step(name: string, operation: Operation, result: StepOutcome["result"] = "done"): StepOutcome {
  return {
    key: `${addressOf(name)}#${operation}`,
    address: addressOf(name),
    kind: "toys",
    operation,
    result,
    elapsed: 1,
  };
}

const outcome = (
  steps: readonly StepOutcome[],
  certificate: Outcome["certificate"] = [],
): ReturnType<typeof outcomeOf> => outcomeOf(steps, certificate, {}, []);

describe("what apply did", () => {
  it.each<[string, readonly StepOutcome[], readonly number[]]>([
    ["nothing", [], [0, 0, 0]],
    ["a create", [step("a", "create")], [1, 0, 0]],
    ["a create and its verb count once", [step("a", "create"), step("a", "operate")], [1, 0, 0]],
    [
      "a change in three steps counts once",
      [step("a", "operate"), step("a", "update"), step("a", "operate")],
      [0, 1, 0],
    ],
    [
      "one that is started for its backup is destroyed alone",
      [step("a", "operate"), step("a", "backup"), step("a", "delete")],
      [0, 0, 1],
    ],
    ["a replacement is both", [step("a", "delete"), step("a", "create")], [1, 0, 1]],
    [
      "what did not succeed does not count",
      [step("a", "create", "failed"), step("b", "delete", "converging")],
      [0, 0, 0],
    ],
    [
      "what only the state learned does not count",
      [step("a", "bind"), step("b", "move"), step("c", "forget"), step("d", "wait")],
      [0, 0, 0],
    ],
  ])("is counted: %s", (_, steps, counts) => {
    const { added, changed, destroyed } = outcome(steps);
    expect([added, changed, destroyed]).toEqual(counts);
  });

  it.each<[readonly StepOutcome["result"][], number]>([
    [["done"], 0],
    [["done", "failed", "skipped"], 1],
    [["done", "blocked"], 4],
    [["stale", "blocked"], 6],
    [["converging", "skipped"], 7],
    [["waiting-for-person"], 8],
    [["converging", "waiting-for-person", "blocked"], 4],
    [["interrupted", "converging"], 130],
    [["interrupted", "failed"], 1],
  ])("ends %j with %i", (results, exitCode) => {
    expect(outcome(results.map((result, at) => step(`t${at}`, "update", result))).exitCode).toBe(exitCode);
  });

  it("ends with 1 where something is left to do that nothing excuses", () => {
    expect(
      outcome([step("a", "update")], [{ address: "toys.a", kind: "toys", reason: "..." }]).exitCode,
    ).toBe(1);
  });
});

describe("the certificate", () => {
  const changed = planOf({ a: { wants: { colour: "red" }, has: { colour: "blue" } } });

  it("names what is left to do, with both values", () => {
    expect(differencesLeft(changed, [step("a", "update")])).toMatchObject([
      { address: "toys.a", kind: "toys", field: { path: "colour", before: "blue", after: "red" } },
    ]);
  });

  it("names it also where no step was about it", () => {
    expect(differencesLeft(planOf({ a: { wants: {} } }), [])).toEqual([
      { address: "toys.a", kind: "toys", reason: "create is planned again: does not exist yet" },
    ]);
  });

  it.each<StepOutcome["result"]>([
    "failed",
    "converging",
    "stale",
    "waiting-for-person",
    "interrupted",
    "skipped",
  ])("excuses what ended as %s", (result) => {
    expect(differencesLeft(changed, [step("a", "update", result)])).toEqual([]);
  });

  it("excuses what is blocked, and what is as declared", () => {
    const scene = {
      a: { wants: { size: 2 }, has: { size: 1 }, lifecycle: { protect: true } },
      b: { wants: {}, has: {} },
    };
    expect(differencesLeft(planOf(scene), [])).toEqual([]);
    expect(differencesLeft(planOf(scene), [step("a", "wait")])).toEqual([]);
  });

  it.each(["create", "update"] as const)(
    "does not excuse by the guard of its replacement what this run did a step %s for",
    async (operation) => {
      const scene = { a: { wants: { size: 2 }, has: { size: 1 }, lifecycle: { protect: true } } };
      expect(differencesLeft(planOf(scene), [step("a", operation)])).toMatchObject([
        { address: "toys.a", field: { path: "size", before: 1, after: 2 } },
      ]);
    },
  );

  it("excuses the deletion of an old database whose time was over only after the first plan", () => {
    const second = planOf({ a: { wants: {}, has: {} }, "a~former": { has: {}, phase: "stopped" } });
    expect(differencesLeft(second, [step("a", "migrate")])).toEqual([]);
    expect(differencesLeft(second, [])).toEqual([]);
    expect(differencesLeft(second, [step("a~former", "delete")])).toMatchObject([
      { address: "toys.a~former" },
    ]);
  });

  it("of a new object that the service shows with another fixed value names that, though it is protected", async () => {
    const world = toyWorld();
    const get: typeof world.service.get = async (...given) => {
      const live = await world.service.get(...given);
      return live && { ...live, spec: { ...live.spec, size: { value: 3, source: "described" } } };
    };
    const { certificate } = await world.run({ a: { size: 2 } }, { driver: { ...world.service, get } });
    expect(certificate).toMatchObject([{ address: "toys.a", field: { path: "size", before: 3, after: 2 } }]);
  });
});

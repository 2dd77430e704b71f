import { describe, expect, it } from "vitest";
import { actions, type Case, changeOf, planOf, removalOf, stepsOf } from "../support/plan-input.ts";
import { toyProfile } from "../support/toy-kind.ts";

const other: Case = { wants: {}, has: {} };
const deleting = { operation: "delete", since: "2026-01-01T00:00:00.000Z", record: {} };

describe("removed", () => {
  it("lets go of what is not to be destroyed, for the reason that is given", () => {
    const scene = { other, legacy: { has: { colour: "red" } } };
    const plan = planOf(scene, { removed: [removalOf("legacy", false, { reason: "handed to team blue" })] });
    expect(changeOf(plan, "legacy")).toMatchObject({ action: "forget", reason: "handed to team blue" });
    expect(plan.steps).toMatchObject([{ operation: "forget", address: "toys.legacy" }]);
  });

  it("lets go of a protected one too: nothing is destroyed", () => {
    const scene = { other, legacy: { has: {}, remembered: { protect: true } } };
    expect(actions(planOf(scene, { removed: [removalOf("legacy", false)] }))).toMatchObject({
      legacy: "forget",
    });
  });

  it("says more of one member than of its whole block, in any order", () => {
    const scene = { other, 'pets["x"]': { has: {} }, 'pets["y"]': { has: {} } };
    const removed = [removalOf("pets", true), removalOf('pets["y"]', false)];
    for (const entries of [removed, removed.toReversed()])
      expect(actions(planOf(scene, { removed: entries }))).toMatchObject({
        'pets["x"]': "delete",
        'pets["y"]': "forget",
      });
  });

  it("deletes where it says so, and does not lift the protection by that", () => {
    const removed = [removalOf("legacy", true)];
    expect(actions(planOf({ other, legacy: { has: {} } }, { removed }))).toMatchObject({ legacy: "delete" });
    const guarded = { other, legacy: { has: {}, remembered: { protect: true } } };
    expect(actions(planOf(guarded, { removed }))).toMatchObject({ legacy: "delete !protect" });
  });

  it("lets go where the service has no operation to delete", () => {
    const scene = { other, legacy: { has: {} } };
    expect(actions(planOf(scene))).toMatchObject({ legacy: "delete" });
    expect(actions(planOf(scene, { profile: { ...toyProfile, operations: {} } }))).toMatchObject({
      legacy: "forget",
    });
  });
});

describe("imports", () => {
  const existing: Case = {
    wants: { colour: "red" },
    has: { colour: "red" },
    recorded: false,
    importId: "toy-7",
  };

  it("binds what is there as it is declared", () => {
    const plan = planOf({ a: existing });
    expect(changeOf(plan, "a")).toMatchObject({ action: "adopt", id: "toy-7", fields: [] });
    expect(plan.steps).toMatchObject([{ operation: "bind", id: "toy-7", spec: { colour: "red" } }]);
  });

  it("binds it, then changes what differs", () => {
    const plan = planOf({ a: { ...existing, wants: { colour: "blue" } } });
    expect(actions(plan)).toEqual({ a: "adopt" });
    expect(stepsOf(plan)).toEqual(["a bind", "a update < a#bind"]);
  });

  it("takes as declared what nobody shows", () => {
    const plan = planOf({
      a: { ...existing, wants: { colour: "red", token: { $secret: "hmac-sha256:1" }, memory: "1GB" } },
    });
    expect(changeOf(plan, "a")).toMatchObject({ action: "adopt", fields: [] });
  });

  it("never replaces what was not ours, unless it is asked for by name", () => {
    const mismatch = { a: { ...existing, wants: { size: 2 }, has: { size: 1 } } };
    expect(actions(planOf(mismatch))).toEqual({ a: "replace !on-replace" });
    expect(stepsOf(planOf(mismatch, { options: { replace: ["toys.a"] } }))).toEqual([
      "a bind",
      "a delete < a#bind",
      "a create < a#delete",
    ]);
  });
});

describe("a deletion that is under way", () => {
  const going: Case = { has: { colour: "red" }, phase: "pending", converging: deleting };

  it("is waited for where the block is still gone, and not guarded again", () => {
    const plan = planOf(
      { other, a: { ...going, remembered: { protect: true } } },
      { guards: { maxDeletes: 0 } },
    );
    expect(actions(plan)).toMatchObject({ a: "delete" });
  });

  it("is followed by a new object where it is wanted again, and not guarded again", () => {
    const scene = {
      a: { ...going, wants: { colour: "red" }, lifecycle: { protect: true, onReplace: "refuse" as const } },
    };
    const guards = { maxDeletes: 0, maxDisruption: "none" as const };
    const plan = planOf(scene, { guards });
    expect(actions(plan)).toEqual({ a: "replace" });
    expect(changeOf(plan, "a").reason).toBe("its deletion is under way");
    expect(stepsOf(plan)).toEqual(["a delete", "a create < a#delete"]);
  });

  it("failed, where the object is at rest again: it is kept, and the state told so", () => {
    const plan = planOf({ a: { ...going, phase: "ready", wants: { colour: "red" } } });
    expect(actions(plan)).toEqual({ a: "keep" });
    expect(stepsOf(plan)).toEqual(["a bind"]);
  });

  it("failed: deleting it after all is guarded like any deletion", () => {
    const plan = planOf({ other, a: { ...going, phase: "ready", remembered: { protect: true } } });
    expect(actions(plan)).toMatchObject({ a: "delete !protect" });
  });
});

describe("what the state remembers beside the fields", () => {
  const same = { wants: { colour: "red" }, has: { colour: "red" } };

  it.each([
    ["a new guard", { ...same, lifecycle: { protect: true }, remembered: { protect: false } }],
    [
      "another rule for deletions",
      { ...same, lifecycle: { onDelete: "retain" as const }, remembered: { onDelete: "delete" as const } },
    ],
    ["another reference", { ...same, refs: ["other"], boundRefs: [] }],
  ])("follows the manifest without a change: %s", (_, toy) => {
    const plan = planOf({ other, a: toy });
    expect(actions(plan)).toMatchObject({ a: "keep" });
    expect(stepsOf(plan)).toEqual(["a bind"]);
  });

  it("follows it also together with a change, and a declared protection even if that is blocked", () => {
    const toy = {
      wants: { colour: "blue" },
      has: { colour: "red" },
      lifecycle: { protect: true },
      remembered: { protect: false },
    };
    expect(stepsOf(planOf({ a: toy }))).toEqual(["a bind", "a update < a#bind"]);
    const replaced = { ...toy, wants: { size: 2 }, has: { size: 1 } };
    const plan = planOf({ a: replaced });
    expect(plan.steps.map(({ operation, blocked }) => [operation, blocked.map(({ code }) => code)])).toEqual([
      ["bind", []],
      ["delete", ["protect"]],
      ["create", ["protect"]],
    ]);
  });
});

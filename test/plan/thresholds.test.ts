import { describe, expect, it } from "vitest";
import type { Lifecycle } from "../../src/model/desired.ts";
import { actions, type Case, planOf, removalOf, type Scene } from "../support/plan-input.ts";

const same: Case = { wants: { colour: "red" }, has: { colour: "red" } };
const changed: Case = { wants: { colour: "red" }, has: { colour: "blue" } };
const resized: Case = { wants: { size: 2 }, has: { size: 1 } };
const undeclared: Case = { has: { colour: "red" } };

function several(count: number, toy: Case, prefix: string): Scene {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, toy]));
}

function blocked(scene: Scene, rest: Parameters<typeof planOf>[1]): readonly string[] {
  return Object.entries(actions(planOf(scene, rest))).flatMap(([name, text]) =>
    text.includes("!") ? [`${name}: ${text}`] : [],
  );
}

describe("maxDeletes", () => {
  const scene = { ...several(2, undeclared, "gone"), resized, same };

  it("counts a replacement as a deletion, and holds back all of them", () => {
    expect(blocked(scene, { guards: { maxDeletes: 2 } })).toEqual([
      "gone0: delete !max-deletes",
      "gone1: delete !max-deletes",
      "resized: replace !max-deletes",
    ]);
  });

  it("lets through as many as it allows", () => {
    expect(blocked(scene, { guards: { maxDeletes: 3 } })).toEqual([]);
  });

  it("does not count what is blocked already", () => {
    const guarded = { ...scene, gone0: { ...undeclared, remembered: { protect: true } } };
    expect(blocked(guarded, { guards: { maxDeletes: 2 } })).toEqual(["gone0: delete !protect"]);
  });

  it("does not count what is let go of, and what graphform has deleted", () => {
    const converging = { operation: "delete", since: "2026-01-01T00:00:00Z", record: {} };
    const quiet = {
      same,
      kept: { ...undeclared, remembered: { onDelete: "retain" as const } },
      deleted: { recorded: {}, converging },
    };
    expect(blocked(quiet, { guards: { maxDeletes: 0 } })).toEqual([]);
  });

  it("counts what has vanished, declared or not", () => {
    const vanished = { same, again: { wants: {}, recorded: {} }, undeclared: { recorded: {} } };
    expect(blocked(vanished, { guards: { maxDeletes: 2 } })).toEqual([]);
    expect(blocked(vanished, { guards: { maxDeletes: 1 } })).toEqual([
      "again: create !max-deletes",
      "undeclared: forget !max-deletes",
    ]);
  });

  it("is not for destroy, which means all of them", () => {
    expect(blocked(several(3, undeclared, "a"), { guards: { maxDeletes: 0 }, destroying: true })).toEqual([]);
  });
});

describe("maxChangePercent", () => {
  const guards = { maxChangePercent: 30 };

  it("holds back everything that changes, once more than that changes", () => {
    const scene = { ...several(6, same, "same"), ...several(3, changed, "changed"), resized };
    expect(blocked(scene, { guards })).toHaveLength(4);
    expect(blocked(scene, { guards })).toContain("changed0: update !max-change-percent");
  });

  it("counts what has vanished", () => {
    const vanished = several(4, { wants: {}, recorded: {} }, "vanished");
    expect(blocked({ ...several(6, same, "same"), ...vanished }, { guards })).toHaveLength(4);
    expect(blocked({ ...several(10, same, "same"), ...vanished }, { guards })).toEqual([]);
  });

  it.each([
    ["exactly that much", { ...several(7, same, "same"), ...several(3, changed, "changed") }],
    [
      "fewer than ten exist, where a percentage means little",
      { ...several(1, same, "same"), ...several(8, changed, "changed") },
    ],
    ["what is new changes nothing", { ...several(10, same, "same"), ...several(20, { wants: {} }, "fresh") }],
  ])("lets it through: %s", (_, scene) => {
    expect(blocked(scene, { guards })).toEqual([]);
  });

  it("is not for destroy, which means all of them", () => {
    expect(blocked(several(10, undeclared, "a"), { guards, destroying: true })).toEqual([]);
  });
});

describe("files that were not given", () => {
  const rest = { notGiven: ["prod.yaml"] };
  const retained = { ...undeclared, remembered: { onDelete: "retain" as const } };
  const kept = { ...undeclared, remembered: { protect: true } };
  const both = { changed, fresh: { wants: {} }, gone: { recorded: {} } };
  const scene = { ...both, a: undeclared, b: retained, kept };

  it("hold back the end of what the given ones do not declare, and nothing else", () => {
    expect(blocked(scene, rest)).toEqual([
      "a: delete !fewer-files",
      "b: forget !fewer-files",
      "kept: delete !protect !fewer-files",
    ]);
    expect(
      planOf({ a: undeclared, same }, rest).changes.find(({ action }) => action === "delete")?.blocked[0],
    ).toMatchObject({
      message: "part of the manifest so far, and not given now: prod.yaml",
      lift: "give all of its files with -f; if it has fewer for good: graphform state rebind, or an entry for toys.a under removed",
    });
  });

  it("hold back what an enabled: false ends, which one of them may lift, and what is replaced", () => {
    const lifecycle: Lifecycle = {
      onReplace: "refuse",
      onDelete: "delete",
      ignoreChanges: [],
      dependsOn: [],
    };
    const removed = [{ ...removalOf("a", true), lifecycle }];
    expect(blocked({ ...both, resized, a: undeclared }, { ...rest, removed })).toEqual([
      "a: delete !fewer-files",
      "resized: replace !fewer-files",
    ]);
  });

  it("hold back nothing that an entry of removed names, and nothing if everything is to go", () => {
    const removed = [removalOf("a", true), removalOf("b", false), removalOf("kept", false)];
    expect(blocked(scene, { ...rest, removed })).toEqual([]);
    expect(blocked({ ...both, a: undeclared, b: retained }, { ...rest, destroying: true })).toEqual([]);
    expect(blocked(scene, { notGiven: [] })).toEqual(["kept: delete !protect"]);
  });
});

describe("an empty manifest", () => {
  it("is refused while the state knows something: a file that lost its text is no wish", () => {
    expect(blocked({ a: undeclared, b: undeclared }, {})).toEqual([
      "a: delete !empty-manifest",
      "b: delete !empty-manifest",
    ]);
  });

  it("does not lose track of what would be left running either", () => {
    const kept = { ...undeclared, remembered: { onDelete: "retain" as const } };
    expect(blocked({ kept }, {})).toEqual(["kept: forget !empty-manifest"]);
  });

  it("lets go of what it says it lets go of, and of what is gone", () => {
    const removed = [removalOf("a", false)];
    expect(blocked({ a: undeclared, lost: { recorded: {} } }, { removed })).toEqual([]);
  });

  it("is what destroy means", () => {
    const plan = planOf({ a: undeclared, b: undeclared }, { destroying: true });
    expect(actions(plan)).toEqual({ a: "delete", b: "delete" });
    expect(plan.changes[0]?.reason).toBe("everything of this state is removed");
  });

  it("is nothing to do where nothing is known", () => {
    expect(planOf({}).changes).toEqual([]);
  });

  it("does not lift protection by destroying", () => {
    const scene = { a: { ...undeclared, remembered: { protect: true } }, b: undeclared };
    expect(actions(planOf(scene, { destroying: true }))).toEqual({ a: "delete !protect", b: "delete" });
  });
});

import { describe, expect, it } from "vitest";
import { kindRegistry } from "../../src/model/kind.ts";
import type { Doubt, Observed } from "../../src/model/observed.ts";
import { makePlan } from "../../src/plan/make-plan.ts";
import {
  actions,
  type Case,
  changeOf,
  kindLike,
  planInput,
  planOf,
  type Rest,
  type Scene,
  stepsOf,
} from "../support/plan-input.ts";
import { toyKind, toySchema } from "../support/toy-kind.ts";

const there: Case = { wants: { colour: "red" }, has: { colour: "red" } };
const vanished: Case = { wants: { colour: "red" }, recorded: { colour: "red" } };
const forgotten: Case = { recorded: { colour: "red" } };
const deleted: Case = {
  ...vanished,
  converging: { operation: "delete", since: "2026-01-01T00:00:00Z", record: {} },
};

describe("an object that has vanished", () => {
  it("is created again and marked as gone, with what it was", () => {
    const { change, text } = planned({ a: vanished, b: there }, "a");
    expect(text).toBe("create");
    expect(change).toMatchObject({ gone: true, id: "id-a", before: { colour: "red" } });
    expect(change.reason).toBe(
      "id-a is gone: it was deleted outside graphform, and its data is lost; a new, empty one is created",
    );
  });

  it("is created again with a word about the database before the last switch, if that is kept", () => {
    const { change } = planned({ a: vanished, b: there, "a~former": there }, "a");
    expect(change.reason).toContain("id-a~former, the database before the last switch, is kept, stopped");
  });

  it("is forgotten and marked as gone if nothing declares it", () => {
    expect(planned({ a: forgotten, b: there }, "a")).toMatchObject({
      text: "forget",
      change: { gone: true },
    });
  });

  it("is not marked if graphform has deleted it", () => {
    const { change, text } = planned({ a: deleted, b: there }, "a");
    expect([text, change.gone, change.reason]).toEqual([
      "create",
      undefined,
      "the deletion of id-a has ended; a new one is created",
    ]);
  });

  it("keeps its id in the step that creates it again, so that apply looks at it once more", () => {
    const step = planOf({ a: vanished, b: there }).steps.find(({ address }) => address === "toys.a");
    expect(step).toMatchObject({ operation: "create", id: "id-a" });
  });
});

describe("everything that the state binds", () => {
  it.each<[string, Scene, object]>([
    ["one object", { a: vanished }, { a: "create !everything-gone" }],
    [
      "several, declared or not",
      { a: vanished, b: forgotten },
      { a: "create !everything-gone", b: "forget !everything-gone" },
    ],
  ])("is held back if none of it is shown any more: %s", (_, scene, expected) => {
    expect(actions(planOf(scene, { guards: { maxDeletes: 99, maxChangePercent: 100 } }))).toEqual(expected);
  });

  it.each<[string, Scene]>([
    ["one object is shown", { a: vanished, b: there }],
    ["an undeclared object is shown", { a: vanished, b: { has: { colour: "red" } } }],
    ["graphform has deleted all of it", { a: deleted, b: deleted }],
    ["nothing is bound", { a: { wants: {} } }],
  ])("is not held back if %s", (_, scene) => {
    expect(JSON.stringify(actions(planOf(scene)))).not.toContain("everything-gone");
  });

  it("is held back although a new object is not shown yet", () => {
    const scene = { a: vanished, b: there };
    const input = planInput(scene);
    const young = [...input.observed].map(([address, seen]): [string, Observed] => [
      address,
      { ...seen, phase: { is: "pending", detail: "not shown yet", isHidden: true } },
    ]);
    expect(actions(makePlan({ ...input, observed: new Map(young) }))["a"]).toBe("create !everything-gone");
  });

  it("is held back for destroy too, which would forget what may still run", () => {
    expect(actions(planOf({ a: forgotten }, { destroying: true }))).toEqual({ a: "forget !everything-gone" });
  });

  it("is let through for each address that --allow-destroy names", () => {
    const plan = planOf({ a: vanished, b: vanished }, { options: { allowDestroy: ["toys.a"] } });
    expect(actions(plan)).toEqual({ a: "create", b: "create !everything-gone" });
    expect(changeOf(plan, "b").blocked[0]?.lift).toContain(
      "--allow-destroy toys.b, or graphform state rm toys.b",
    );
  });
});

describe("everything of one tier", () => {
  const [pro, free] = [{ tier: "pro", component: "standalone" }, { tier: "free" }];
  const room = kindLike("rooms", {
    schema: {
      ...toySchema,
      properties: {
        toy: { type: "string", "x-place": true, "x-reference": { section: "toys", output: "id" } },
      },
      required: ["toy"],
    },
  });
  const kinds = kindRegistry([toyKind(), room]);
  const scene: Scene = {
    a: { ...vanished, place: pro },
    b: { ...forgotten, place: { ...pro, component: "single-zone" } },
    c: { ...there, place: free },
    "rooms.r": { recorded: { toy: "a" }, place: { toy: "id-a" }, refs: ["a"] },
  };
  const hidden = { a: "create !everything-gone", b: "forget !everything-gone", c: "keep" };
  const inRoom = { "rooms.r": "forget !everything-gone" };

  it("is held back if nothing of it is shown any more, with what is inside, and says so", () => {
    const plan = planOf(scene, { kinds, guards: { maxDeletes: 99, maxChangePercent: 100 } });
    expect(actions(plan)).toEqual({ ...hidden, ...inRoom });
    expect(changeOf(plan, "a").blocked[0]?.message).toContain("binds in its tier: lost rights");
  });

  it.each<[string, Scene, Rest, object]>([
    ["also one object alone", { a: scene["a"] ?? {}, c: scene["c"] ?? {} }, {}, { a: hidden.a, c: "keep" }],
    [
      "not for each address that --allow-destroy names, with what is inside",
      scene,
      { options: { allowDestroy: ["toys.a"] } },
      { ...hidden, a: "create", "rooms.r": "forget" },
    ],
    [
      "not if another of it is shown",
      { ...scene, d: { ...there, place: pro } },
      {},
      { a: "create", b: "forget", c: "keep", d: "keep", "rooms.r": "forget" },
    ],
    [
      "not if a list of it shows what belongs to no address",
      scene,
      { unmanaged: [{ kind: "toys", id: "theirs", place: pro }] },
      { a: "create", b: "forget", c: "keep", "rooms.r": "forget" },
    ],
  ])("%s", (_, given, rest, expected) => {
    expect(actions(planOf(given, { kinds, ...rest }))).toEqual(expected);
  });
});

describe("an object in doubt", () => {
  const because = "the list of its place lacks id-b too, which is there";
  const doubts = new Map([["toys.a", { is: "in-doubt", because } as const]]);

  it.each<[string, Scene, string]>([
    ["is not created again", { a: vanished, b: there }, "create !in-doubt"],
    ["is not deleted, and not forgotten", { a: forgotten, b: there }, "delete !in-doubt"],
    ["may be let go of", { a: { ...forgotten, remembered: { onDelete: "retain" } }, b: there }, "forget"],
    [
      "is not waited for as deleted",
      { a: { ...forgotten, remembered: { onDelete: "backup" } }, b: there },
      "delete !in-doubt",
    ],
  ])("%s", (_, scene, expected) => {
    expect(actions(planOf(scene, { doubts }))["a"]).toBe(expected);
  });

  it("says why, and names every way on", () => {
    const [guard] = planned({ a: vanished, b: there }, "a", doubts).change.blocked;
    expect(guard?.message).toBe(
      "nothing proves that id-a is gone, or that it is there: the list of its place lacks id-b too, which is there",
    );
    for (const way of ["rights", "account", "graphform state rm toys.a", "graphform import toys.a ID"])
      expect(guard?.lift).toContain(way);
  });

  it("is not counted as gone, nor as destroyed", () => {
    const plan = planOf({ a: vanished, b: there }, { doubts, guards: { maxDeletes: 0 } });
    expect([actions(plan)["a"], changeOf(plan, "a").gone]).toEqual(["create !in-doubt", undefined]);
  });

  it("holds back what refers to it, and nothing else", () => {
    const scene: Scene = {
      a: vanished,
      tenant: { wants: { home: "a", colour: "blue" }, has: { home: "a", colour: "red" }, refs: ["a"] },
      other: { wants: { colour: "blue" }, has: { colour: "red" } },
    };
    const plan = planOf(scene, { doubts });
    expect(actions(plan)).toEqual({
      a: "create !in-doubt",
      tenant: "update !depends-on-blocked",
      other: "update",
    });
    expect(stepsOf(plan)).toContain("other update");
  });
});

function planned(
  scene: Scene,
  name: string,
  doubts: ReadonlyMap<string, Doubt> = new Map(),
): { readonly text: string | undefined; readonly change: ReturnType<typeof changeOf> } {
  const plan = planOf(scene, { doubts });
  return { text: actions(plan)[name], change: changeOf(plan, name) };
}

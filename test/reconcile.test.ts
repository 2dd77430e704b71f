import { describe, expect, it } from "vitest";
import { actions } from "./support/plan-input.ts";
import { toyWorld } from "./support/toy-world.ts";

describe("planning", () => {
  it("reads, and writes nothing anywhere", async () => {
    const world = toyWorld();
    await world.run({ a: { colour: "red" } });
    const [state, writes] = [await world.state(), world.service.writes().length];
    const plan = await world.plan({ a: { colour: "blue", size: 2 }, b: { colour: "green" } });
    expect(actions(plan)).toEqual({ a: "replace", b: "create" });
    expect(world.service.writes()).toHaveLength(writes);
    expect(await world.state()).toEqual(state);
  });

  it("is dated by the newest of what it is made from, and not by the clock", async () => {
    const world = toyWorld();
    expect((await world.plan({ a: { colour: "red" } })).timestamp).toBe("2026-01-01T00:00:00.000Z");
    await world.run({ a: { colour: "red" } });
    const { savedAt } = await world.state();
    await world.drive(world.clock.sleep(3_600_000));
    expect((await world.plan({ a: { colour: "red" } })).timestamp).toBe(savedAt);
  });

  it("makes the same bytes of the same things", async () => {
    const world = toyWorld();
    await world.run({ a: { colour: "red" } });
    const toys = { a: { colour: "blue" }, b: { colour: "green" } };
    const first = JSON.stringify(await world.plan(toys));
    await world.drive(world.clock.sleep(3_600_000));
    expect(JSON.stringify(await world.plan(toys))).toBe(first);
  });

  it("of nothing but this state, to destroy it, speaks of all of it", async () => {
    const world = toyWorld();
    await world.run({ a: { colour: "red" }, b: { colour: "green" } });
    const { steps, second } = await world.run({ a: { colour: "red" } }, { destroying: true });
    expect(steps.map(({ operation, result }) => [operation, result])).toEqual([
      ["delete", "done"],
      ["delete", "done"],
    ]);
    expect(second.changes).toEqual([]);
    expect((await world.state()).resources).toEqual({});
  });
});

describe("a state that was lost", () => {
  it("destroys nothing: what is there is nobody's", async () => {
    const world = toyWorld();
    const id = world.service.add({ colour: "red" });
    const plan = await world.plan({ a: { colour: "red" } });
    expect(actions(plan)).toEqual({ a: "create" });
    expect(plan.census.unmanaged).toBe(1);
    const bound = await world.run({ a: { spec: { colour: "red" }, importId: id } });
    expect(actions(bound.plan)).toEqual({ a: "adopt" });
    expect(world.service.writes()).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import type { Driver } from "../../src/model/kind.ts";
import type { JournalStore } from "../../src/state/store.ts";
import { actions } from "../support/plan-input.ts";
import { type Toys, toyWorld } from "../support/toy-world.ts";

describe("a create", () => {
  it("makes one object, binds it, records what was applied, and leaves nothing to do", async () => {
    const world = toyWorld();
    const token = world.seal("tell nobody");
    const { steps, second, certificate } = await world.run({ a: { colour: "red", token } });
    expect(steps).toMatchObject([{ address: "toys.a", operation: "create", result: "done", id: "toy-1" }]);
    expect(certificate).toEqual([]);
    expect(actions(second)).toEqual({ a: "keep" });
    expect(second.steps).toEqual([]);
    expect(world.service.all()).toMatchObject([
      { id: "toy-1", spec: { colour: "red", token: "tell nobody" } },
    ]);
    expect(await world.state()).toMatchObject({
      intents: {},
      resources: { "toys.a": { id: "toy-1", recorded: { colour: "red", size: 1, power: "running", token } } },
    });
  });

  it("is announced durably before its request is sent, and its id is durable before anything else", async () => {
    const world = toyWorld();
    const seen: string[] = [];
    const driver: Driver = {
      ...world.service,
      create: async (spec, signal) => {
        const { intents, resources } = await world.state();
        seen.push(`create: intents ${Object.keys(intents).join()}, bound ${Object.keys(resources).join()}`);
        return world.service.create(spec, signal);
      },
      get: async (ref, signal) => {
        const { intents, resources } = await world.state();
        seen.push(`get: intents ${Object.keys(intents).join()}, bound ${resources["toys.a"]?.id}`);
        return world.service.get(ref, signal);
      },
    };
    const slow: JournalStore = {
      write: async (next) => {
        await world.clock.sleep(500);
        await world.store.write(next);
      },
      append: async (next) => {
        await world.clock.sleep(500);
        await world.store.append(next);
      },
    };
    await world.run({ a: { colour: "red" } }, { driver, store: slow });
    expect(seen[0]).toBe("create: intents toys.a, bound ");
    expect(new Set(seen.slice(1))).toEqual(new Set(["get: intents , bound toy-1"]));
  });

  it("is in flight with those of its class that an update could bring to its spec, and with no others", async () => {
    const world = toyWorld({ latency: 1000, work: 60_000 });
    await world.run(
      {
        a: { colour: "red" },
        b: { colour: "green" },
        c: { colour: "blue" },
        d: { colour: "grey", home: "a" },
        e: { colour: "pink", size: 2 },
      },
      { driver: { ...world.service } },
    );
    const sentAt = new Map(world.service.writes("create").map(({ target, at }) => [target, at]));
    const at = (colour: string): number => sentAt.get(colour) ?? Number.NaN;
    expect(Math.max(at("red"), at("green"), at("blue")) - at("red")).toBeLessThan(500);
    expect(at("pink")).toBeLessThan(at("red") + 5000);
  });

  it("waits for what it refers to, and sends its id", async () => {
    const world = toyWorld();
    await world.run({ cat: { colour: "black", home: "house" }, house: { colour: "red" } });
    expect(world.service.writes("create").map(({ body }) => body)).toMatchObject([
      { colour: "red" },
      { colour: "black", home: "toy-1" },
    ]);
    expect((await world.state()).resources["toys.cat"]).toMatchObject({
      recorded: { home: "house" },
      refs: ["toys.house"],
    });
  });

  it("fills in outputs of what it waits for, and opens secrets for the last request alone", async () => {
    const world = toyWorld();
    const token = world.seal("tell nobody");
    const note = { $template: ["at ", { $ref: "toys.house.endpoint" }, " with ", token] };
    const toys: Toys = {
      house: { colour: "red" },
      cat: { spec: { colour: "black", token: note }, refs: ["house"] },
    };
    const { certificate } = await world.run(toys);
    expect(world.service.all()[1]?.spec["token"]).toBe("at toy-1:6379 with tell nobody");
    expect(certificate).toEqual([]);
    expect(JSON.stringify([await world.state(), world.events])).not.toContain("tell nobody");
  });

  it("is left out where what it refers to failed, and the rest is done", async () => {
    const world = toyWorld({ faults: [{ on: "create", effect: "invalid", target: "red" }] });
    const { steps } = await world.run({
      cat: { home: "house", colour: "black" },
      house: { colour: "red" },
      tree: { spec: { size: 3 }, refs: [] },
    });
    const results = Object.fromEntries(steps.map(({ address, result }) => [address, result]));
    expect(Object.values(results).sort()).toEqual(["done", "failed", "skipped"]);
    expect(results["toys.cat"]).toBe("skipped");
  });

  it("that ended badly keeps its binding: the next plan tries it again in place", async () => {
    const world = toyWorld({ faults: [{ on: "create", effect: "fails" }] });
    const first = await world.run({ a: { colour: "red" } });
    expect(first.steps).toMatchObject([{ result: "failed", id: "toy-1", message: "toy-1 failed: FAILED" }]);
    expect(first.certificate).toEqual([]);
    const next = await world.run({ a: { colour: "red" } });
    expect(next.steps).toMatchObject([{ operation: "operate", verb: "restart", result: "done" }]);
    expect(next.certificate).toEqual([]);
    expect(world.service.all()).toHaveLength(1);
  });

  it("of something that is gone binds the new one in the place of the old", async () => {
    const world = toyWorld();
    const toys = { a: { colour: "red" } };
    await world.run(toys);
    world.service.remove("toy-1");
    await world.drive(world.clock.sleep(60_000));
    expect((await world.run(toys)).steps).toMatchObject([{ operation: "create", result: "blocked" }]);
    const { steps, certificate } = await world.run(toys, { options: { allowDestroy: ["toys.a"] } });
    expect(steps).toMatchObject([{ operation: "create", result: "done", id: "toy-2" }]);
    expect(certificate).toEqual([]);
    expect((await world.state()).resources["toys.a"]?.id).toBe("toy-2");
  });

  it("of a stopped one starts as the service does it, then stops it", async () => {
    const world = toyWorld();
    const { steps, certificate } = await world.run({ a: { colour: "red", power: "stopped" } });
    expect(steps.map(({ verb, result }) => [verb, result])).toEqual([
      [undefined, "done"],
      ["stop", "done"],
    ]);
    expect(certificate).toEqual([]);
    expect(world.service.all()).toMatchObject([{ phase: "stopped" }]);
    expect((await world.plan({ a: { colour: "red", power: "stopped" } })).changes).toMatchObject([
      { action: "keep", drift: [] },
    ]);
  });

  it.each([
    ["by describe", 32_000, 0],
    ["by describe, for longer", 55_000, 0],
    ["by lists and describe", 32_000, 32_000],
  ])(
    "whose object is hidden after its grace period %s is waited for, and made once",
    async (_, describeLag, listLag) => {
      const world = toyWorld({ describeLag, listLag });
      const { steps, certificate } = await world.run({ a: { colour: "red" } });
      expect(steps).toMatchObject([{ operation: "create", result: "done", id: "toy-1" }]);
      expect(certificate).toEqual([]);
      expect(world.service.writes("create")).toHaveLength(1);
    },
  );

  it("asks for no list while its object is hidden within the grace period", async () => {
    const world = toyWorld({ describeLag: 25_000 });
    await world.run({ a: { colour: "red" } });
    // The plan, the round, and the second plan.
    expect(world.service.log.filter(({ operation }) => operation === "list")).toHaveLength(3);
  });
});

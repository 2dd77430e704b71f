import { describe, expect, it } from "vitest";
import type { Driver } from "../../src/model/kind.ts";
import { anotherObject } from "../../src/model/observed.ts";
import type { Bound } from "../../src/model/state.ts";
import { withFreshGuards } from "../../src/reconcile/reconcile.ts";
import { type Toys, type ToyWorld, toyWorld } from "../support/toy-world.ts";

const two: Toys = { a: { colour: "red" }, b: { colour: "green" } };
const changed: Toys = { a: { colour: "white" }, b: { colour: "black" } };

/** The service of a world, which shows another time of the creation of one object, or none. */
function showing({ service }: ToyWorld, id: string, createdAt: () => string | undefined): Driver {
  return {
    ...service,
    get: async (ref, signal) => {
      const live = await service.get(ref, signal);
      if (live === undefined || ref.id !== id) return live;
      const { createdAt: _shown, ...rest } = live;
      const time = createdAt();
      return time === undefined ? rest : { ...rest, createdAt: time };
    },
  };
}

interface Scene {
  readonly world: ToyWorld;
  readonly id: string;
  readonly shown: string;
}

async function running(): Promise<Scene> {
  const world = toyWorld();
  await world.run(two);
  await world.drive(world.clock.sleep(3_600_000));
  const bound = (await world.state()).resources["toys.a"];
  return { world, id: bound?.id ?? "", shown: bound?.shownCreatedAt ?? "" };
}

const moved = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString();
const results = (steps: readonly { readonly result: string }[]): readonly string[] =>
  steps.map(({ result }) => result);

describe("an object that shows another time of its creation under a bound id", () => {
  it("is planned for nothing: the refusal names both times and the ways on", async () => {
    const { world, id, shown } = await running();
    const later = moved(shown, 60_000);
    const plan = await world.plan(changed, { driver: showing(world, id, () => later) });
    const [guard] = plan.changes.find(({ address }) => address === "toys.a")?.blocked ?? [];
    expect(guard?.code).toBe("another-object");
    expect(guard?.message).toContain(`it was created at ${later}, and that one at ${shown}`);
    expect(guard?.message).not.toContain("gone");
    expect(guard?.lift).toContain("graphform state rm toys.a");
    expect(guard?.lift).toContain(`graphform import toys.a ${id}`);
  });

  it("is changed by no step, and neither deleted; other steps go on", async () => {
    const { world, id, shown } = await running();
    const driver = showing(world, id, () => moved(shown, 60_000));
    const { steps } = await world.run(changed, { driver });
    expect(results(steps)).toEqual(["blocked", "done"]);
    const { steps: removing } = await world.run({ b: { colour: "black" } }, { driver });
    expect(results(removing)).toEqual(["blocked"]);
    expect(world.service.all().map(({ spec }) => spec["colour"])).toEqual(["red", "black"]);
  });

  it.each<[string, (shown: string) => string | undefined]>([
    ["no time", () => undefined],
    ["the first time again", (shown) => shown],
  ])("stays another one if the service shows %s later: nothing is deleted", async (_, next) => {
    const { world, id, shown } = await running();
    await world.run(changed, { driver: showing(world, id, () => moved(shown, 60_000)) });
    const driver = showing(world, id, () => next(shown));
    const { steps } = await world.run({ b: { colour: "black" } }, { driver });
    expect(results(steps)).toEqual(["blocked"]);
    expect(world.service.all().some((object) => object.id === id)).toBe(true);
  });

  it("stays another one if only the look before a write has shown it", async () => {
    const { world, id, shown } = await running();
    let looks = 0;
    const times = (): string => moved(shown, looks++ === 1 ? 60_000 : 0);
    await world.run(changed, { driver: showing(world, id, times) });
    expect((await world.state()).resources["toys.a"]?.otherCreatedAt).toBe(moved(shown, 60_000));
  });

  it.each<[string, (shown: string) => string | undefined]>([
    ["the time is shown in another spelling", (shown) => shown.replace("Z", "+00:00")],
    ["the time is cut to whole seconds", (shown) => `${shown.slice(0, 19)}Z`],
    ["no time is shown any more", () => undefined],
    ["what is shown is no time", () => "0001-01-01T00:00:00Z"],
  ])("is the same object if %s", async (_, other) => {
    const { world, id, shown } = await running();
    const { steps } = await world.run(changed, { driver: showing(world, id, () => other(shown)) });
    expect(results(steps)).toEqual(["done", "done"]);
  });

  it.each<[string, Toys]>([
    ["changed", changed],
    ["deleted", { b: { colour: "green" } }],
  ])("is not %s by a saved plan: the look just before the write refuses it (exit 6)", async (_, toys) => {
    const { world, id, shown } = await running();
    const saved = await world.plan(toys);
    const before = world.service.writes().filter(({ target }) => target === id).length;
    const driver = showing(world, id, () => moved(shown, -60_000));
    const steps = await world.apply(saved, toys, { driver });
    const [step] = steps.filter(({ address }) => address === "toys.a");
    expect([step?.result, step?.message]).toEqual([
      "stale",
      expect.stringContaining(`it was created at ${moved(shown, -60_000)}, and that one at ${shown}`),
    ]);
    expect(step?.hint).toContain("graphform state rm toys.a");
    expect(world.service.writes().filter(({ target }) => target === id)).toHaveLength(before);
  });

  it("holds back what refers to it, also in a plan that was saved before", async () => {
    const world = toyWorld();
    const homes: Toys = { a: { colour: "red" }, tenant: { colour: "blue", home: "a" } };
    await world.run(homes);
    const bound = (await world.state()).resources["toys.a"];
    const driver = showing(world, bound?.id ?? "", () => moved(bound?.shownCreatedAt ?? "", 60_000));
    const wanted: Toys = { ...homes, tenant: { colour: "white", home: "a" } };
    const saved = await world.plan(wanted);
    expect(saved.steps.flatMap(({ blocked }) => blocked)).toEqual([]);
    const fresh = await world.plan(wanted, { driver });
    const held = withFreshGuards(saved, fresh);
    expect(held.steps.map(({ address, blocked }) => [address, blocked.map(({ code }) => code)])).toEqual([
      ["toys.tenant", ["depends-on-blocked"]],
    ]);
    expect(withFreshGuards(saved, saved)).toEqual(saved);
    const { steps } = await world.run(wanted, { driver });
    expect(steps.find(({ address }) => address === "toys.tenant")?.result).toBe("blocked");
  });

  it("puts every guard that a plan made now has on a deletion on that of a saved one", async () => {
    const world = toyWorld();
    await world.run({ a: { colour: "red" }, b: { colour: "blue" } });
    const saved = await world.plan({ b: { colour: "blue" } });
    const guard = { code: "in-use", message: "something stands on it", lift: "delete that first" };
    const now = saved.changes.map((change) =>
      change.action === "delete" ? { ...change, blocked: [guard] } : change,
    );
    const held = withFreshGuards(saved, { ...saved, changes: now });
    expect(held.steps.map(({ address, operation, blocked }) => [address, operation, blocked])).toEqual([
      ["toys.a", "delete", [guard]],
    ]);
  });

  it("is let go of, and bound as what it is, once the entry was removed", async () => {
    const { world, id, shown } = await running();
    const later = moved(shown, 60_000);
    const driver = showing(world, id, () => later);
    const { resources, ...head } = await world.state();
    const { "toys.a": _removed, ...rest } = resources;
    const state = { ...head, resources: rest };
    const imported: Toys = { ...two, a: { spec: { colour: "red" }, importId: id } };
    expect(results((await world.run(imported, { driver, state })).steps)).toEqual(["done"]);
    expect(results((await world.run(changed, { driver })).steps)).toEqual(["done", "done"]);
    expect((await world.state()).resources["toys.a"]?.shownCreatedAt).toBe(later);
  });
});

describe("the time of creation that the service shows", () => {
  it("is recorded when the create was seen to end", async () => {
    const { world, shown } = await running();
    expect(shown).not.toBe("");
    const bornAt = world.service.all()[0]?.bornAt ?? 0;
    expect(shown).toBe(new Date(bornAt).toISOString());
  });

  it("is taken over by a state without it at the next write, without a request of its own", async () => {
    const wanted = { ...two, b: { colour: "black" } };
    const [knowing, taking] = [await running(), await running()];
    const { resources, ...head } = await taking.world.state();
    const without = Object.entries(resources).map(([address, { shownCreatedAt: _, ...bound }]) => [
      address,
      bound,
    ]);
    await knowing.world.run(wanted);
    await taking.world.run(wanted, { state: { ...head, resources: Object.fromEntries(without) } });
    const { id, shown } = taking;
    expect((await taking.world.state()).resources["toys.a"]).toMatchObject({ id, shownCreatedAt: shown });
    expect(taking.world.service.log).toEqual(knowing.world.service.log);
  });
});

it("says of another time that is shown no more that it was shown once", () => {
  const [then, later] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"];
  const bound = { id: "toy-1", shownCreatedAt: then, otherCreatedAt: later } as Bound;
  expect(anotherObject(bound, { createdAt: then })).toContain(`it was once shown as created at ${later}`);
  expect(anotherObject(bound, { createdAt: later })).toContain(`it was created at ${later}`);
});

import { describe, expect, it } from "vitest";
import type { KindSchema } from "../../src/model/field-schema.ts";
import type { Driver } from "../../src/model/kind.ts";
import { toySchema } from "../support/toy-kind.ts";
import { type Toys, type ToyWorld, toyWorld } from "../support/toy-world.ts";

const colour = { type: "string", "x-identity": true } as const;
const namedSchema: KindSchema = { ...toySchema, properties: { ...toySchema.properties, colour } };

const three: Toys = { a: { colour: "red" }, b: { colour: "green" }, c: { colour: "blue" } };

/** The service of a world, which answers 404 and lists nothing while `isWrong`. */
function wrongWhile({ service }: ToyWorld, isWrong: () => boolean): Driver {
  return {
    ...service,
    get: async (ref, signal) => {
      const live = await service.get(ref, signal);
      return isWrong() ? undefined : live;
    },
    list: async (place, signal) => {
      const ids = await service.list(place, signal);
      return isWrong() ? [] : ids;
    },
  };
}

async function running(toys: Toys): Promise<ToyWorld> {
  const world = toyWorld();
  await world.run(toys);
  await world.drive(world.clock.sleep(3_600_000));
  return world;
}

const results = (steps: readonly { readonly result: string }[]): readonly string[] =>
  steps.map(({ result }) => result);
const allowed = { options: { allowDestroy: ["toys.*"] } };

describe("databases that the service does not show for a moment", () => {
  it.each([60, 1000, 4500])("stay as many as they are: 404 and empty lists for %i ms", async (ms) => {
    const world = await running(three);
    const begun = world.clock.now();
    const driver = wrongWhile(world, () => world.clock.now() < begun + ms);
    const { plan, steps } = await world.run(three, { driver, ...allowed });
    expect(plan.changes.map(({ action }) => action)).toEqual(["keep", "keep", "keep"]);
    expect(steps).toEqual([]);
    expect(world.service.all()).toHaveLength(3);
  });

  it("are made again if describe says that they are deleted, though a list still has them", async () => {
    const { service, ...world } = await running({ a: { colour: "red" } });
    const [old = ""] = service.all().map(({ id }) => id);
    const driver: Driver = {
      ...service,
      get: async (ref, signal) => {
        const live = await service.get(ref, signal);
        return live && ref.id === old ? { ...live, phase: { is: "gone", detail: "DELETED" } } : live;
      },
    };
    const { steps } = await world.run({ a: { colour: "red" } }, { driver, ...allowed });
    expect(results(steps)).toEqual(["done"]);
    expect(service.all()).toHaveLength(2);
  });

  it("are not made again by a saved plan that took them for gone: it is stale (exit 6), and sends nothing", async () => {
    const world = await running(three);
    const saved = await world.plan(three, { driver: wrongWhile(world, () => true), ...allowed });
    expect(saved.changes.map(({ action, gone }) => [action, gone])).toEqual([
      ["create", true],
      ["create", true],
      ["create", true],
    ]);
    const before = world.service.writes().length;
    expect(results(await world.apply(saved, three))).toEqual(["stale", "stale", "stale"]);
    expect(world.service.writes()).toHaveLength(before);
    expect(world.service.all()).toHaveLength(3);
  });

  it("are not forgotten by a saved plan that took them for gone: it is stale (exit 6)", async () => {
    const world = await running(three);
    const { a: _a, ...others } = three;
    const saved = await world.plan(others, { driver: wrongWhile(world, () => true), ...allowed });
    expect(saved.changes.find(({ address }) => address === "toys.a")).toMatchObject({ action: "forget" });
    const steps = await world.apply(saved, others);
    expect(steps.find(({ address }) => address === "toys.a")?.result).toBe("stale");
    expect(Object.keys((await world.state()).resources).toSorted()).toEqual(["toys.a", "toys.b", "toys.c"]);
  });

  it("are not made again if only the list that opens the round shows them", async () => {
    const world = await running(three);
    const saved = await world.plan(three, { driver: wrongWhile(world, () => true), ...allowed });
    const driver: Driver = { ...world.service, get: async () => undefined };
    expect(results(await world.apply(saved, three, { driver }))).toEqual(["stale", "stale", "stale"]);
    expect(world.service.all()).toHaveLength(3);
  });

  it("are not made again if only describe shows them", async () => {
    const world = await running(three);
    const saved = await world.plan(three, { driver: wrongWhile(world, () => true), ...allowed });
    const driver: Driver = { ...world.service, list: async () => [] };
    expect(results(await world.apply(saved, three, { driver }))).toEqual(["stale", "stale", "stale"]);
    expect(world.service.all()).toHaveLength(3);
  });
});

describe("databases that are gone", () => {
  it("are held back as a whole, whatever the guards allow, and made again where that is allowed", async () => {
    const twelve: Toys = Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [`t${at}`, { colour: `c${at}` }]),
    );
    const world = await running(twelve);
    for (const { id } of world.service.all()) world.service.remove(id);
    const strict = { manifest: { guards: { maxDeletes: 0, maxChangePercent: 30 } } };
    const codes = new Set(
      (await world.plan(twelve, strict)).changes.map(({ blocked }) =>
        blocked.map(({ code }) => code).join(" "),
      ),
    );
    expect([...codes]).toEqual(["everything-gone max-deletes max-change-percent"]);
    expect(results((await world.run(twelve)).steps)).toEqual(twelveTimes("blocked"));
    expect(results((await world.run(twelve, allowed)).steps)).toEqual(twelveTimes("done"));
    expect(world.service.all()).toHaveLength(12);
  });

  it("are not made again while the list lacks others that describe shows; the rest goes on", async () => {
    const world = await running(three);
    const gone = world.service.all().find(({ spec }) => spec["colour"] === "red");
    world.service.remove(gone?.id ?? "");
    const driver: Driver = { ...world.service, list: async () => [] };
    const { plan, steps } = await world.run({ ...three, c: { colour: "white" } }, { driver });
    expect(plan.changes.map(({ action, blocked }) => [action, blocked[0]?.code])).toEqual([
      ["create", "in-doubt"],
      ["keep", undefined],
      ["update", undefined],
    ]);
    expect(results(steps)).toEqual(["blocked", "done"]);
    expect(world.service.all()).toHaveLength(2);
  });
});

describe("an address that is bound to nothing", () => {
  it.each<[string, string, Partial<NonNullable<Parameters<typeof toyWorld>[0]>>]>([
    ["name", "which the service keeps apart", { kind: { namedBy: "colour" } }],
    ["name", "which people know it by", { kind: { schema: namedSchema } }],
  ])(
    "gets no second object if one of its %s, %s, appears in the list that opens the round",
    async (_, __, options) => {
      const world = toyWorld(options);
      world.service.add({ colour: "red" });
      let lists = 0;
      const driver: Driver = {
        ...world.service,
        list: async (place, signal) => {
          lists += 1;
          const ids = await world.service.list(place, signal);
          return lists === 1 ? [] : ids;
        },
      };
      const { steps } = await world.run({ a: { colour: "red" } }, { driver });
      expect(steps).toMatchObject([
        {
          result: "stale",
          message: "toy-1 has the colour that is declared, and was not listed when the plan was made",
        },
      ]);
      expect(world.service.all()).toHaveLength(1);
    },
  );

  it("is made beside what somebody else has made meanwhile", async () => {
    const world = toyWorld({ kind: { namedBy: "colour" } });
    world.service.add({ colour: "green" });
    let lists = 0;
    const driver: Driver = {
      ...world.service,
      list: async (place, signal) => {
        lists += 1;
        const ids = await world.service.list(place, signal);
        return lists === 1 ? [] : ids;
      },
    };
    expect(results((await world.run({ a: { colour: "red" } }, { driver })).steps)).toEqual(["done"]);
    expect(world.service.all()).toHaveLength(2);
  });
});

describe("the ordinary path", () => {
  it("costs one describe of each object and one list, and no wait", async () => {
    const world = await running(three);
    const before = world.service.log.length;
    const begun = world.clock.now();
    expect((await world.plan(three)).changes.map(({ action }) => action)).toEqual(["keep", "keep", "keep"]);
    expect(world.service.log.slice(before).map(({ operation }) => operation)).toEqual([
      "get",
      "get",
      "get",
      "list",
    ]);
    expect(world.clock.now() - begun).toBeLessThan(1000);
  });

  it("of a create costs the list that opens the round, and no describe", async () => {
    const world = toyWorld();
    await world.run({ a: { colour: "red" } });
    const sent = world.service.log.findIndex(({ operation }) => operation === "create");
    expect(world.service.log.slice(0, sent).map(({ operation }) => operation)).toEqual(["list", "list"]);
  });
});

function twelveTimes(result: string): readonly string[] {
  return Array.from({ length: 12 }, () => result);
}

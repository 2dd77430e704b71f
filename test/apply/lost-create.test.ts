import { describe, expect, it } from "vitest";
import { ServiceError } from "../../src/model/errors.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import type { Driver } from "../../src/model/kind.ts";
import type { Seen } from "../../src/model/observed.ts";
import { type ProbeAnswer, refusedAt, unanswered } from "../../src/model/probe.ts";
import { askedSchema, toyProfile, toySchema } from "../support/toy-kind.ts";
import type { Fault, ToyServiceOptions } from "../support/toy-service.ts";
import { type Ran, type Toys, type ToyWorld, toyWorld } from "../support/toy-world.ts";

const toys: Toys = { a: { colour: "red" }, b: { colour: "green" }, c: { colour: "blue", size: 2 } };

const faults: readonly Fault["effect"][] = [
  "lost-before",
  "lost-after",
  "error-after",
  "503-after",
  "nonsense",
  "unavailable",
  "busy",
  "rate-limited",
];

const services: readonly [string, ToyServiceOptions][] = [
  ["that tells everything at once", {}],
  ["that lists late", { listLag: 20_000 }],
  ["that describes late", { describeLag: 20_000 }],
  ["that lists and describes late", { listLag: 10_000, describeLag: 25_000 }],
  ["that is slow", { latency: 8000, work: 90_000 }],
  ["that is done before the answer", { work: 0 }],
];

const cases = faults.flatMap((effect) => services.map(([words, options]) => ({ effect, words, options })));

/** The declared toys are there, once each, bound to their addresses; and nothing else is. */
async function expectExactly(world: ToyWorld, wanted: Toys): Promise<void> {
  const { resources, intents } = await world.state();
  expect(intents).toEqual({});
  const found = Object.fromEntries(world.service.all().map((toy) => [toy.id, toy.spec["colour"]]));
  const bound = Object.fromEntries(Object.entries(resources).map(([address, { id }]) => [id, address]));
  expect(Object.keys(found).sort()).toEqual(Object.keys(bound).sort());
  expect(Object.keys(bound)).toHaveLength(Object.keys(wanted).length);
  for (const [id, colour] of Object.entries(found)) {
    expect(wanted[(bound[id] ?? "").slice("toys.".length)]).toMatchObject({ colour });
  }
}

/** The service makes the toy of this colour, and says that it refuses. */
function refusing(world: ToyWorld, colour: string): Driver {
  return {
    ...world.service,
    async create(spec, signal, owner) {
      const id = await world.service.create(spec, signal, owner);
      if (spec["colour"] === colour)
        throw new ServiceError("invalid", "create", "create: no", { status: 400 });
      return id;
    },
  };
}

describe("a create happens once", () => {
  it.each(cases)("$effect, of a service $words", async ({ effect, options }) => {
    const world = toyWorld({ ...options, faults: [{ on: "create", effect, times: 2 }] });
    const { certificate, steps } = await world.run(toys);
    expect(steps.map((step) => step.result)).toEqual(["done", "done", "done"]);
    expect(certificate).toEqual([]);
    await expectExactly(world, toys);
  });

  it.each([0, 8000, 20_000])("503, after others whose lists were %i ms late", async (listLag) => {
    const several: Toys = { ...toys, d: { colour: "white" } };
    for (const target of ["red", "green", "blue", "white"]) {
      const world = toyWorld({ listLag, faults: [{ on: "create", effect: "503-after", target }] });
      expect((await world.run(several)).certificate).toEqual([]);
      await expectExactly(world, several);
    }
  });

  it.each([1, 2, 3, 4, 5])(
    "where every answer named something that is not there: the next run tells them by their order (%i)",
    async (seed) => {
      const world = toyWorld({ seed, hidden: ["colour", "size"] });
      const { create } = world.service;
      let ghosts = 0;
      const driver: Driver = {
        ...world.service,
        create: async (spec, signal) => {
          await create(spec, signal);
          ghosts += 1;
          return `ghost-${ghosts}`;
        },
      };
      const pair: Toys = { a: { colour: "red" }, b: { colour: "green" } };
      const { steps } = await world.run(pair, { driver });
      expect(steps.map((step) => step.result)).toEqual(["failed", "failed"]);
      expect((await world.run(pair)).certificate).toEqual([]);
      await expectExactly(world, pair);
    },
  );

  it.each([
    ["lists and descriptions", 45_000, 45_000],
    ["descriptions alone", 75_000, 0],
    ["lists and descriptions, until the next run has begun", 60_000, 60_000],
  ])(
    "if %s hide the acknowledged object for longer than the grace period: the next run binds it",
    async (_words, describeLag, listLag) => {
      for (const wanted of [{ a: { colour: "red" } }, { a: { colour: "red" }, b: { colour: "red" } }]) {
        const world = toyWorld({ describeLag, listLag, hidden: ["colour", "size"] });
        const { steps } = await world.run(wanted);
        expect(steps.every(({ result }) => result === "failed")).toBe(true);
        expect((await world.run(wanted)).certificate).toEqual([]);
        expect(world.service.writes("create")).toHaveLength(Object.keys(wanted).length);
        await expectExactly(world, wanted);
      }
    },
  );

  it("is reported at once if the service refuses it, and its intent stays for the next run", async () => {
    const world = toyWorld({ faults: [{ on: "create", effect: "invalid" }] });
    const before = world.clock.now();
    const { steps } = await world.run({ a: { colour: "red" } });
    expect(steps).toMatchObject([{ result: "failed", message: "create: refused (invalid)" }]);
    expect(world.clock.now() - before).toBeLessThan(toyProfile.timing.settle);
    expect(world.service.writes("create")).toHaveLength(1);
    expect((await world.state()).intents).toMatchObject({ "toys.a": { refused: true } });
    await world.clock.drive(world.clock.sleep(toyProfile.timing.listLag));
    expect((await world.run({ a: { colour: "red" } })).certificate).toEqual([]);
    await expectExactly(world, { a: { colour: "red" } });
  });

  it.each([0, 20_000])(
    "is found by the next run if it was refused after its work, and lists are %i ms late",
    async (listLag) => {
      const world = toyWorld({ listLag });
      const { steps } = await world.run({ a: { colour: "red" } }, { driver: refusing(world, "red") });
      expect(steps).toMatchObject([{ result: "failed", message: "create: no" }]);
      expect((await world.run({ a: { colour: "red" } })).certificate).toEqual([]);
      expect(world.service.writes("create")).toHaveLength(1);
      await expectExactly(world, { a: { colour: "red" } });
    },
  );

  it("is found before another one is sent that could be taken for it", async () => {
    // Nothing tells the two apart, and no update could exchange them: they are sent one after the other.
    const fixed = { type: "string", "x-create-only": true } as const;
    const schema = { ...toySchema, properties: { ...toySchema.properties, colour: fixed } };
    const world = toyWorld({ hidden: ["colour", "size"], listLag: 20_000, kind: { schema } });
    const pair: Toys = { a: { colour: "red" }, b: { colour: "green" } };
    const { steps } = await world.run(pair, { driver: refusing(world, "red") });
    expect(steps.map(({ result }) => result)).toEqual(["failed", "done"]);
    expect(world.events).toContainEqual({
      type: "warning",
      address: "toys.a",
      message: "toy-1 was created for toys.a although the service refused that create; it is bound now",
    });
    expect((await world.run(pair)).certificate).toEqual([]);
    await expectExactly(world, pair);
  });

  it("is bound beside one whose answer was lost: two creates have made two objects", async () => {
    const world = toyWorld({ hidden: ["colour", "size"] });
    const refuses = refusing(world, "red");
    const driver: Driver = {
      ...refuses,
      async create(spec, signal, owner) {
        const id = await refuses.create(spec, signal, owner);
        throw new ServiceError("lost", "create", `create: no answer about ${id}`, { mayHaveWorked: true });
      },
    };
    const pair: Toys = { a: { colour: "red" }, b: { colour: "green" } };
    const { steps } = await world.run(pair, { driver });
    expect(steps.map(({ result }) => result)).toEqual(["failed", "done"]);
    expect((await world.run(pair)).certificate).toEqual([]);
    expect(world.service.writes("create")).toHaveLength(2);
    await expectExactly(world, pair);
  });

  it("is not taken for one that was made after the refusal", async () => {
    const world = toyWorld({ faults: [{ on: "create", effect: "invalid" }] });
    await world.run({ a: { colour: "red" } });
    await world.clock.drive(world.clock.sleep(60_000));
    world.service.add({ colour: "red" });
    const { plan } = await world.run({ a: { colour: "red" } });
    expect(plan.changes[0]?.blocked).toMatchObject([
      {
        code: "create-in-doubt",
        message: expect.stringContaining(
          "was lost, or refused it, and neither time nor mark proves whether these are theirs: toy-1",
        ),
      },
    ]);
  });

  it("stays open while the service shows nothing that is bound: rights may be lost", async () => {
    const world = toyWorld();
    await world.run({ b: { colour: "green" } });
    await world.clock.drive(world.clock.sleep(600_000));
    const pair: Toys = { a: { colour: "red" }, b: { colour: "green" } };
    await world.run(pair, { driver: refusing(world, "red") });
    await world.clock.drive(world.clock.sleep(600_000));
    const blind: Driver = { ...world.service, list: async () => [], get: async () => undefined };
    const { plan } = await world.run(pair, { driver: blind });
    expect(plan.changes[0]?.blocked).toMatchObject([
      {
        code: "create-in-doubt",
        message: expect.stringContaining("the service shows nothing of what this state binds"),
      },
    ]);
    expect(Object.keys((await world.state()).intents)).toEqual(["toys.a"]);
    expect((await world.run(pair)).certificate).toEqual([]);
    await expectExactly(world, pair);
  });

  it("is given up after a while, and then nothing was made", async () => {
    const world = toyWorld({ faults: [{ on: "create", effect: "lost-before", times: 9 }] });
    const { steps } = await world.run({ a: { colour: "red" } });
    expect(steps).toMatchObject([
      { result: "failed", message: expect.stringContaining("the service lost the create of toys.a 4 times") },
    ]);
    expect(world.service.all()).toEqual([]);
    expect((await world.state()).intents).toEqual({});
  });
});

describe("a lost create is told from the others", () => {
  const lost: Fault = { on: "create", effect: "lost-after" };

  /** Somebody else makes one at the same moment. */
  function beside(world: ToyWorld, colour: string): Driver {
    const { create } = world.service;
    return {
      ...world.service,
      create: (spec, signal) => {
        world.service.add({ colour, size: 1 });
        return create(spec, signal);
      },
    };
  }

  it("stops where several could be it, and names them: nothing is guessed", async () => {
    const world = toyWorld({ faults: [lost] });
    const { steps } = await world.run({ a: { colour: "red" } }, { driver: beside(world, "red") });
    expect(steps).toMatchObject([{ result: "failed" }]);
    expect(steps[0]?.message).toMatch(/nothing tells which of the new objects are theirs: toy-1, toy-2$/);
    expect(steps[0]?.hint).toBe(
      "look at them, then bind each: graphform import toys.a ID; or, if none of them is its object: graphform state rm toys.a",
    );
    expect(Object.keys((await world.state()).intents)).toEqual(["toys.a"]);
    const doubt = { code: "create-in-doubt", message: steps[0]?.message, lift: steps[0]?.hint };
    for (const made of [
      await world.plan({ a: { colour: "red" } }),
      (await world.run({ a: { colour: "red" } })).plan,
    ])
      expect(made.changes.map(({ blocked }) => blocked)).toEqual([[doubt]]);
    const later = await world.run({ a: { colour: "red" }, b: { colour: "red" } });
    expect(later.steps.map(({ result }) => result)).toEqual(["blocked", "blocked"]);
    expect(later.steps[1]?.message).toContain("nothing would tell its object from that of toys.a");
    expect(world.service.writes("create")).toHaveLength(1);
  });

  it("remembers a protection that is declared while the create is in doubt", async () => {
    const world = toyWorld({ faults: [lost] });
    await world.run({ a: { colour: "red" } }, { driver: beside(world, "red") });
    const declared = { spec: { colour: "red" }, lifecycle: { protect: true } };
    const { steps } = await world.run({ a: declared });
    expect(steps.map(({ operation, result }) => [operation, result])).toEqual([
      ["bind", "done"],
      ["create", "blocked"],
    ]);
    expect((await world.state()).intents["toys.a"]?.protect).toBe(true);
    expect((await world.run({ a: declared })).steps).toHaveLength(1);
  });

  it("is held back once nothing declares it any more, with the ways on", async () => {
    const world = toyWorld({ faults: [lost] });
    await world.run({ a: { colour: "red" }, b: { colour: "blue" } }, { driver: beside(world, "red") });
    const { plan, steps } = await world.run({ b: { colour: "blue" } });
    expect(plan.changes.find(({ address }) => address === "toys.a")).toMatchObject({
      action: "forget",
      reason: "no longer declared, and nothing shows what its create has made",
      blocked: [
        { code: "create-in-doubt", lift: expect.stringContaining("graphform state rm toys.a; import needs") },
      ],
    });
    expect(steps).toMatchObject([{ address: "toys.a", result: "blocked" }]);
    expect(Object.keys((await world.state()).intents)).toEqual(["toys.a"]);
  });

  it("holds up nothing but what could be taken for it, in later runs as in the first", async () => {
    const kind = { classKey: (spec: JsonObject) => String(spec["size"] ?? 1) };
    const world = toyWorld({ kind });
    await world.run({ old: { colour: "blue", size: 2 } });
    world.service.fault(lost);
    const wanted: Toys = { old: { colour: "blue", size: 2 }, a: { colour: "red" } };
    await world.run(wanted, { driver: beside(world, "red") });
    const more: Toys = { ...wanted, old: { colour: "pink", size: 2 }, c: { colour: "red", size: 3 } };
    const { steps } = await world.run(more);
    expect(Object.fromEntries(steps.map(({ address, result }) => [address, result]))).toEqual({
      "toys.a": "blocked",
      "toys.c": "done",
      "toys.old": "done",
    });
    const { steps: removed } = await world.run(more, {
      destroying: true,
      options: { targets: ["toys.old"] },
    });
    expect(removed.map(({ result }) => result)).toEqual(["done"]);
    expect(Object.keys((await world.state()).intents)).toEqual(["toys.a"]);
  });

  it("does not send another of its class from a plan that was saved before", async () => {
    const world = toyWorld({ faults: [lost] });
    const pair: Toys = { a: { colour: "red" }, b: { colour: "red" } };
    const saved = await world.plan(pair);
    await world.run({ a: { colour: "red" } }, { driver: beside(world, "red") });
    const steps = await world.apply(saved, pair);
    expect(steps.map(({ result }) => result)).toEqual(["stale", "failed"]);
    expect(world.service.writes("create")).toHaveLength(1);
  });

  it.each(["lost-before", "lost-after"] as const)(
    "%s, and the service lists only a part: nothing is made again",
    async (effect) => {
      const world = toyWorld({ faults: [{ on: "create", effect }] });
      const driver: Driver = { ...world.service, list: async () => [], isPartial: () => true };
      const { steps } = await world.run({ a: { colour: "red" } }, { driver });
      expect(steps).toMatchObject([
        { result: "failed", message: expect.stringContaining("lists only a part of what it has") },
      ]);
      expect(Object.keys((await world.state()).intents)).toEqual(["toys.a"]);
      expect(world.service.writes("create")).toHaveLength(1);
    },
  );

  it("by what they show", async () => {
    const world = toyWorld({ faults: [lost] });
    const { certificate } = await world.run({ a: { colour: "red" } }, { driver: beside(world, "black") });
    expect(certificate).toEqual([]);
    expect((await world.state()).resources["toys.a"]?.id).toBe("toy-2");
  });

  it("not by another of the same place that is only listed yet", async () => {
    const world = toyWorld({ faults: [lost, lost], listLag: 4000, describeLag: 15_000, latency: 3000 });
    const pair: Toys = { a: { colour: "red", size: 1 }, b: { colour: "blue", size: 2 } };
    expect((await world.run(pair)).certificate).toEqual([]);
    await expectExactly(world, pair);
  });

  it.each<[string, Toys, { readonly [path: string]: Json }]>([
    [
      "a reference, which is a name here and an id there",
      { house: { colour: "red" }, a: { colour: "black", home: "house" } },
      {},
    ],
    ["a verb that is still to come", { a: { colour: "black", power: "stopped" } }, {}],
    ["a size in another spelling", { a: { colour: "black", memory: "6GB" } }, { memory: "6144MB" }],
    ["a default that the service chose otherwise", { a: { colour: "black" } }, { size: 3 }],
  ])("whatever its fields show: %s", async (_, wanted, shown) => {
    const world = toyWorld({ work: 0, faults: [lost, lost] });
    const respelled = Object.entries(shown).map(([path, value]): [string, Seen] => [
      path,
      { value, source: "described" },
    ]);
    const driver: Driver = {
      ...world.service,
      get: async (ref, signal) => {
        const live = await world.service.get(ref, signal);
        return live === undefined
          ? live
          : { ...live, spec: { ...live.spec, ...Object.fromEntries(respelled) } };
      },
    };
    await world.run(wanted, { driver });
    expect(world.service.writes("create")).toHaveLength(Object.keys(wanted).length);
    await expectExactly(world, wanted);
  });
});

describe("an object that nothing but its time tells from another's", () => {
  const options = { kind: { schema: askedSchema }, hidden: ["colour", "size"] };

  /** The answer is lost, and the create has made nothing if somebody else makes one just then. */
  function lostIn(world: ToyWorld, isTheirs: boolean): Driver {
    world.service.fault({ on: "create", effect: isTheirs ? "lost-before" : "lost-after" });
    return {
      ...world.service,
      create: (spec, signal) => {
        if (isTheirs) world.service.add({ colour: "black" });
        return world.service.create(spec, signal);
      },
    };
  }

  const refusing = async (): Promise<ProbeAnswer> => refusedAt("token");
  const silent = async (): Promise<ProbeAnswer> => unanswered("silent");
  const toy = (world: ToyWorld): Toys => ({ a: { colour: "red", token: world.seal("tell nobody") } });

  async function expectLetGo(world: ToyWorld): Promise<void> {
    const { intents, resources } = await world.state();
    expect([resources, intents["toys.a"]?.lockedOut]).toEqual([{}, ["toy-1"]]);
    const { plan } = await world.run(toy(world));
    expect(plan.changes[0]?.blocked).toMatchObject([
      { code: "create-in-doubt", message: expect.stringContaining("toy-1 (created") },
    ]);
    const destroyed = await world.run({}, { destroying: true });
    expect(destroyed.steps.map(({ result }) => result)).toEqual(["blocked"]);
    expect(world.service.all().map(({ id }) => id)).toEqual(["toy-1"]);
    expect(world.service.writes("create")).toHaveLength(1);
    expect(world.service.writes("delete")).toEqual([]);
  }

  it("is let go of and named if it refuses the declared login, and stays another's in later runs", async () => {
    const world = toyWorld(options);
    const driver: Driver = { ...lostIn(world, true), probe: refusing };
    const { steps } = await world.run(toy(world), { driver });
    expect(steps).toMatchObject([
      {
        result: "failed",
        message: expect.stringMatching(/toy-1, which was made at that time, refuses the declared login/),
        hint: expect.stringContaining("graphform import toys.a ID"),
      },
    ]);
    await expectLetGo(world);
  });

  it("is deleted by no run before one has asked it, and let go of too if only a later run gets to", async () => {
    const world = toyWorld(options);
    const spec = { colour: "red", token: world.seal("tell nobody") };
    const short = { a: { spec, timeouts: { create: 45_000 } } };
    const driver: Driver = { ...lostIn(world, true), probe: silent };
    const get: Driver["get"] = async (ref, signal) => {
      const live = await world.service.get(ref, signal);
      return live && { ...live, phase: { is: "pending", detail: "DEPLOYING" } };
    };
    expect((await world.run(short, { driver: { ...driver, get } })).steps).toMatchObject([
      { result: "converging" },
    ]);
    expect((await world.state()).resources["toys.a"]?.id).toBe("toy-1");
    const destroyed = await world.run({}, { destroying: true });
    expect(destroyed.plan.changes[0]?.blocked).toMatchObject([
      {
        code: "in-doubt",
        message: expect.stringMatching(/^toy-1 was matched to the lost create by its time alone/),
      },
    ]);
    expect((await world.state()).resources["toys.a"]?.id).toBe("toy-1");
    const later: Driver = { ...world.service, probe: refusing };
    expect((await world.run(toy(world), { driver: later })).steps).toMatchObject([{ result: "failed" }]);
    await expectLetGo(world);
  });

  it.each<[string, Partial<Driver>]>([
    ["gives no answer", { probe: silent }],
    ["takes the login", { probe: async () => ({ is: "answered", values: { token: true } }) }],
  ])("stays bound if it %s", async (_, over) => {
    const world = toyWorld(options);
    const { steps } = await world.run(toy(world), { driver: { ...lostIn(world, false), ...over } });
    expect(steps).toMatchObject([{ result: "done" }]);
    const { intents, resources } = await world.state();
    expect([intents, resources["toys.a"]?.id, resources["toys.a"]?.converging]).toEqual([
      {},
      "toy-1",
      undefined,
    ]);
  });

  it("stays bound if its id was acknowledged, whatever it refuses, with a warning", async () => {
    const world = toyWorld(options);
    const driver: Driver = { ...world.service, probe: refusing };
    expect((await world.run(toy(world), { driver })).steps).toMatchObject([{ result: "done" }]);
    expect((await world.state()).resources["toys.a"]?.ineffective).toEqual(["token"]);
    const warned = world.events.filter(({ type }) => type === "warning");
    expect(JSON.stringify(warned)).toContain("token was applied, and the database does not follow");
  });
});

describe("a service that is wrong for a moment", () => {
  const one: Toys = { a: { colour: "red" } };

  /** The world's driver with lists of its own; `nth` counts the lists since the run began. */
  function listing(
    world: ToyWorld,
    list: (shown: readonly string[], nth: number) => readonly string[],
  ): Driver {
    let nth = 0;
    return {
      ...world.service,
      list: async (place, signal) => {
        const shown = await world.service.list(place, signal);
        nth += 1;
        return list(shown, nth);
      },
    };
  }

  /** Another's toy of the same looks. */
  const another = { colour: "red", size: 1 };

  /** The message of a create that was sent once and stays open. */
  async function messageOf(world: ToyWorld, ran: Promise<Ran>): Promise<string> {
    const { steps } = await ran;
    expect(steps).toMatchObject([{ result: "failed" }]);
    expect(steps[0]?.hint).toContain("graphform import toys.a ID; or, if none of them is its object");
    expect(world.service.writes("create")).toHaveLength(1);
    const { intents, resources } = await world.state();
    expect([Object.keys(intents), resources]).toEqual([["toys.a"], {}]);
    return steps[0]?.message ?? "";
  }

  it("does not give another's object away that the list before a round lacks", async () => {
    const world = toyWorld({ faults: [{ on: "create", effect: "lost-before" }] });
    world.service.add(another);
    await world.drive(world.clock.sleep(600_000));
    const driver = listing(world, (shown, nth) => (nth === 2 ? [] : shown));
    expect(await messageOf(world, world.run(one, { driver }))).toMatch(
      /neither time nor mark .*: toy-1 \(created 2026/,
    );
  });

  it.each<[string, number, string]>([
    ["is left alone if an object of ours has shown the time of its own create", 0, "done"],
    ["is named if objects of ours show local times", -8 * 3_600_000, "failed"],
  ])("an object that is older by twenty minutes %s", async (_, offset, expected) => {
    const world = toyWorld();
    const local = async (...given: Parameters<Driver["get"]>): ReturnType<Driver["get"]> => {
      const live = await world.service.get(...given);
      if (live?.createdAt === undefined) return live;
      return { ...live, createdAt: new Date(Date.parse(live.createdAt) + offset).toISOString() };
    };
    await world.run({ b: { colour: "blue" } }, { driver: { ...world.service, get: local } });
    const theirs = world.service.add(another);
    await world.drive(world.clock.sleep(1_200_000));
    world.service.fault({ on: "create", effect: "lost-before" });
    const lists = listing(world, (shown, nth) => (nth === 2 ? shown.filter((id) => id !== theirs) : shown));
    const driver = { ...lists, get: local };
    const { steps } = await world.run({ ...one, b: { colour: "blue" } }, { driver });
    expect(steps.map(({ result }) => result)).toEqual([expected]);
    const { resources } = await world.state();
    expect(Object.values(resources).map(({ id }) => id)).not.toContain(theirs);
    expect(world.service.all()).toHaveLength(expected === "done" ? 3 : 2);
  });

  it.each<
    [string, (theirs: string, ours: string) => (shown: readonly string[], nth: number) => readonly string[]]
  >([
    [
      "lists lack what the list of the plan has shown",
      (theirs, ours) => (shown, nth) =>
        nth === 1 ? shown : shown.filter((id) => id !== theirs && id !== ours),
    ],
    [
      "lists lack what one list of the search has shown",
      (theirs, ours) => (shown, nth) => shown.filter((id) => (nth === 3 || id !== theirs) && id !== ours),
    ],
  ])("makes nothing twice if %s, and names that", async (_, views) => {
    const world = toyWorld();
    const theirs = world.service.add({ colour: "blue" });
    await world.drive(world.clock.sleep(3_600_000));
    world.service.fault({ on: "create", effect: "lost-after" });
    const driver = listing(world, views(theirs, "toy-2"));
    expect(await messageOf(world, world.run(one, { driver }))).toContain(
      `contradict each other about ${theirs}`,
    );
  });

  it("takes longer to prove that nothing was made if the list before the round has lacked an older object", async () => {
    const world = toyWorld();
    const theirs = world.service.add({ colour: "blue" });
    await world.drive(world.clock.sleep(3_600_000));
    const from = world.clock.now();
    world.service.fault({ on: "create", effect: "lost-after" });
    const hidden = toyProfile.timing.listLag + 4 * toyProfile.timing.settle;
    const driver = listing(world, (shown, nth) =>
      shown.filter(
        (id) => (nth > 2 || id !== theirs) && (id !== "toy-2" || world.clock.now() > from + hidden),
      ),
    );
    expect((await world.run(one, { driver })).steps).toMatchObject([{ result: "done" }]);
    expect(world.service.writes("create")).toHaveLength(1);
  });

  it("does not give another's object away that was made after the answer was lost", async () => {
    const world = toyWorld({ faults: [{ on: "create", effect: "lost-before" }] });
    const ran = world.drive(
      Promise.all([world.begin(one), world.clock.sleep(20_000).then(() => world.service.add(another))]).then(
        ([done]) => done,
      ),
    );
    expect(await messageOf(world, ran)).toMatch(/neither time nor mark .*: toy-1 \(created 2026/);
    for (let later = 0; later < 2; later += 1) {
      const { plan } = await world.run(one);
      expect(plan.changes[0]?.blocked).toMatchObject([{ code: "create-in-doubt" }]);
      expect((await world.state()).resources).toEqual({});
    }
  });

  it("names what shows no time", async () => {
    const world = toyWorld({ faults: [{ on: "create", effect: "lost-after" }] });
    const driver: Driver = {
      ...world.service,
      get: async (ref, signal) => {
        const live = await world.service.get(ref, signal);
        const { createdAt: _, ...undated } = live ?? { createdAt: "" };
        return live === undefined ? undefined : { ...live, ...undated, createdAt: "" };
      },
    };
    expect(await messageOf(world, world.run(one, { driver }))).toMatch(/toy-1 \(of unknown age\)/);
  });

  it.each([3, 4, 5])("makes nothing twice because list %i is empty", async (empty) => {
    const world = toyWorld({ faults: [{ on: "create", effect: "lost-after" }] });
    const driver = listing(world, (shown, nth) => (nth === empty ? [] : shown));
    expect((await world.run(one, { driver })).certificate).toEqual([]);
    expect(world.service.writes("create")).toHaveLength(1);
    await expectExactly(world, one);
  });

  it("makes nothing twice while lists lack what describe shows, and says what they lack", async () => {
    const world = toyWorld();
    await world.run({ b: { colour: "blue" } });
    await world.drive(world.clock.sleep(60_000));
    world.service.fault({ on: "create", effect: "lost-after" });
    const driver = listing(world, (shown, nth) => (nth > 2 ? [] : shown));
    const { steps } = await world.run({ ...one, b: { colour: "blue" } }, { driver });
    expect(steps).toMatchObject([
      { result: "failed", message: expect.stringContaining("contradict each other about toy-1") },
    ]);
    expect(world.service.writes("create")).toHaveLength(2);
    expect(Object.keys((await world.state()).intents)).toEqual(["toys.a"]);
  });

  it("asks for nothing more than before where all is well", async () => {
    const world = toyWorld();
    await world.run(toys);
    const count = (operation: string): number =>
      world.service.log.filter((entry) => entry.operation === operation).length;
    // One list each for the plan, the round of each class, and the second plan.
    expect([count("list"), count("create")]).toEqual([4, 3]);
  });
});

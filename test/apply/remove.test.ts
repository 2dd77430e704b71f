import { describe, expect, it } from "vitest";
import { ServiceError } from "../../src/model/errors.ts";
import type { Driver } from "../../src/model/kind.ts";
import { actions } from "../support/plan-input.ts";
import { toyProfile } from "../support/toy-kind.ts";
import type { Fault, ToyServiceOptions } from "../support/toy-service.ts";
import { type Toys, type ToyWorld, type ToyWorldOptions, toyWorld } from "../support/toy-world.ts";

const both: Toys = { a: { colour: "red" }, b: { colour: "green" } };
const left: Toys = { b: { colour: "green" } };

/** Two toys that are made in peace; the faults come after. */
async function worldOfTwo(options: ToyWorldOptions = {}, toys: Toys = both): Promise<ToyWorld> {
  const { faults = [], ...rest } = options;
  const world = toyWorld(rest);
  await world.run(toys);
  await world.drive(world.clock.sleep(60_000));
  for (const fault of faults) world.service.fault(fault);
  return world;
}

const idOf = async (world: ToyWorld): Promise<string> => (await world.state()).resources["toys.a"]?.id ?? "";
const colours = (world: ToyWorld): readonly string[] =>
  world.service
    .all()
    .map((toy) => String(toy.spec["colour"]))
    .sort();

describe("a deletion", () => {
  it.each<[string, ToyServiceOptions]>([
    ["at once", { work: 0 }],
    ["in a while", {}],
    ["after the old status has shown for a while", { stale: 3000 }],
    ["slowly", { latency: 6000, work: 120_000 }],
  ])("waits until nothing is there, %s, and lets go then", async (_, options) => {
    const world = await worldOfTwo(options);
    const { steps, certificate } = await world.run(left);
    expect(steps).toMatchObject([{ operation: "delete", result: "done" }]);
    expect(certificate).toEqual([]);
    expect(world.service.writes("delete")).toHaveLength(1);
    expect(colours(world)).toEqual(["green"]);
    expect(Object.keys((await world.state()).resources)).toEqual(["toys.b"]);
  });

  it.each<Fault["effect"]>([
    "lost-before",
    "lost-after",
    "error-after",
    "nonsense",
    "busy",
    "conflict",
    "unavailable",
    "not-found",
  ])("goes through after %s", async (effect) => {
    const world = await worldOfTwo({
      faults: [{ on: "delete", effect, times: effect === "not-found" ? 1 : 3 }],
    });
    if (effect === "not-found") world.service.remove(await idOf(world));
    const { steps, certificate } = await world.run(left);
    expect(steps).toMatchObject([{ address: "toys.a", result: "done" }]);
    expect(certificate).toEqual([]);
    expect(colours(world)).toEqual(["green"]);
  });

  it.each<[string, ToyServiceOptions, Fault["effect"]]>([
    ["in a while", {}, "lost-after"],
    ["at once", { work: 0 }, "error-after"],
    ["behind an old status", { stale: 3000 }, "nonsense"],
  ])("whose every answer is lost is asked for once where it works %s", async (_, options, effect) => {
    const world = await worldOfTwo({ ...options, faults: [{ on: "delete", effect, times: 99 }] });
    const { steps, certificate } = await world.run(left);
    expect(steps).toMatchObject([{ address: "toys.a", result: "done" }]);
    expect(world.service.writes("delete")).toHaveLength(1);
    expect(certificate).toEqual([]);
  });

  it("looks again where the look after a lost answer fails", async () => {
    const world = await worldOfTwo({ work: 0 });
    world.service.fault({ on: "delete", effect: "lost-after" });
    const { service } = world;
    const failing: Driver = {
      ...service,
      delete: async (ref, signal) => {
        service.fault({ on: "get", effect: "unavailable", times: 5, target: ref.id });
        await service.delete(ref, signal);
      },
    };
    const { steps } = await world.run(left, { driver: failing });
    expect(steps).toMatchObject([{ address: "toys.a", result: "done" }]);
    expect(service.writes("delete")).toHaveLength(1);
  });

  it("of what is gone by now is done", async () => {
    const world = await worldOfTwo();
    const plan = await world.plan(left);
    world.service.remove(await idOf(world));
    expect(await world.apply(plan, left)).toMatchObject([{ operation: "delete", result: "done" }]);
    expect(Object.keys((await world.state()).resources)).toEqual(["toys.b"]);
  });

  it("of what is too young to be described still deletes it: nothing is left behind", async () => {
    const world = toyWorld({ describeLag: 20_000, latency: 50 });
    const stop = new AbortController();
    const running = world.run({ a: { colour: "red" } }, { stopping: stop.signal });
    void world.clock.sleep(1000).then(() => stop.abort(new Error("interrupted")));
    expect((await running).steps).toMatchObject([{ result: "interrupted" }]);
    const { steps } = await world.run({}, { destroying: true });
    expect(steps).toMatchObject([{ operation: "delete", result: "done" }]);
    expect(world.service.all()).toEqual([]);
    expect((await world.state()).resources).toEqual({});
  });

  it("that fails says so; the next plan asks again", async () => {
    const world = await worldOfTwo({ faults: [{ on: "delete", effect: "fails" }] });
    const { steps, certificate } = await world.run(left);
    expect(steps).toMatchObject([{ result: "failed", hint: "the next plan deletes it again" }]);
    expect(certificate).toEqual([]);
    expect((await world.run(left)).steps).toMatchObject([{ operation: "delete", result: "done" }]);
    expect(colours(world)).toEqual(["green"]);
  });

  it("of what had failed before is no failure", async () => {
    const world = await worldOfTwo({ stale: 8000 });
    world.service.change(await idOf(world), {}, "failed");
    expect((await world.run(left)).steps).toMatchObject([{ operation: "delete", result: "done" }]);
  });

  it("that was begun by an earlier run is not asked for again", async () => {
    const world = await worldOfTwo({ work: 60_000 });
    const stop = new AbortController();
    const running = world.run(left, { stopping: stop.signal });
    void world.clock.sleep(5000).then(() => stop.abort(new Error("interrupted")));
    expect((await running).steps).toMatchObject([{ result: "interrupted" }]);
    expect((await world.state()).resources["toys.a"]?.converging?.operation).toBe("delete");
    expect((await world.run(left)).steps).toMatchObject([{ operation: "delete", result: "done" }]);
    expect(world.service.writes("delete")).toHaveLength(1);
  });

  it("that was begun, and is no longer wanted, is followed by a new one", async () => {
    const world = await worldOfTwo({ work: 60_000 });
    const before = await idOf(world);
    const stop = new AbortController();
    const running = world.run(left, { stopping: stop.signal });
    void world.clock.sleep(5000).then(() => stop.abort(new Error("interrupted")));
    await running;
    const { plan, steps, certificate } = await world.run(both);
    expect(actions(plan)).toMatchObject({ a: "replace" });
    expect(steps.map(({ operation, result }) => [operation, result])).toEqual([
      ["delete", "done"],
      ["create", "done"],
    ]);
    expect(certificate).toEqual([]);
    expect(await idOf(world)).not.toBe(before);
    expect(world.service.writes("delete")).toHaveLength(1);
    expect(colours(world)).toEqual(["green", "red"]);
  });

  it("that was begun, has failed meanwhile, and is no longer wanted, is forgotten", async () => {
    const world = await worldOfTwo({ work: 60_000, faults: [{ on: "delete", effect: "fails" }] });
    const before = await idOf(world);
    const stop = new AbortController();
    void world.clock.sleep(5000).then(() => stop.abort(new Error("interrupted")));
    await world.run(left, { stopping: stop.signal });
    await world.drive(world.clock.sleep(60_000));
    world.service.change(before, {}, "ready");
    const { steps, second, certificate } = await world.run(both);
    expect(steps).toMatchObject([{ operation: "bind", result: "done" }]);
    expect({ certificate, steps: second.steps }).toEqual({ certificate: [], steps: [] });
    expect(await idOf(world)).toBe(before);
  });

  it("waits for a person, and goes on when the person is done", async () => {
    const world = await worldOfTwo({ faults: [{ on: "delete", effect: "waits" }] });
    expect((await world.run(left)).steps).toMatchObject([{ result: "waiting-for-person" }]);
    expect((await world.state()).resources["toys.a"]?.converging?.operation).toBe("delete");
    expect((await world.run(left)).steps).toMatchObject([{ operation: "delete", result: "done" }]);
    expect(colours(world)).toEqual(["green"]);
  });
});

describe("a deletion that a killed run has asked for", () => {
  it("waits for a person where it is refused until he has done his part", async () => {
    const world = await worldOfTwo();
    world.service.change(await idOf(world), {}, "waiting-for-person");
    world.service.fault({ on: "delete", effect: "conflict", times: 6 });
    const { steps, certificate } = await world.run(left);
    expect(steps).toMatchObject([
      { result: "waiting-for-person", message: expect.stringMatching(/^toy-1 waits for a person: /) },
    ]);
    expect(certificate).toEqual([]);
    expect((await world.run(left)).steps).toMatchObject([{ operation: "delete", result: "done" }]);
    expect(colours(world)).toEqual(["green"]);
  });

  it("is a failure where nobody has a part to do", async () => {
    const world = await worldOfTwo({ faults: [{ on: "delete", effect: "conflict", times: 6 }] });
    expect((await world.run(left)).steps).toMatchObject([{ result: "failed" }]);
  });
});

describe("a deletion that answers not found", () => {
  /** One that knows nothing of what it has, once, and shows nothing of it for so many looks. */
  function forgetful({ service }: ToyWorld, looks: number): Driver {
    let [left, hidden] = [1, 0];
    return {
      ...service,
      delete: async (ref, signal) => {
        left -= 1;
        if (left < 0) return service.delete(ref, signal);
        hidden = looks;
        throw new ServiceError("not-found", "delete", "there is no such toy");
      },
      get: async (ref, signal) => {
        hidden -= 1;
        return hidden < 0 ? service.get(ref, signal) : undefined;
      },
    };
  }

  it.each([
    ["young", 0, 1],
    ["young", 0, 3],
    ["old", 600_000, 0],
    ["old", 600_000, 1],
    ["old", 600_000, 3],
  ])("is not believed of a %s object (%i ms) that is shown again after %i looks", async (_, age, looks) => {
    const world = toyWorld();
    await world.run(both);
    await world.drive(world.clock.sleep(age));
    const { steps, certificate } = await world.run(left, { driver: forgetful(world, looks) });
    expect(steps).toMatchObject([{ operation: "delete", result: "done" }]);
    expect(certificate).toEqual([]);
    expect(colours(world)).toEqual(["green"]);
  });

  it("is believed once two looks, by list and describe, prove it", async () => {
    const world = await worldOfTwo();
    const id = await idOf(world);
    const driver: Driver = {
      ...world.service,
      delete: async (ref, signal) => {
        world.service.remove(id);
        await world.service.delete(ref, signal);
      },
    };
    const asked = world.service.log.length;
    const { steps } = await world.run(left, { driver });
    expect(steps).toMatchObject([{ operation: "delete", result: "done" }]);
    const lists = world.service.log.slice(asked).filter(({ operation }) => operation === "list");
    expect(lists.length).toBeGreaterThanOrEqual(4);
    expect(Object.keys((await world.state()).resources)).toEqual(["toys.b"]);
  });

  it("lets nothing go while the lists lack what describe shows", async () => {
    const world = await worldOfTwo();
    const id = await idOf(world);
    let isOver = false;
    const driver: Driver = {
      ...world.service,
      delete: async () => {
        isOver = true;
        throw new ServiceError("not-found", "delete", "there is no such toy");
      },
      get: async (ref, signal) => (isOver && ref.id === id ? undefined : world.service.get(ref, signal)),
      list: async (place, signal) => (isOver ? [] : world.service.list(place, signal)),
    };
    const { steps } = await world.run(left, { driver });
    expect(steps).toMatchObject([{ operation: "delete", result: "failed" }]);
    expect(steps[0]?.message).toContain("nothing proves that toys.a (toy-1) is gone");
    expect(steps[0]?.hint).toContain("graphform state rm toys.a");
    expect(Object.keys((await world.state()).resources)).toEqual(["toys.a", "toys.b"]);
  });
});

it("a deletion that the service takes asks for no list and waits no longer than before", async () => {
  const world = await worldOfTwo({ work: 0, latency: 10 });
  const asked = world.service.log.length;
  const { steps } = await world.run(left);
  expect(steps[0]?.elapsed).toBeLessThan(1000);
  const operations = world.service.log.slice(asked).map(({ operation }) => operation);
  // The plan, the look before and after the deletion, and the second plan.
  expect(operations.filter((operation) => operation === "list")).toHaveLength(2);
  expect(operations.filter((operation) => operation === "get")).toHaveLength(5);
});

/** Lists of a driver that are empty after the first so many. */
function emptyAfter({ list }: Driver, full: number): Driver["list"] {
  let nth = 0;
  return async (place, signal) => {
    nth += 1;
    return nth > full ? [] : list(place, signal);
  };
}

/** The service makes backups of its own, and they tell nothing of the one that was asked for. */
const automatic: Driver["backups"] = async () => [
  { id: "backup-0", is: "completed", detail: "COMPLETE", isAutomatic: true },
];

describe("a saved plan that deletes", () => {
  it.each<[string, Toys]>([
    ["is protected", { a: { spec: { colour: "red" }, lifecycle: { protect: true } } }],
    ["is to be backed up", { a: { spec: { colour: "red" }, lifecycle: { onDelete: "backup" } } }],
    ["is to be kept", { a: { spec: { colour: "red" }, lifecycle: { onDelete: "retain" } } }],
  ])("what %s since is stale, and nothing is deleted", async (_, guarded) => {
    const world = await worldOfTwo();
    const plan = await world.plan(left);
    await world.run({ ...both, ...guarded });
    expect(await world.apply(plan, left)).toMatchObject([
      { operation: "delete", result: "stale", message: expect.stringContaining("guards") },
    ]);
    expect(world.service.writes("delete")).toEqual([]);
  });

  it("what has the guards that it had is carried out", async () => {
    const world = await worldOfTwo();
    const plan = await world.plan(left);
    await world.run(both);
    expect(await world.apply(plan, left)).toMatchObject([{ operation: "delete", result: "done" }]);
  });
});

describe("a backup before the deletion", () => {
  const kept: Toys = { ...both, a: { spec: { colour: "red" }, lifecycle: { onDelete: "backup" } } };

  it("comes first", async () => {
    const world = await worldOfTwo({}, kept);
    const { steps } = await world.run(left);
    expect(steps).toMatchObject([
      { operation: "backup", result: "done", message: "backup backup-1 is complete" },
      { operation: "delete", result: "done" },
    ]);
    expect(
      world.service
        .writes()
        .slice(2)
        .map(({ operation }) => operation),
    ).toEqual(["backup", "delete"]);
  });

  it("of a stopped one, which cannot be backed up, comes once it is started", async () => {
    const stopped = { spec: { colour: "red", power: "stopped" }, lifecycle: { onDelete: "backup" } } as const;
    const world = await worldOfTwo({}, { ...both, a: stopped });
    const { steps, certificate } = await world.run(left);
    expect(steps.map(({ operation, result }) => [operation, result])).toEqual([
      ["operate", "done"],
      ["backup", "done"],
      ["delete", "done"],
    ]);
    expect(certificate).toEqual([]);
    const asked = world.service.writes().map(({ operation }) => operation);
    expect(asked.slice(-3)).toEqual(["start", "backup", "delete"]);
  });

  it("is not asked for of what holds no data", async () => {
    const world = toyWorld({ kind: { holdsData: false } });
    await world.run(kept);
    await world.run(left);
    const asked = world.service.writes().map(({ operation }) => operation);
    expect(asked).toEqual(["create", "create", "delete"]);
  });

  it("is not asked for of what is gone by now: the deletion is, and finds that out", async () => {
    const world = await worldOfTwo({}, kept);
    const plan = await world.plan(left);
    world.service.remove(await idOf(world));
    expect(await world.apply(plan, left)).toMatchObject([
      { operation: "backup", result: "done" },
      { operation: "delete", result: "done" },
    ]);
    expect(world.service.writes("backup")).toEqual([]);
    expect(Object.keys((await world.state()).resources)).toEqual(["toys.b"]);
  });

  /** A driver that shows nothing of an object to the first so many looks of the run's steps, and lists it all the same or not. */
  function hiding({ service }: ToyWorld, id: string, looks: number, isListed: boolean): Driver {
    let [seen, left] = [0, looks];
    const isHidden = (): boolean => seen > 1 && left > 0;
    return {
      ...service,
      get: async (ref, signal) => {
        if (ref.id === id) seen += 1;
        if (ref.id !== id || !isHidden()) return service.get(ref, signal);
        left -= 1;
        return undefined;
      },
      list: async (place, signal) =>
        (await service.list(place, signal)).filter((each) => isListed || each !== id || !isHidden()),
    };
  }

  it.each([
    [1, true],
    [1, false],
    [3, true],
    [3, false],
  ])("is made although %i looks do not show the object (listed: %s)", async (looks, isListed) => {
    const world = await worldOfTwo({}, kept);
    const driver = hiding(world, await idOf(world), looks, isListed);
    const { steps } = await world.run(left, { driver });
    expect(steps).toMatchObject([
      { operation: "backup", result: "done", message: "backup backup-1 is complete" },
      { operation: "delete", result: "done" },
    ]);
    expect(world.service.writes("backup")).toHaveLength(1);
  });

  it("is not left out, and nothing is deleted, while nothing proves that the object is gone", async () => {
    const world = await worldOfTwo({}, kept);
    const driver = hiding(world, await idOf(world), 1_000_000, false);
    // Its list lacks the other one too, which describe shows.
    const { steps } = await world.run(left, { driver: { ...driver, list: emptyAfter(driver, 1) } });
    expect(steps).toMatchObject([
      { operation: "backup", result: "failed", hint: expect.stringContaining("graphform state rm toys.a") },
      { operation: "delete", result: "skipped" },
    ]);
    expect(world.service.writes("delete")).toEqual([]);
  });

  it.each<[string, Driver["backups"]]>([
    ["is listed as it was before", undefined],
    ["is one of the service's own", automatic],
  ])("that is asked for and %s is waited for, and nothing is deleted", async (_, backups) => {
    const world = await worldOfTwo({ faults: [{ on: "backup", effect: "waits" }] }, kept);
    const given = backups === undefined ? {} : { backups };
    const { steps } = await world.run(left, { driver: { ...world.service, ...given } });
    expect(steps).toMatchObject([
      { operation: "backup", result: "converging", hint: expect.stringContaining("nothing was deleted") },
      { operation: "delete", result: "skipped" },
    ]);
    expect(world.service.writes("delete")).toEqual([]);
  });

  it.each([
    ["at once: the list before it had lacked it", 0, 10_000],
    ["later", toyProfile.timing.listLag - 1, 10_000],
    ["later, and it is a day old", toyProfile.timing.listLag - 1, 86_400_000],
  ])(
    "that was made before the decision is not enough, also where it is listed after the request %s",
    async (_, late, age) => {
      const world = await worldOfTwo({}, kept);
      const begun = world.clock.now();
      const createdAt = new Date(begun - age).toISOString();
      const old = { id: "old", is: "completed", detail: "COMPLETE", isAutomatic: false, createdAt } as const;
      let lists = 0;
      const driver: Driver = {
        ...world.service,
        // It is accepted, and nothing comes of it.
        backup: async () => undefined,
        backups: async () => {
          lists += 1;
          return lists === 1 || world.clock.now() < begun + late ? [] : [old];
        },
      };
      const { steps } = await world.run(left, { driver });
      expect(steps).toMatchObject([{ operation: "backup", result: "converging" }, { operation: "delete" }]);
      expect(world.service.writes("delete")).toEqual([]);
    },
  );

  it("that an earlier run has asked for is not enough: the decision is this one's", async () => {
    const world = await worldOfTwo({ faults: [{ on: "delete", effect: "forbidden" }] }, kept);
    await world.run(left);
    await world.run(left);
    const asked = world.service.writes().map(({ operation }) => operation);
    expect(asked.slice(2)).toEqual(["backup", "delete", "backup", "delete"]);
  });

  it("is decided by one look after it is complete: neither the request nor the ordinary wait takes longer", async () => {
    const world = await worldOfTwo({ work: 150, latency: 10 }, kept);
    const asked = world.service.log.length;
    const { steps } = await world.run(left);
    expect(steps[0]?.elapsed).toBeLessThan(1000);
    const operations = world.service.log.slice(asked).map(({ operation }) => operation);
    expect(operations.indexOf("backup") - operations.indexOf("backups")).toBe(1);
  });

  it("of which nothing proves which it is is named, asked for once, and nothing is deleted", async () => {
    const world = await worldOfTwo({}, kept);
    const driver: Driver = {
      ...world.service,
      backups: async (ref, signal) =>
        ((await world.service.backups?.(ref, signal)) ?? []).map(({ createdAt: _, ...rest }) => rest),
    };
    const { steps } = await world.run(left, { driver });
    expect(steps).toMatchObject([
      { result: "failed", message: expect.stringContaining("which of these it is: backup-1") },
      { result: "skipped" },
    ]);
    expect(world.service.writes("backup")).toHaveLength(1);
    expect(world.service.writes("delete")).toEqual([]);
  });

  it("of a service that shows no times is told from older ones by two lists before it", async () => {
    const world = await worldOfTwo({}, kept);
    const old = { id: "old", is: "completed", detail: "COMPLETE", isAutomatic: false } as const;
    let lists = 0;
    const driver: Driver = {
      ...world.service,
      showsBackupTimes: false,
      backup: async () => undefined,
      backups: async () => {
        lists += 1;
        return lists === 1 ? [] : [old];
      },
    };
    const { steps } = await world.run(left, { driver });
    expect(steps).toMatchObject([{ operation: "backup", result: "converging" }, { operation: "delete" }]);
  });

  it.each(["lost-before", "lost-after"] as const)(
    "whose answer is lost (%s) is asked for until one is listed",
    async (effect) => {
      const world = await worldOfTwo({ faults: [{ on: "backup", effect }] }, kept);
      const { steps } = await world.run(left);
      expect(steps).toMatchObject([
        { operation: "backup", result: "done" },
        { operation: "delete", result: "done" },
      ]);
      expect(world.service.writes("backup")).toHaveLength(effect === "lost-before" ? 2 : 1);
    },
  );

  it.each<Fault["effect"]>(["fails", "invalid"])(
    "that does not succeed (%s) deletes nothing",
    async (effect) => {
      const world = await worldOfTwo({ faults: [{ on: "backup", effect }] }, kept);
      const { steps } = await world.run(left);
      expect(steps).toMatchObject([{ result: "failed" }, { result: "skipped" }]);
      expect(world.service.writes("delete")).toEqual([]);
      expect(Object.keys((await world.state()).resources)).toEqual(["toys.a", "toys.b"]);
    },
  );
});

it("a deletion that is under way is not asked for again where it is declared anew, with other guards", async () => {
  const world = await worldOfTwo({ work: 5000 });
  const stop = new AbortController();
  const running = world.run(left, { stopping: stop.signal });
  void world.clock.sleep(1000).then(() => stop.abort(new Error("interrupted")));
  expect((await running).steps).toMatchObject([{ result: "interrupted" }]);
  const anew: Toys = { ...both, a: { spec: { colour: "red" }, lifecycle: { onDelete: "backup" } } };
  const { steps } = await world.run(anew);
  expect(steps.map(({ operation, result }) => [operation, result])).toEqual([
    ["delete", "done"],
    ["create", "done"],
  ]);
  expect(world.service.writes().map(({ operation }) => operation)).toEqual([
    "create",
    "create",
    "delete",
    "create",
  ]);
});

describe("a replacement", () => {
  it("deletes, then creates, at one address", async () => {
    const world = await worldOfTwo();
    const before = await idOf(world);
    const { steps, certificate } = await world.run({ ...both, a: { colour: "red", size: 2 } });
    expect(steps.map(({ operation, result }) => [operation, result])).toEqual([
      ["delete", "done"],
      ["create", "done"],
    ]);
    expect(certificate).toEqual([]);
    expect(world.service.all().map((toy) => toy.id)).not.toContain(before);
    expect(world.service.all()).toHaveLength(2);
  });

  it("creates nothing where the deletion does not succeed", async () => {
    const world = await worldOfTwo({ faults: [{ on: "delete", effect: "forbidden" }] });
    const { steps } = await world.run({ ...both, a: { colour: "red", size: 2 } });
    expect(steps.map(({ operation, result }) => [operation, result])).toEqual([
      ["delete", "failed"],
      ["create", "skipped"],
    ]);
    expect(world.service.all()).toHaveLength(2);
  });
});

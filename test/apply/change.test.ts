import { describe, expect, it } from "vitest";
import { ServiceError, type ServiceFailure } from "../../src/model/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Driver } from "../../src/model/kind.ts";
import type { Manifest } from "../../src/model/manifest.ts";
import { mortal } from "../support/mortal.ts";
import { moveOf } from "../support/plan-input.ts";
import type { Fault, ToyServiceOptions } from "../support/toy-service.ts";
import {
  type Declared,
  type Toys,
  type ToyWorld,
  type ToyWorldOptions,
  toyWorld,
} from "../support/toy-world.ts";

/** A world with one toy in it, made in peace; the faults come after. */
async function worldWith(spec: JsonObject, options: ToyWorldOptions = {}): Promise<ToyWorld> {
  const { faults = [], ...rest } = options;
  const world = toyWorld(rest);
  await world.run({ a: spec });
  await world.drive(world.clock.sleep(60_000));
  for (const fault of faults) world.service.fault(fault);
  return world;
}

/** The service, whose next `times` looks fail once an update was sent. */
function failingLooks({ service }: ToyWorld, failure: ServiceFailure, times: number): Driver {
  let left = 0;
  return {
    ...service,
    update: async (ref, patch, signal) => {
      left = times;
      await service.update(ref, patch, signal);
    },
    get: async (ref, signal) => {
      left -= 1;
      if (left >= 0) throw new ServiceError(failure, "get", `get: ${failure}`);
      return service.get(ref, signal);
    },
  };
}

const services: readonly [string, ToyServiceOptions][] = [
  ["is quick to tell", {}],
  ["shows the old status for a while", { stale: 3000 }],
  ["is done in no time", { work: 0 }],
  ["is slow", { latency: 6000, work: 120_000 }],
];

describe("an update", () => {
  it.each(services)("sends only what changed, once, and waits for a service that %s", async (_, options) => {
    const world = await worldWith({ colour: "red", memory: "1GB" }, options);
    const { steps, certificate } = await world.run({ a: { colour: "blue", memory: "1GB" } });
    expect(steps).toMatchObject([{ operation: "update", result: "done", id: "toy-1" }]);
    expect(world.service.writes("update")).toMatchObject([{ target: "toy-1", body: { colour: "blue" } }]);
    expect(certificate).toEqual([]);
    expect((await world.state()).resources["toys.a"]).toMatchObject({
      recorded: { colour: "blue", memory: "1GB" },
    });
    expect((await world.state()).resources["toys.a"]).not.toHaveProperty("converging");
  });

  it("opens a secret for the request, and remembers its fingerprint", async () => {
    const world = await worldWith({ colour: "red" });
    const token = world.seal("tell nobody");
    const { certificate } = await world.run({ a: { colour: "red", token } });
    expect(certificate).toEqual([]);
    expect(world.service.all()[0]?.spec["token"]).toBe("tell nobody");
    expect((await world.state()).resources["toys.a"]?.recorded["token"]).toEqual(token);
  });

  const passing: readonly Fault["effect"][] = [
    ...(["lost-before", "lost-after", "error-after", "nonsense"] as const),
    ...(["busy", "conflict", "unavailable", "rate-limited"] as const),
  ];
  it.each(passing.flatMap((effect) => [1, 3].map((times) => ({ effect, times }))))(
    "goes through after $effect, $times times over, and is waited for to its end",
    async ({ effect, times }) => {
      const world = await worldWith(
        { colour: "red" },
        { stale: 3000, work: 60_000, faults: [{ on: "update", effect, times }] },
      );
      const { steps, second, certificate } = await world.run({ a: { colour: "blue" } });
      expect(steps).toMatchObject([{ result: "done" }]);
      expect(certificate).toEqual([]);
      expect(second.steps).toEqual([]);
      expect(world.service.all()).toMatchObject([{ spec: { colour: "blue" }, work: undefined }]);
    },
  );

  it.each<Fault["effect"]>(["lost-after", "error-after", "nonsense"])(
    "is not done twice because its answer was %s",
    async (effect) => {
      const fault: Fault = { on: "update", effect };
      const world = await worldWith({ colour: "red" }, { stale: 3000, work: 60_000, faults: [fault] });
      await world.run({ a: { colour: "blue" } });
      // The second one is refused, since the first is under way; there is no third.
      expect(world.service.writes("update").length).toBeLessThanOrEqual(3);
    },
  );

  const lost: Fault = { on: "update", effect: "lost-after", times: 99 };
  it.each<[string, ToyServiceOptions]>([
    ["its status shows", { work: 60_000 }],
    ["its field shows", { work: 0 }],
    ["the modification time shows", { work: 500, stale: 3000, hidden: ["colour"] }],
  ])("whose every answer is lost is sent once where %s that it was done", async (_, options) => {
    const world = await worldWith({ colour: "red" }, { ...options, faults: [lost] });
    const { steps, certificate } = await world.run({ a: { colour: "blue" } });
    expect(steps).toMatchObject([{ result: "done" }]);
    expect(world.service.writes("update")).toHaveLength(1);
    expect(world.service.all()).toMatchObject([{ spec: { colour: "blue" } }]);
    expect((await world.state()).resources["toys.a"]?.recorded["colour"]).toBe("blue");
    expect(certificate).toEqual([]);
  });

  it("of a secret that nothing tells of is sent twice at most, and is unknown then", async () => {
    const world = await worldWith({ colour: "red" }, { faults: [{ ...lost, effect: "lost-before" }] });
    const token = world.seal("tell nobody");
    const { steps } = await world.run({ a: { colour: "red", token } });
    expect(steps).toMatchObject([
      { result: "failed", message: expect.stringContaining("it is not known whether this was done") },
    ]);
    expect(world.service.writes("update")).toHaveLength(2);
    expect((await world.state()).resources["toys.a"]?.recorded["token"]).toBeUndefined();
    expect((await world.plan({ a: { colour: "red", token } })).changes).toMatchObject([{ action: "update" }]);
  });

  it("is not taken for done because somebody else has changed another field meanwhile", async () => {
    const world = await worldWith(
      { colour: "red", memory: "1GB" },
      { faults: [{ ...lost, effect: "lost-before" }] },
    );
    void world.clock.sleep(400).then(() => world.service.change("toy-1", { memory: "2GB" }));
    const { steps } = await world.run({ a: { colour: "red", token: world.seal("tell nobody") } });
    expect(steps).toMatchObject([{ result: "failed" }]);
    expect((await world.state()).resources["toys.a"]?.recorded["token"]).toBeUndefined();
  });

  it("is not taken for done because somebody has stopped it meanwhile", async () => {
    const world = await worldWith({ colour: "red" });
    const { service } = world;
    const stopped: Driver = {
      ...service,
      update: async (ref, _body, signal) => {
        await service.operate(ref, "stop", signal);
        throw new ServiceError("lost", "toy.update", "cut off", { mayHaveWorked: true });
      },
    };
    const wanted = { a: { colour: "red", token: world.seal("tell nobody") } };
    const { steps } = await world.run(wanted, { driver: stopped });
    expect(steps).toMatchObject([{ result: "failed", message: expect.stringContaining("did not ask") }]);
    expect((await world.state()).resources["toys.a"]?.recorded["token"]).toBeUndefined();
  });

  it.each<ServiceFailure>(["unavailable", "lost", "shape", "rate-limited"])(
    "whose answer is lost is looked for again where the look fails: %s",
    async (failure) => {
      const world = await worldWith({ colour: "red" }, { work: 0 });
      world.service.fault({ on: "update", effect: "lost-after" });
      const driver = failingLooks(world, failure, 4);
      const { steps, certificate } = await world.run({ a: { colour: "blue" } }, { driver });
      expect(steps).toMatchObject([{ result: "done" }]);
      expect(world.service.writes("update")).toHaveLength(1);
      expect(certificate).toEqual([]);
    },
  );

  it.each([
    ["is waited for past two looks in a row that are forbidden", 2, "done"],
    ["ends at the third look that is forbidden", 3, "failed"],
  ])("%s", async (_, times, result) => {
    const world = await worldWith({ colour: "red" });
    const { steps } = await world.run(
      { a: { colour: "blue" } },
      { driver: failingLooks(world, "forbidden", times) },
    );
    expect(steps).toMatchObject([{ result }]);
    expect(world.service.writes("update")).toHaveLength(1);
  });

  it.each([
    ["is waited for while its values are shown later than its end, within the settling time of 5 s", 4000, 0],
    ["is not as declared once that time is over and another value is still shown", 60_000, 1],
  ])("%s", async (_, late, left) => {
    const world = await worldWith({ colour: "red" }, { work: 0 });
    const { service, clock } = world;
    let from = Number.POSITIVE_INFINITY;
    const driver: Driver = {
      ...service,
      update: async (ref, patch, signal) => {
        await service.update(ref, patch, signal);
        from = clock.now() + late;
      },
      get: async (ref, signal) => {
        const live = await service.get(ref, signal);
        const isOld = from < Number.POSITIVE_INFINITY && clock.now() < from;
        const colour = { value: "red", source: "described" } as const;
        return live && isOld ? { ...live, spec: { ...live.spec, colour } } : live;
      },
    };
    const { certificate } = await world.run({ a: { colour: "blue" } }, { driver });
    expect(certificate).toHaveLength(left);
    expect(service.writes("update")).toHaveLength(1);
  });

  it("is unknown where no look succeeds any more, and the next run finds out", async () => {
    const world = await worldWith({ colour: "red" }, { work: 0 });
    world.service.fault({ on: "update", effect: "lost-after" });
    const toys: Toys = { a: { spec: { colour: "blue" }, timeouts: { update: 60_000 } } };
    const planned = await world.plan(toys);
    const steps = await world.apply(planned, toys, { driver: failingLooks(world, "unavailable", 999) });
    expect(steps).toMatchObject([
      { result: "converging", message: expect.stringContaining("it is not known whether this was done") },
    ]);
    expect((await world.state()).resources["toys.a"]?.recorded["colour"]).toBeUndefined();
    const next = await world.run(toys);
    expect(next.certificate).toEqual([]);
    expect(world.service.writes("update")).toHaveLength(1);
    expect((await world.state()).resources["toys.a"]).not.toHaveProperty("converging");
  });

  it.each<Fault["effect"]>(["invalid", "forbidden"])("is not sent again after %s", async (effect) => {
    const world = await worldWith({ colour: "red" }, { faults: [{ on: "update", effect }] });
    const { steps } = await world.run({ a: { colour: "blue" } });
    expect(steps).toMatchObject([{ result: "failed", message: `update: refused (${effect})` }]);
    expect(world.service.writes("update")).toHaveLength(1);
  });

  it("is given up where the service refuses it again and again", async () => {
    const world = await worldWith(
      { colour: "red" },
      { faults: [{ on: "update", effect: "conflict", times: 99 }] },
    );
    const { steps } = await world.run({ a: { colour: "blue" } });
    expect(steps).toMatchObject([{ result: "failed" }]);
    expect(world.service.writes("update").length).toBeLessThan(10);
  });

  it.each([0, 3000])("waits for what somebody else is doing, which shows after %i ms", async (stale) => {
    const world = await worldWith({ colour: "red" }, { work: 60_000, stale });
    const signal = new AbortController().signal;
    await world.drive(world.service.operate({ id: "toy-1", place: {} }, "restart", signal));
    const { steps, second, certificate } = await world.run({ a: { colour: "blue" } });
    expect(steps).toMatchObject([{ operation: "update", result: "done" }]);
    expect(certificate).toEqual([]);
    expect(second.steps).toEqual([]);
    expect(world.service.writes("update").length === 1).toBe(stale === 0);
  });

  it("waits for it too where another object needs its output", async () => {
    const world = await worldWith({ colour: "red" }, { work: 60_000 });
    await world.drive(
      world.service.operate({ id: "toy-1", place: {} }, "restart", new AbortController().signal),
    );
    const colour = { $template: [{ $ref: "toys.a.endpoint" }] };
    const { steps } = await world.run({ a: { colour: "red" }, b: { spec: { colour }, refs: ["a"] } });
    expect(steps).toMatchObject([
      { operation: "wait", result: "done" },
      { operation: "create", result: "done" },
    ]);
    expect(world.service.all()[1]).toMatchObject({ spec: { colour: "toy-1:6379" } });
  });

  it("that fails says why, and what it has left behind is not known", async () => {
    const world = await worldWith({ colour: "red" }, { faults: [{ on: "update", effect: "fails" }] });
    const { steps, certificate } = await world.run({ a: { colour: "blue" } });
    expect(steps).toMatchObject([{ result: "failed", message: "toy-1 failed: FAILED" }]);
    expect(certificate).toEqual([]);
    expect((await world.state()).resources["toys.a"]?.recorded["colour"]).toBeUndefined();
    const again = await world.run({ a: { colour: "blue" } });
    expect(again.steps).toMatchObject([{ operation: "update", result: "done" }]);
    expect(again.certificate).toEqual([]);
  });
});

describe("a step whose ground has moved", () => {
  it.each<[string, (world: ToyWorld) => void, string]>([
    [
      "the field that differed was changed outside",
      (world) => world.service.change("toy-1", { colour: "black" }),
      "stale",
    ],
    [
      "another field was changed outside",
      (world) => world.service.change("toy-1", { memory: "9GB" }),
      "done",
    ],
    ["it was deleted outside", (world) => world.service.remove("toy-1"), "stale"],
  ])("%s: %s", async (_, meddle, result) => {
    const world = await worldWith({ colour: "red", memory: "1GB" });
    const toys = { a: { colour: "blue" } };
    const plan = await world.plan(toys);
    meddle(world);
    expect(await world.apply(plan, toys)).toMatchObject([{ result }]);
    expect(world.service.writes("update")).toHaveLength(result === "done" ? 1 : 0);
  });

  it.each<[string, Declared, Partial<Manifest>]>([
    ["a new guard", { spec: { colour: "blue" }, lifecycle: { protect: true } }, {}],
    ["its move", { spec: { colour: "blue" } }, { moved: [moveOf("a", "b")] }],
  ])("a step of the state alone, %s, does not excuse the one after it", async (_, wanted, manifest) => {
    const world = await worldWith({ colour: "red" });
    const toys = { [manifest.moved === undefined ? "a" : "b"]: wanted };
    const plan = await world.plan(toys, { manifest });
    world.service.change("toy-1", { colour: "black" });
    const results = await world.apply(plan, toys, { manifest });
    expect(results.map(({ result }) => result)).toEqual(["done", "stale"]);
    expect(world.service.writes("update")).toEqual([]);
  });

  it.each([
    ["as it was applied", "red", "done"],
    ["otherwise", "black", "stale"],
  ])("a field that shows late, %s: %s", async (_, colour, result) => {
    const hidden = ["colour"];
    const world = await worldWith({ colour: "red" }, { hidden });
    const toys = { a: { colour: "blue" } };
    const plan = await world.plan(toys);
    world.service.change("toy-1", { colour });
    hidden.pop();
    expect(await world.apply(plan, toys)).toMatchObject([{ result }]);
  });

  it("it is as it was wanted by now: nothing is sent, and that is recorded", async () => {
    const world = await worldWith({ colour: "red", memory: "1GB" });
    const toys = { a: { colour: "blue", memory: "2GB" } };
    const plan = await world.plan(toys);
    world.service.change("toy-1", { colour: "blue", memory: "2048MB" });
    expect(await world.apply(plan, toys)).toMatchObject([{ result: "done" }]);
    expect(world.service.writes("update")).toEqual([]);
    expect((await world.state()).resources["toys.a"]?.recorded).toMatchObject({
      colour: "blue",
      memory: "2GB",
    });
  });

  it("it is as it was wanted by now, but for what is never shown: it is sent", async () => {
    const world = await worldWith({ colour: "red" });
    const toys = { a: { colour: "blue", token: world.seal("tell nobody") } };
    const plan = await world.plan(toys);
    world.service.change("toy-1", { colour: "blue" });
    expect(await world.apply(plan, toys)).toMatchObject([{ result: "done" }]);
    expect(world.service.all()).toMatchObject([{ spec: { colour: "blue", token: "tell nobody" } }]);
  });

  it("what it refers to has been replaced by the step before: that is no such thing", async () => {
    const world = toyWorld();
    await world.run({ house: { colour: "red", size: 1 }, cat: { colour: "black", home: "house" } });
    const { steps, certificate } = await world.run({
      house: { colour: "red", size: 2 },
      cat: { colour: "black", home: "house" },
    });
    expect(steps.map(({ result }) => result)).toEqual(["done", "done", "done"]);
    expect(certificate).toEqual([]);
    expect(world.service.all()).toMatchObject([{ spec: { home: "toy-3" } }, { id: "toy-3" }]);
  });

  it("the field that forced a replacement is as it was wanted by now: nothing is deleted", async () => {
    const world = await worldWith({ colour: "red", size: 1 });
    const toys = { a: { colour: "red", size: 2 } };
    const plan = await world.plan(toys);
    world.service.change("toy-1", { size: 2 });
    expect((await world.apply(plan, toys)).map((step) => step.result)).toEqual(["stale", "skipped"]);
    expect(world.service.writes("delete")).toEqual([]);
  });

  it("the address has been bound to something else", async () => {
    const world = await worldWith({ colour: "red" });
    const plan = await world.plan({ a: { colour: "blue" } });
    await world.run({ a: { colour: "red", size: 2 } });
    expect(await world.apply(plan, { a: { colour: "blue" } })).toMatchObject([
      { result: "stale", message: "toys.a is bound to toy-2 now", hint: "make a new plan" },
    ]);
  });

  it.each(["operate", "backup", "forget"] as const)(
    "the address has been bound to something else, for a step that does %s",
    async (operation) => {
      const world = await worldWith({ colour: "red" });
      const { steps, ...plan } = await world.plan({ a: { colour: "blue" } });
      await world.run({ a: { colour: "red", size: 2 } });
      const before = await world.state();
      const outdated = steps.map((step) => ({ ...step, operation, verb: "stop" }));
      expect(await world.apply({ ...plan, steps: outdated }, { a: { colour: "blue" } })).toMatchObject([
        { result: "stale", message: "toys.a is bound to toy-2 now" },
      ]);
      expect((await world.state()).resources).toEqual(before.resources);
    },
  );
});

describe("power", () => {
  it.each<Fault["effect"]>(["lost-before", "lost-after", "error-after", "busy", "conflict"])(
    "is switched after %s, both ways",
    async (effect) => {
      const world = await worldWith(
        { colour: "red" },
        {
          faults: [
            { on: "stop", effect, times: 2 },
            { on: "start", effect, times: 2 },
          ],
        },
      );
      for (const power of ["stopped", "running"]) {
        const { steps, certificate } = await world.run({ a: { colour: "red", power } });
        expect(steps).toMatchObject([{ operation: "operate", result: "done" }]);
        expect(certificate).toEqual([]);
        expect((await world.plan({ a: { colour: "red", power } })).changes).toMatchObject([
          { action: "keep", drift: [] },
        ]);
      }
    },
  );

  it("is not sent to what somebody has stopped since the plan was made: it is stale", async () => {
    const world = await worldWith({ colour: "red", power: "running" });
    const wanted: Toys = { a: { colour: "blue", power: "running" } };
    const plan = await world.plan(wanted);
    world.service.change("toy-1", {}, "stopped");
    expect(await world.apply(plan, wanted)).toMatchObject([
      { result: "stale", message: expect.stringMatching(/: colour; it is stopped$/) },
    ]);
    expect(world.service.writes("update")).toEqual([]);
  });

  it("goes up for a change of what is stopped, and down again", async () => {
    const world = await worldWith({ colour: "red", power: "stopped" });
    const { steps, certificate } = await world.run({ a: { colour: "blue", power: "stopped" } });
    expect(steps.map(({ verb, operation, result }) => [verb ?? operation, result])).toEqual([
      ["start", "done"],
      ["update", "done"],
      ["stop", "done"],
    ]);
    expect(certificate).toEqual([]);
    expect(world.service.all()).toMatchObject([{ phase: "stopped", spec: { colour: "blue" } }]);
  });

  it("asks for nothing where somebody was faster", async () => {
    const world = await worldWith({ colour: "red" });
    const plan = await world.plan({ a: { colour: "red", power: "stopped" } });
    world.service.change("toy-1", {}, "stopped");
    expect(await world.apply(plan, { a: { colour: "red", power: "stopped" } })).toMatchObject([
      { result: "done" },
    ]);
    expect(world.service.writes("stop")).toEqual([]);
  });
});

describe("an update that was cut off before it was recorded", () => {
  it("is not forgotten where the manifest is taken back", async () => {
    let cut = 0;
    for (let moment = 1; moment <= 40; moment += 1) {
      const world = await worldWith({ token: "old" }, { stale: 3000, work: 1000 });
      const process = mortal(world.service, world.store, moment);
      await world.drive(Promise.race([world.begin({ a: { token: "new" } }, process), process.died]));
      cut += world.service.all()[0]?.spec["token"] === "new" ? 1 : 0;
      const { second, certificate } = await world.run({ a: { token: "old" } });
      expect(world.service.all()).toMatchObject([{ spec: { token: "old" } }]);
      expect({ certificate, steps: second.steps }).toEqual({ certificate: [], steps: [] });
    }
    expect(cut).toBeGreaterThan(3);
  });

  it("leaves everything as it was where the service surely did nothing", async () => {
    const world = await worldWith(
      { colour: "red" },
      { faults: [{ on: "update", effect: "forbidden", times: 9 }] },
    );
    const before = (await world.state()).resources["toys.a"];
    await world.run({ a: { colour: "blue" } });
    expect((await world.state()).resources["toys.a"]).toEqual(before);
  });
});

describe("what an earlier run began", () => {
  it("is believed only once its status is the new one", async () => {
    for (let moment = 1; moment <= 40; moment += 1) {
      const world = await worldWith({ colour: "red" }, { stale: 3000, work: 60_000 });
      const process = mortal(world.service, world.store, moment);
      await world.drive(Promise.race([world.begin({ a: { colour: "blue" } }, process), process.died]));
      if ((await world.state()).resources["toys.a"]?.converging === undefined) continue;
      const { steps, second, certificate } = await world.run({ a: { colour: "blue" } });
      expect(steps[0]).toMatchObject({ operation: "wait", result: "done" });
      expect(steps.every(({ result }) => result === "done")).toBe(true);
      expect(world.service.writes("update")).toHaveLength(1);
      expect({ certificate, steps: second.steps }).toEqual({ certificate: [], steps: [] });
    }
    expect.hasAssertions();
  });
});

describe("a wait that was too short", () => {
  it("ends the waiting and nothing else: the next run goes on", async () => {
    const world = toyWorld({ work: 90_000 });
    const toys = (colour: string): Parameters<ToyWorld["run"]>[0] => ({
      a: { spec: { colour }, timeouts: { create: 30_000, update: 30_000 } },
    });
    const first = await world.run(toys("red"));
    expect(first.steps).toMatchObject([
      {
        result: "converging",
        message: "toy-1 is still PENDING after the time that was allowed",
        hint: "run apply again to go on waiting",
      },
    ]);
    expect(first.certificate).toEqual([]);
    const second = await world.run(toys("red"), {});
    expect(second.steps).toMatchObject([{ operation: "wait", result: "converging" }]);
    const third = await world.run(toys("red"));
    expect(third.steps).toMatchObject([{ operation: "wait", result: "done" }]);
    expect(world.service.writes()).toHaveLength(1);
    expect(third.second.steps).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import type { StepOutcome } from "../../src/model/outcome.ts";
import type { ToyServiceOptions } from "../support/toy-service.ts";
import { type Ran, type Toys, type ToyWorld, toyWorld } from "../support/toy-world.ts";

const before: Toys = {
  changes: { colour: "red", memory: "1GB" },
  grows: { colour: "green", size: 1 },
  rests: { colour: "blue" },
  wakes: { colour: "white", power: "stopped" },
  goes: { colour: "grey" },
};
const after: Toys = {
  changes: { colour: "red", memory: "2GB" },
  grows: { colour: "green", size: 2 },
  rests: { colour: "navy", power: "stopped" },
  wakes: { colour: "white" },
  first: { colour: "gold" },
  second: { colour: "silver" },
  lodger: { colour: "black", home: "first" },
};

async function prepared(service: ToyServiceOptions): Promise<ToyWorld> {
  const world = toyWorld(service);
  await world.run(before);
  await world.drive(world.clock.sleep(60_000));
  return world;
}

/** Ctrl-C after so many ms of an apply: once, and a second time where `patience` ends. */
async function interrupt(
  world: ToyWorld,
  toys: Toys,
  ms: number,
  patience = Number.POSITIVE_INFINITY,
): Promise<Ran> {
  const [stop, abort] = [new AbortController(), new AbortController()];
  void world.clock.sleep(ms).then(() => stop.abort(new Error("interrupted")));
  if (Number.isFinite(patience)) {
    void world.clock.sleep(ms + patience).then(() => abort.abort(new Error("interrupted twice")));
  }
  return world.run(toys, { stopping: stop.signal, aborting: abort.signal });
}

async function expectFinishable(world: ToyWorld): Promise<void> {
  const { certificate, second } = await world.run(after);
  expect({ certificate, steps: second.steps }).toEqual({ certificate: [], steps: [] });
  const { resources, intents } = await world.state();
  expect(intents).toEqual({});
  expect(
    Object.values(resources)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(
    world.service
      .all()
      .map(({ id }) => id)
      .sort(),
  );
  expect(Object.keys(resources)).toHaveLength(Object.keys(after).length);
}

const services: readonly [string, ToyServiceOptions][] = [
  ["quick", {}],
  ["stale", { stale: 3000 }],
  ["slow", { latency: 2000, work: 30_000 }],
  ["late", { listLag: 8000, describeLag: 15_000 }],
];
// The first look at five toys is over within 300 ms; the last step ends in the first minute.
const moments = [400, 700, 1100, 1900, 3100, 5300, 8700, 12_100, 17_300, 25_700, 38_000, 61_000];

describe.each(services)("Ctrl-C, over a service that is %s", (_, service) => {
  it.each(moments)(
    "after %i ms: nothing new is begun, the state tells the truth, the next run finishes",
    async (ms) => {
      const world = await prepared(service);
      const told = world.clock.now() + ms;
      const ran = await interrupt(world, after, ms).catch((error: unknown) => error);
      // Requests in flight are waited for: one round trip, and a second one for the look that the test itself takes.
      expect(world.clock.now() - told).toBeLessThan(8 * (service.latency ?? 100));
      expect(world.service.writes().filter(({ at }) => at > told)).toEqual([]);
      // So early that nothing was planned yet, there is nothing to tell.
      if (ran instanceof Error) expect(ran).toMatchObject({ failure: "aborted" });
      else expect(ran).toMatchObject({ steps: expect.toSatisfy(areDoneOrInterrupted) });
      const { resources, intents } = await world.state();
      const bound = new Set(Object.values(resources).map(({ id }) => id));
      expect(world.service.all().filter(({ id }) => !bound.has(id)).length).toBeLessThanOrEqual(
        Object.keys(intents).length,
      );
      await expectFinishable(world);
    },
  );
});

function areDoneOrInterrupted(steps: readonly StepOutcome[]): boolean {
  return steps.every(({ result }) => result === "done" || result === "interrupted");
}

describe("Ctrl-C twice", () => {
  it.each(["create", "update", "delete", "stop"])(
    "lets go of a %s that hangs; the next run finishes",
    async (operation) => {
      const world = await prepared({});
      world.service.fault({ on: operation, effect: "hangs" });
      const start = world.clock.now();
      const { steps } = await interrupt(world, after, 60_000, 10_000);
      expect(world.clock.now() - start).toBeLessThan(71_000);
      expect(steps.filter((step) => step.result === "interrupted").length).toBeGreaterThan(0);
      await expectFinishable(world);
    },
  );

  it("keeps the intent of a create that nobody knows the end of", async () => {
    const world = toyWorld({ faults: [{ on: "create", effect: "hangs" }] });
    const toys = { a: { colour: "red" } };
    await interrupt(world, toys, 5000, 1000);
    expect(Object.keys((await world.state()).intents)).toEqual(["toys.a"]);
    expect((await world.run(toys)).certificate).toEqual([]);
    expect(world.service.all()).toHaveLength(1);
  });
});

import { describe, expect, it } from "vitest";
import { mortal } from "../support/mortal.ts";
import { moveOf } from "../support/plan-input.ts";
import { toyProfile } from "../support/toy-kind.ts";
import type { ToyServiceOptions } from "../support/toy-service.ts";
import { type Ran, type RunOptions, type Toys, type ToyWorld, toyWorld } from "../support/toy-world.ts";

/** Something of everything: what stays, changes, is replaced, stopped, deleted, moved, adopted, and made anew. */
const before: Toys = {
  stays: { colour: "white" },
  changes: { colour: "red", memory: "1GB" },
  grows: { colour: "green", size: 1 },
  rests: { colour: "blue" },
  goes: { colour: "grey" },
  moves: { colour: "pink" },
};
const after: Toys = {
  stays: { colour: "white" },
  changes: { colour: "red", memory: "2GB" },
  grows: { colour: "green", size: 2 },
  rests: { colour: "blue", power: "stopped" },
  moved: { colour: "rose" },
  first: { colour: "gold" },
  second: { colour: "silver" },
  lodger: { colour: "black", home: "grows" },
  found: { spec: { colour: "brown" }, importId: "toy-7" },
};
const options: RunOptions = { manifest: { moved: [moveOf("moves", "moved")] } };

/** Few looks: one is as good a moment to die as the next. */
const timing = { ...toyProfile.timing, poll: { first: 1500, longest: 6000 } };

async function prepared(service: ToyServiceOptions, seed: number): Promise<ToyWorld> {
  const world = toyWorld({ work: 4000, ...service, profile: { timing }, seed });
  await world.run(before);
  world.service.add({ colour: "brown" });
  await world.drive(world.clock.sleep(60_000));
  return world;
}

/** Runs and dies at a moment; undefined where it came to its end before that. */
async function dying(world: ToyWorld, moment: number): Promise<Ran | "died"> {
  const process = mortal(world.service, world.store, moment);
  return world.drive(Promise.race([world.begin(after, { ...options, ...process }), process.died]));
}

async function expectFinished(world: ToyWorld, { certificate, second }: Ran): Promise<void> {
  const { resources, intents } = await world.state();
  expect({ certificate, steps: second.steps, intents }).toEqual({ certificate: [], steps: [], intents: {} });
  expect(Object.keys(resources).sort()).toEqual(
    Object.keys(after)
      .map((name) => `toys.${name}`)
      .sort(),
  );
  const ids = Object.values(resources).map(({ id }) => id);
  expect(
    world.service
      .all()
      .map((toy) => toy.id)
      .sort(),
  ).toEqual([...ids].sort());
}

const services: readonly [string, ToyServiceOptions][] = [
  ["quick", {}],
  ["stale", { stale: 3000 }],
  ["late in its lists and descriptions", { listLag: 8000, describeLag: 15_000 }],
  ["slow", { latency: 3000, work: 40_000 }],
  ["forgetful", { faults: [{ on: "create", effect: "lost-after", times: 99 }] }],
];

describe("a process that dies, at every request and every write of the state", () => {
  it.each(services)("is finished by the next run, over a service that is %s", async (_, service) => {
    let moment = 1;
    for (; ; moment += 1) {
      const world = await prepared(service, 1);
      const ended = await dying(world, moment);
      if (ended !== "died") break;
      await expectFinished(world, await world.run(after, options));
    }
    expect(moment).toBeGreaterThan(100);
  });

  it("once more in the middle of that", async () => {
    expect.assertions(3 * 100);
    for (let moment = 1; moment <= 100; moment += 1) {
      const world = await prepared({ latency: 500, listLag: 4000 }, moment);
      await dying(world, moment);
      await dying(world, 1 + ((moment * 37) % 90));
      await dying(world, 1 + ((moment * 17) % 60));
      await expectFinished(world, await world.run(after, options));
    }
  });
});

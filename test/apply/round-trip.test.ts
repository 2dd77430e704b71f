import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { mortal } from "../support/mortal.ts";
import { actions } from "../support/plan-input.ts";
import { runs } from "../support/runs.ts";
import type { Fault, ToyServiceOptions } from "../support/toy-service.ts";
import { type Toys, type ToyWorld, toyWorld } from "../support/toy-world.ts";

const names = ["a", "b", "c", "d", "e"];

interface Specs {
  readonly [name: string]: JsonObject;
}

/** A manifest of a few toys, each of which may live in one that comes before it in the alphabet. */
const manifests: fc.Arbitrary<Specs> = fc
  .tuple(
    ...names.map((_, at) =>
      fc.option(
        fc.record(
          {
            size: fc.constantFrom(1, 2),
            memory: fc.constantFrom("1GB", "2GB"),
            power: fc.constantFrom("running", "stopped"),
            token: fc.constantFrom("one", "two"),
            paint: fc.constantFrom("red", "blue"),
            home: fc.nat({ max: Math.max(0, at - 1) }),
          },
          { requiredKeys: ["paint"] },
        ),
        { freq: 3 },
      ),
    ),
  )
  .map((toys) => {
    const declared = names.filter((_, at) => toys[at] !== null);
    return Object.fromEntries(
      toys.flatMap((toy, at): [string, JsonObject][] => {
        const name = names[at] ?? "";
        if (toy === null) return [];
        const { home, paint, ...rest } = toy;
        const house = home === undefined || at === 0 ? undefined : names[home];
        const lives = house !== undefined && declared.includes(house) ? { home: house } : {};
        return [[name, { ...rest, colour: `${paint} ${name}`, ...lives }]];
      }),
    );
  });

const faults: fc.Arbitrary<Fault> = fc.record({
  on: fc.constantFrom("create", "update", "delete", "start", "stop"),
  effect: fc.constantFrom("lost-before", "lost-after", "error-after", "nonsense", "busy", "unavailable"),
  times: fc.constant(1),
});

const services: fc.Arbitrary<ToyServiceOptions & { readonly seed: number }> = fc.record({
  seed: fc.nat(),
  latency: fc.constantFrom(10, 500, 3000),
  work: fc.constantFrom(0, 5000, 60_000),
  stale: fc.constantFrom(0, 3000),
  describeLag: fc.constantFrom(0, 10_000),
  listLag: fc.constantFrom(0, 8000, 20_000),
  hidden: fc.subarray(["memory", "size", "home"]),
  // Two lost answers in a row, to a change that nothing shows, are given up with: a person has to look.
  faults: fc.uniqueArray(faults, { maxLength: 3, selector: ({ on }) => on }),
});

interface Wish {
  readonly toys: Specs;
  /** What goes wrong before it is granted: the process dies at this moment, or is interrupted after so many times 300 ms. */
  readonly mishaps: readonly { readonly dies: boolean; readonly moment: number }[];
}

/** A manifest with its secrets sealed. */
function sealed(toys: Specs, world: ToyWorld): Toys {
  const seal = ({ token, ...rest }: JsonObject): JsonObject =>
    typeof token === "string" ? { ...rest, token: world.seal(`secret ${token}`) } : rest;
  return Object.fromEntries(Object.entries(toys).map(([name, spec]) => [name, seal(spec)]));
}

async function befall(world: ToyWorld, toys: Toys, destroying: boolean, { mishaps }: Wish): Promise<void> {
  for (const { dies, moment } of mishaps) {
    if (dies) {
      const process = mortal(world.service, world.store, moment);
      await world.drive(Promise.race([world.begin(toys, { destroying, ...process }), process.died]));
    } else {
      const stop = new AbortController();
      void world.clock.sleep(moment * 300).then(() => stop.abort(new Error("interrupted")));
      await world
        .run(toys, { destroying, stopping: stop.signal, aborting: stop.signal })
        .catch(() => undefined);
    }
  }
  // What was sent and never recorded may still be under way: only now is it at rest.
  if (mishaps.length > 0) await world.run(toys, { destroying });
}

async function expectGranted(wishes: readonly Wish[], world: ToyWorld): Promise<void> {
  for (const wish of wishes) {
    const toys = sealed(wish.toys, world);
    const destroying = Object.keys(toys).length === 0;
    await befall(world, toys, destroying, wish);
    const ran = await world.run(toys, { destroying });
    expect(ran.certificate).toEqual([]);
    expect(ran.steps.filter((step) => step.result !== "done")).toEqual([]);
    expect(Object.values(actions(ran.second)).filter((action) => action !== "keep")).toEqual([]);
    expect(ran.second.steps).toEqual([]);
    const { resources } = await world.state();
    const bound = Object.values(resources).map(({ id }) => id);
    expect(bound.sort()).toEqual(
      world.service
        .all()
        .map(({ id }) => id)
        .sort(),
    );
    expect(JSON.stringify([ran, resources, world.events])).not.toContain("secret ");
  }
}

const peaceful = manifests.map((toys): Wish => ({ toys, mishaps: [] }));
const mishap = fc.record({ dies: fc.boolean(), moment: fc.integer({ min: 1, max: 120 }) });
const troubled = fc.record({ toys: manifests, mishaps: fc.array(mishap, { maxLength: 3 }) });

describe("whatever is declared, and however the service behaves", () => {
  it.each([
    ["apply after apply leads there, makes nothing twice, and leaves nothing to do", peaceful],
    ["and whatever befalls the process on the way", troubled],
  ])("%s", async (_, wish) => {
    await fc.assert(
      fc.asyncProperty(services, fc.array(wish, { minLength: 1, maxLength: 3 }), (service, wishes) =>
        expectGranted(wishes, toyWorld(service)),
      ),
      { numRuns: runs(120) },
    );
  });
});

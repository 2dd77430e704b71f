import { mortal } from "../support/mortal.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { actions } from "../support/plan-input.ts";
import type { Fault, ToyServiceOptions } from "../support/toy-service.ts";
import { type Toys, toyWorld } from "../support/toy-world.ts";

const names = ["a", "b", "c", "d", "e"];

/** A manifest of a few toys, each of which may live in one that comes before it in the alphabet. */
const manifests: fc.Arbitrary<Toys> = fc
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
  faults: fc.array(faults, { maxLength: 3 }),
});

describe("whatever is declared, and however the service behaves", () => {
  it("apply after apply leads there, makes nothing twice, and leaves nothing to do", async () => {
    await fc.assert(
      fc.asyncProperty(
        services,
        fc.array(fc.tuple(manifests, fc.array(fc.integer({min:1,max:120}),{maxLength:3}), fc.boolean()), { minLength: 1, maxLength: 3 }),
        async (service, wishes) => {
          const world = toyWorld(service);
          for (const [wish, deaths, ctrl] of wishes) {
            const toys = Object.fromEntries(
              Object.entries(wish).map(([name, spec]): [string, JsonObject] => {
                const { token, ...rest } = spec as JsonObject;
                return [
                  name,
                  typeof token === "string" ? { ...rest, token: world.seal(`secret ${token}`) } : rest,
                ];
              }),
            );
            const destroying = Object.keys(toys).length === 0;
          for (const moment of deaths) {
            if (ctrl) {
              const stop = new AbortController();
              void world.clock.sleep(moment * 300).then(() => stop.abort(new Error("stop")));
              await world.run(toys, { destroying, stopping: stop.signal, aborting: stop.signal }).catch(() => undefined);
            } else {
            const process = mortal(world.service, world.store, moment);
            await world.drive(Promise.race([world.begin(toys, { destroying, ...process }), process.died]));
            }
          }
          await world.run(toys, { destroying });
          const ran = await world.run(toys, { destroying: Object.keys(toys).length === 0 });
            expect(ran.certificate).toEqual([]);
            expect(new Set(ran.steps.map((step) => step.result))).toEqual(
              new Set(ran.steps.length === 0 ? [] : ["done"]),
            );
            expect(Object.values(actions(ran.second)).filter((action) => action !== "keep")).toEqual([]);
            expect(ran.second.steps).toEqual([]);
            const { resources } = await world.state();
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
            expect(JSON.stringify([ran, resources, world.events])).not.toContain("secret ");
          }
        },
      ),
      { numRuns: 4000 },
    );
  });
});

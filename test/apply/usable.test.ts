import { describe, expect, it } from "vitest";
import type { Driver, Usable } from "../../src/model/kind.ts";
import type { Spec } from "../../src/model/spec.ts";
import { toyWorld } from "../support/toy-world.ts";

/** A world whose toys answer, from so many ms after they are ready on, as it is said here. */
function worldThat(
  answers: (since: number) => Usable["is"],
  detail = "does not answer",
): { readonly world: ReturnType<typeof toyWorld>; readonly driver: Driver; readonly tries: () => number } {
  const world = toyWorld();
  let first: number | undefined;
  let tries = 0;
  const driver: Driver = {
    ...world.service,
    usable: async (_live, spec) => {
      first ??= world.clock.now();
      tries += 1;
      expect(spec).toMatchObject({ colour: "red", token: "tell nobody" });
      const is = answers(world.clock.now() - first);
      return { is, detail: is === "usable" ? "" : detail };
    },
  };
  return { world, driver, tries: () => tries };
}

const warnings = (world: ReturnType<typeof toyWorld>): readonly string[] =>
  world.events.flatMap((event) => (event.type === "warning" ? [`${event.address}: ${event.message}`] : []));

describe("what calls itself ready", () => {
  it("is tried until it answers", async () => {
    const { world, driver, tries } = worldThat((since) => (since < 2000 ? "not-yet" : "usable"));
    const { steps } = await world.run({ a: { colour: "red", token: world.seal("tell nobody") } }, { driver });
    expect(steps).toMatchObject([{ result: "done" }]);
    expect(tries()).toBeGreaterThan(2);
    expect(warnings(world)).toEqual([]);
  });

  it("that never answers from here is a warning, after the time that the profile gives it", async () => {
    const { world, driver } = worldThat(() => "not-yet");
    const before = world.clock.now();
    const { steps, certificate } = await world.run(
      { a: { colour: "red", token: world.seal("tell nobody") } },
      { driver },
    );
    expect(steps).toMatchObject([{ result: "done" }]);
    expect(certificate).toEqual([]);
    expect(warnings(world)).toEqual(["toys.a: toy-1: does not answer"]);
    expect(world.clock.now() - before).toBeLessThan(30_000);
  });

  it("that nothing here can ever trust is a warning at once", async () => {
    const { world, driver, tries } = worldThat(() => "unknown", "its certificate is not trusted here");
    await world.run({ a: { colour: "red", token: world.seal("tell nobody") } }, { driver });
    expect(tries()).toBe(1);
    expect(warnings(world)).toEqual(["toys.a: toy-1: its certificate is not trusted here"]);
  });

  it("that nobody here can tell of is left at that", async () => {
    const { world, driver, tries } = worldThat(() => "unknown", "");
    await world.run({ a: { colour: "red", token: world.seal("tell nobody") } }, { driver });
    expect(tries()).toBe(1);
    expect(warnings(world)).toEqual([]);
  });

  it("is not tried, and is warned of, where another object shows its address: its password is for no other database", async () => {
    const { world, driver, tries } = worldThat(() => "usable");
    const toy = { colour: "red", token: world.seal("tell nobody") };
    await world.run({ a: toy }, { driver });
    const confused: Driver = {
      ...driver,
      async get(ref, signal) {
        const live = await driver.get(ref, signal);
        return live && { ...live, outputs: { ...live.outputs, endpoint: "toy-1:6379" } };
      },
    };
    await world.run({ a: toy, b: toy }, { driver: confused });
    expect(tries()).toBe(1);
    expect(warnings(world)).toEqual([
      "toys.b: toy-2: toys.a and toys.b show one address: whose database answers there is not known",
    ]);
  });

  it("is not tried where it was stopped or deleted", async () => {
    const { world, driver, tries } = worldThat(() => "usable");
    const token = world.seal("tell nobody");
    await world.run({ a: { colour: "red", token } }, { driver });
    await world.run({ a: { colour: "red", token, power: "stopped" } }, { driver });
    await world.run({}, { driver, destroying: true });
    expect(tries()).toBe(1);
  });

  it("is tried with what is known, if another value waits for what has vanished and may not be made again", async () => {
    const tried: Spec[] = [];
    const world = toyWorld({ work: 60_000 });
    const driver: Driver = {
      ...world.service,
      usable: async (_live, spec) => {
        tried.push(spec);
        return { is: "usable", detail: "" };
      },
    };
    const a = { colour: "red" };
    const colour = { $template: ["beside ", { $ref: "toys.a.id" }] };
    const b = { colour, token: world.seal("tell nobody") };
    const begun = { b: { spec: b, refs: ["a"], timeouts: { create: 1000 } } };
    expect((await world.run({ a, ...begun }, { driver })).steps).toMatchObject([
      { key: "toys.a", result: "done" },
      { key: "toys.b", result: "converging" },
    ]);
    tried.length = 0;
    world.service.remove("toy-1");
    const guarded = { driver, manifest: { guards: { maxDeletes: 0 } } };
    expect((await world.run({ a, ...begun }, guarded)).steps).toMatchObject([
      { key: "toys.a", result: "blocked" },
      { key: "toys.b#wait", result: "done" },
      { key: "toys.b", result: "blocked" },
    ]);
    expect(tried).toEqual([{ power: "running", token: "tell nobody" }]);
    expect((await world.state()).resources["toys.b"]?.converging).toBeUndefined();
  });
});

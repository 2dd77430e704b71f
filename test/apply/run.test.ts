import { describe, expect, it } from "vitest";
import { run } from "../../src/apply/run.ts";
import type { ApplyEvent } from "../../src/model/outcome.ts";
import { applyContext } from "../support/apply-context.ts";
import { moveOf, planOf, removalOf } from "../support/plan-input.ts";
import { toyService } from "../support/toy-service.ts";
import { type Toys, toyWorld } from "../support/toy-world.ts";
import { virtualClock } from "../support/virtual-clock.ts";

const inShort = (event: ApplyEvent): string => {
  if (event.type === "step-end") return `${event.outcome.address} ${event.outcome.result}`;
  return event.type === "warning" ? event.message : `${event.address} ${event.type.slice("step-".length)}`;
};

describe("the steps of a plan", () => {
  it("run side by side where nothing holds them back", async () => {
    const world = toyWorld({ work: 60_000 });
    const toys: Toys = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`t${at}`, { colour: `c${at}`, size: at }]),
    );
    const start = world.clock.now();
    await world.run(toys);
    expect(world.clock.now() - start).toBeLessThan(90_000);
  });

  it("wait for what they need, until that is ready", async () => {
    const world = toyWorld({ work: 60_000 });
    await world.run({ cat: { colour: "black", home: "house" }, house: { colour: "red" } });
    const [house, cat] = world.service.writes("create");
    expect((cat?.at ?? 0) - (house?.at ?? 0)).toBeGreaterThan(60_000);
  });

  it("are told from their beginning to their end, each once", async () => {
    const world = toyWorld();
    await world.run({ cat: { colour: "black", home: "house" }, house: { colour: "red" } });
    const told = world.events.map(inShort).filter((text) => !text.endsWith("progress"));
    expect(told).toEqual(["toys.house start", "toys.house done", "toys.cat start", "toys.cat done"]);
    expect(world.events.filter((event) => event.type === "step-start").map((event) => event.id)).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("that fail stop only what needs them", async () => {
    const world = toyWorld({ faults: [{ on: "create", effect: "invalid", target: "red" }] });
    const { steps } = await world.run({
      house: { colour: "red" },
      cat: { colour: "black", home: "house" },
      flea: { colour: "brown", home: "cat" },
      bird: { colour: "blue" },
    });
    expect(Object.fromEntries(steps.map(({ address, result }) => [address, result]))).toEqual({
      "toys.house": "failed",
      "toys.cat": "skipped",
      "toys.flea": "skipped",
      "toys.bird": "done",
    });
    expect(steps.find(({ address }) => address === "toys.cat")?.message).toBe(
      "not started: toys.house is not done",
    );
    expect(world.service.all()).toHaveLength(1);
  });

  it("that are blocked are not begun, and what needs them is blocked as well", async () => {
    const world = toyWorld();
    const house = { spec: { colour: "red", size: 1 }, lifecycle: { protect: true } };
    await world.run({ house });
    const resized = { ...house, spec: { colour: "red", size: 2 } };
    const { steps, certificate } = await world.run({
      house: resized,
      cat: { colour: "black", home: "house" },
      bird: { colour: "blue" },
    });
    expect(Object.fromEntries(steps.map(({ key, result }) => [key, result]))).toEqual({
      "toys.house#delete": "blocked",
      "toys.house": "blocked",
      "toys.cat": "blocked",
      "toys.bird": "done",
    });
    expect(steps.find(({ key }) => key === "toys.house#delete")).toMatchObject({
      message: "protected",
      hint: "--allow-destroy toys.house, or lifecycle.protect: false",
    });
    expect(certificate).toEqual([]);
    expect(world.service.writes("delete")).toEqual([]);
  });

  it("that break something in us are failures like lost answers, and not the end of the others", async () => {
    const world = toyWorld();
    const driver = {
      ...world.service,
      create: (): never => {
        throw new TypeError("boom");
      },
    };
    const { steps } = await world.run({ a: { colour: "red" } }, { driver });
    expect(steps).toMatchObject([
      { result: "failed", message: "the service lost the create of toys.a 4 times: boom" },
    ]);
    expect((await world.state()).intents).toEqual({});
  });

  it("are preceded by the mark that their plan was applied", async () => {
    const world = toyWorld();
    const { plan } = await world.run({ a: { colour: "red" } });
    expect((await world.state()).appliedPlans).toEqual([plan.fingerprint]);
    await world.run({ a: { colour: "red" } });
    expect((await world.state()).appliedPlans).toEqual([plan.fingerprint]);
  });
});

describe("after an interrupt", () => {
  it("not even a step of the state alone is begun", async () => {
    const clock = virtualClock();
    const { steps } = planOf({ a: { recorded: {} }, b: { wants: {}, has: {} } });
    const context = applyContext(clock, toyService(clock), { stopping: AbortSignal.abort() });
    expect(await clock.drive(run(steps, context))).toMatchObject([
      { operation: "forget", result: "interrupted", message: "not started" },
    ]);
  });
});

describe("steps that only the state learns of", () => {
  it("bind what is there, and change what differs", async () => {
    const world = toyWorld();
    const id = world.service.add({ colour: "red", size: 3 });
    const { steps, certificate } = await world.run({
      a: { spec: { colour: "blue", size: 3 }, importId: id, lifecycle: { protect: true } },
    });
    expect(steps.map(({ operation, result }) => [operation, result])).toEqual([
      ["bind", "done"],
      ["update", "done"],
    ]);
    expect(certificate).toEqual([]);
    expect((await world.state()).resources["toys.a"]).toMatchObject({
      id,
      protect: true,
      recorded: { colour: "blue", size: 3 },
    });
    expect(world.service.writes()).toHaveLength(1);
  });

  it("let go of what is no longer declared, and leave it as it is", async () => {
    const world = toyWorld();
    await world.run({ a: { colour: "red" }, b: { colour: "blue" } });
    const { steps, certificate } = await world.run(
      { b: { colour: "blue" } },
      { manifest: { removed: [removalOf("a", false)] } },
    );
    expect(steps).toMatchObject([{ operation: "forget", result: "done" }]);
    expect(certificate).toEqual([]);
    expect(Object.keys((await world.state()).resources)).toEqual(["toys.b"]);
    expect(world.service.all()).toHaveLength(2);
  });

  it("move a binding, and the references to it", async () => {
    const world = toyWorld({ hidden: ["home"] });
    await world.run({ house: { colour: "red" }, cat: { colour: "black", home: "house" } });
    const manifest = { moved: [moveOf("house", "villa")] };
    const { steps, certificate, second } = await world.run(
      { villa: { colour: "red" }, cat: { colour: "black", home: "villa" } },
      { manifest },
    );
    expect(steps.map(({ operation, result }) => [operation, result])).toEqual([
      ["move", "done"],
      ["bind", "done"],
    ]);
    expect(certificate).toEqual([]);
    expect(second.steps).toEqual([]);
    expect((await world.state()).resources["toys.cat"]).toMatchObject({
      refs: ["toys.villa"],
      recorded: { home: "villa" },
    });
    expect(world.service.writes()).toHaveLength(2);
  });

  it("remember a guard that came with a change, so that it outlives its block", async () => {
    const world = toyWorld();
    await world.run({ a: { colour: "red" }, b: { colour: "blue" } });
    await world.run({ a: { spec: { colour: "rose" }, lifecycle: { protect: true } }, b: { colour: "blue" } });
    const { steps } = await world.run({ b: { colour: "blue" } });
    expect(steps).toMatchObject([{ operation: "delete", result: "blocked" }]);
    expect(world.service.all()).toHaveLength(2);
  });
});

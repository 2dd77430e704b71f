import { describe, expect, it } from "vitest";
import { outcomeOf } from "../../src/apply/join-results.ts";
import { ServiceError } from "../../src/model/errors.ts";
import type { Driver } from "../../src/model/kind.ts";
import type { ProbeAnswer } from "../../src/model/probe.ts";
import { askedSchema } from "../support/toy-kind.ts";
import { type ToyWorldOptions, toyWorld } from "../support/toy-world.ts";

interface Database {
  rows: number;
  memory: string;
  accepts: boolean;
  /** Faults of the next sets, in their order. */
  faults: ("lost-before" | "lost-after" | "refused")[];
  sets: number;
}

/** A world whose toys run something that can be asked and set. */
function askedWorld(options: ToyWorldOptions = {}): {
  readonly world: ReturnType<typeof toyWorld>;
  readonly driver: Driver;
  readonly database: Database;
} {
  const world = toyWorld({ kind: { schema: askedSchema }, hidden: ["rows", "memory"], ...options });
  const database: Database = { rows: 10, memory: "1GB", accepts: true, faults: [], sets: 0 };
  const driver: Driver = {
    ...world.service,
    async update(ref, patch, signal) {
      await world.service.update(ref, patch, signal);
      if (patch["token"] !== undefined) database.accepts = true;
    },
    async probe({ spec }): Promise<ProbeAnswer> {
      if (!database.accepts && spec["token"] !== undefined)
        return { is: "refused", path: "token", reason: "it refuses the declared login" };
      return { is: "answered", values: { rows: database.rows, memory: database.memory, token: true } };
    },
    async heal({ spec }, paths) {
      expect(paths).toEqual(["rows"]);
      database.sets += 1;
      const fault = database.faults.shift();
      const lost = { mayHaveWorked: true };
      if (fault === "refused") throw new ServiceError("invalid", "set", "set: cannot be set");
      if (fault === "lost-before") throw new ServiceError("lost", "set", "set: lost", lost);
      database.rows = Number(spec["rows"]);
      if (fault === "lost-after") throw new ServiceError("lost", "set", "set: lost", lost);
    },
  };
  return { world, driver, database };
}

const toys = { a: { colour: "red", rows: 10, memory: "1GB" } };

describe("what was set by hand", () => {
  it("is set back, without the service, and the next plan is empty", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(toys, { driver });
    database.rows = 5;
    const writes = world.service.writes().length;
    const ran = await world.run(toys, { driver });
    expect(ran.steps).toMatchObject([{ operation: "heal", result: "done" }]);
    expect([database.rows, database.sets, world.service.writes().length]).toEqual([10, 1, writes]);
    expect(ran.certificate).toEqual([]);
    expect(ran.second.steps).toEqual([]);
  });

  it("is right from then on: what is set by hand later was seen right at the repair", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(toys, { driver });
    const { appliedAt } = (await world.state()).resources["toys.a"] ?? {};
    await world.drive(world.clock.sleep(60_000, new AbortController().signal));
    database.rows = 5;
    await world.run(toys, { driver });
    const bound = (await world.state()).resources["toys.a"];
    expect(bound?.appliedAt).toBe(appliedAt);
    expect(Date.parse(bound?.seenRight?.["rows"] ?? "")).toBeGreaterThanOrEqual(
      Date.parse(appliedAt ?? "") + 60_000,
    );
  });

  it.each([
    ["lost before its work", ["lost-before"], 2],
    ["lost after its work", ["lost-after"], 1],
    ["lost again and again", ["lost-before", "lost-before", "lost-after"], 3],
  ] as const)("is set back although the answer is %s", async (_, faults, sets) => {
    const { world, driver, database } = askedWorld();
    await world.run(toys, { driver });
    Object.assign(database, { rows: 5, faults: [...faults] });
    const ran = await world.run(toys, { driver });
    expect(ran.steps).toMatchObject([{ operation: "heal", result: "done" }]);
    expect([database.rows, database.sets]).toEqual([10, sets]);
  });

  it("is a failed step where the database refuses it, in the database's words", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(toys, { driver });
    Object.assign(database, { rows: 5, faults: ["refused"] });
    const { steps } = await world.run(toys, { driver });
    expect(steps).toMatchObject([{ operation: "heal", result: "failed", message: "set: cannot be set" }]);
    expect(database.sets).toBe(1);
  });

  it("is stale where it is yet another value by now, and done where it is right again", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(toys, { driver });
    database.rows = 5;
    const saved = await world.plan(toys, { driver });
    database.rows = 6;
    expect(await world.apply(saved, toys, { driver })).toMatchObject([{ result: "stale" }]);
    expect((await world.state()).appliedPlans).not.toContain(saved.fingerprint);
    database.rows = 10;
    const steps = await world.apply(saved, toys, { driver });
    expect(steps).toMatchObject([{ result: "done", unsent: true }]);
    expect(outcomeOf(steps, [], {}, [])).toMatchObject({ changed: 0, exitCode: 0 });
    expect((await world.state()).appliedPlans).toContain(saved.fingerprint);
    expect(database.sets).toBe(0);
  });

  it.each([
    [
      "cannot be reached",
      { is: "unanswered", reason: "it did not answer in time" },
      "it did not answer in time",
    ],
    [
      "may not be asked any more",
      { is: "answered", values: {}, denied: "its user may not run GRAPH.CONFIG" },
      "its user may not run GRAPH.CONFIG",
    ],
    [
      "refuses the login by now",
      { is: "refused", path: "token", reason: "it refuses the declared login" },
      "it refuses the declared login",
    ],
  ] as const)(
    "is left alone where the database %s; its plan can be applied later",
    async (_, answer, reason) => {
      const { world, driver, database } = askedWorld();
      await world.run(toys, { driver });
      database.rows = 5;
      const saved = await world.plan(toys, { driver });
      const silent: Driver = { ...driver, probe: () => Promise.resolve(answer) };
      expect(await world.apply(saved, toys, { driver: silent })).toMatchObject([
        { result: "failed", message: expect.stringContaining(`nothing was sent: ${reason}`) },
      ]);
      expect((await world.state()).appliedPlans).not.toContain(saved.fingerprint);
      expect(await world.apply(saved, toys, { driver })).toMatchObject([
        { operation: "heal", result: "done" },
      ]);
      expect((await world.state()).appliedPlans).toContain(saved.fingerprint);
      expect(database.rows).toBe(10);
    },
  );

  it("is left alone where another object shows the same address by now: the database may be that one's", async () => {
    const { world, driver, database } = askedWorld();
    const two = { ...toys, b: { colour: "blue" } };
    await world.run(two, { driver });
    database.rows = 5;
    const saved = await world.plan(two, { driver });
    const confused: Driver = {
      ...driver,
      async get(ref, signal) {
        const live = await driver.get(ref, signal);
        return live && { ...live, outputs: { ...live.outputs, endpoint: "db.example.com:6379" } };
      },
      probe: () => Promise.reject(new Error("it was asked")),
    };
    expect(await world.apply(saved, two, { driver: confused })).toMatchObject([
      { result: "failed", message: expect.stringContaining("toys.a and toys.b show one address") },
    ]);
    expect([database.sets, database.rows]).toEqual([0, 5]);
    expect((await world.run(two, { driver: confused })).plan).toMatchObject({ steps: [], complete: false });
    expect((await world.apply(saved, two, { driver })).map(({ result }) => result)).toEqual(["done"]);
  });

  it("is set back to what is declared, although the service shows another configured value by now", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(toys, { driver });
    database.rows = 5;
    const saved = await world.plan(toys, { driver });
    const reconfigured: Driver = {
      ...driver,
      async get(ref, signal) {
        const live = await driver.get(ref, signal);
        return live && { ...live, spec: { ...live.spec, rows: { value: 7, source: "described" } } };
      },
    };
    expect(await world.apply(saved, toys, { driver: reconfigured })).toMatchObject([{ result: "done" }]);
    expect(database.rows).toBe(10);
  });

  it("is read with the value that the object was made with, if the manifest declares another one and ignores that", async () => {
    const { world, driver, database } = askedWorld();
    await world.run({ a: { ...toys.a, size: 2 } }, { driver });
    database.rows = 5;
    const byItsSize: Driver = {
      ...driver,
      async probe(request, signal) {
        if (request.spec["size"] !== 2) return { is: "unanswered", reason: "it was asked as another one" };
        return driver.probe?.(request, signal) ?? { is: "not-asked", reason: "" };
      },
    };
    const declared = { spec: { ...toys.a, size: 3 }, lifecycle: { ignoreChanges: ["size"] } };
    const { steps } = await world.run({ a: declared }, { driver: byItsSize });
    expect(steps).toMatchObject([{ operation: "heal", result: "done" }]);
    expect(database.rows).toBe(10);
  });

  it("is stale where it was stopped meanwhile: it loads what is configured", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(toys, { driver });
    database.rows = 5;
    const saved = await world.plan(toys, { driver });
    const [{ id } = { id: "" }] = Object.values((await world.state()).resources);
    world.service.change(id, {}, "stopped");
    expect(await world.apply(saved, toys, { driver })).toMatchObject([
      { result: "stale", message: expect.stringContaining("it is stopped") },
    ]);
  });
});

describe("what was applied and is not shown", () => {
  it("is sent once, and not again until the manifest changes", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(toys, { driver });
    database.memory = "500MB";
    const ran = await world.run(toys, { driver });
    expect(ran.steps).toMatchObject([{ operation: "update", result: "done" }]);
    expect(ran.certificate).toEqual([]);
    expect((await world.state()).resources["toys.a"]?.ineffective).toEqual(["memory"]);
    expect(ran.second.changes[0]).toMatchObject({ action: "keep", drift: [{ path: "memory" }] });
    expect((await world.run(toys, { driver })).steps).toEqual([]);
    const other = { a: { ...toys.a, memory: "2GB" } };
    expect((await world.run(other, { driver })).steps).toMatchObject([{ operation: "update" }]);
  });

  it("is remembered while other fields are sent", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(toys, { driver });
    database.memory = "500MB";
    await world.run(toys, { driver });
    const { second } = await world.run({ a: { ...toys.a, colour: "blue" } }, { driver });
    expect((await world.state()).resources["toys.a"]?.ineffective).toEqual(["memory"]);
    expect(second.changes[0]).toMatchObject({ action: "keep" });
  });

  it("is planned, if a step has only waited for the update of an earlier run", async () => {
    const { world, driver, database } = askedWorld({ work: 60_000 });
    await world.run(toys, { driver });
    const blue = { a: { spec: { ...toys.a, colour: "blue" }, timeouts: { update: 1000 } } };
    expect((await world.run(blue, { driver })).steps).toMatchObject([{ result: "converging" }]);
    database.memory = "500MB";
    const { steps } = await world.run({ a: blue.a.spec }, { driver });
    expect(steps).toMatchObject([{ key: "toys.a#wait", result: "done" }]);
    expect((await world.state()).resources["toys.a"]?.ineffective).toBeUndefined();
  });

  it("is planned, if the step has not sent it", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(toys, { driver });
    const blue = { a: { ...toys.a, colour: "blue" } };
    const planned = await world.plan(blue, { driver });
    database.memory = "500MB";
    await world.apply(planned, blue, { driver });
    expect((await world.state()).resources["toys.a"]?.ineffective).toBeUndefined();
    expect((await world.run(blue, { driver })).steps).toMatchObject([
      { operation: "update", result: "done" },
    ]);
  });

  const beside = { $template: [{ $ref: "toys.a.id" }] };

  it("is compared with the output that a value refers to, and not with the reference", async () => {
    const { world, driver, database } = askedWorld();
    database.memory = "toy-1";
    const two = { a: { colour: "red" }, b: { spec: { colour: "red", memory: beside }, refs: ["a"] } };
    const { steps } = await world.run(two, { driver });
    expect(steps.map(({ key, result }) => [key, result])).toEqual([
      ["toys.a", "done"],
      ["toys.b", "done"],
    ]);
    expect(world.events.filter(({ type }) => type === "warning")).toEqual([]);
    expect((await world.state()).resources["toys.b"]?.ineffective).toBeUndefined();
  });

  it("is not compared while it waits for an output that has vanished", async () => {
    const { world, driver, database } = askedWorld({ work: 60_000 });
    database.memory = "toy-1";
    const spec = { colour: "red", memory: beside };
    const two = { a: { colour: "red" }, b: { spec, refs: ["a"], timeouts: { create: 1000 } } };
    await world.run(two, { driver });
    world.service.remove("toy-1");
    const { steps } = await world.run(two, { driver, manifest: { guards: { maxDeletes: 0 } } });
    expect(steps).toMatchObject([
      { key: "toys.a", result: "blocked" },
      { key: "toys.b#wait", result: "done" },
      { key: "toys.b", result: "blocked" },
    ]);
    expect(world.events.filter(({ type }) => type === "warning")).toEqual([]);
    expect((await world.state()).resources["toys.b"]?.ineffective).toBeUndefined();
  });

  it("is forgotten once an update is followed", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(toys, { driver });
    database.memory = "500MB";
    await world.run(toys, { driver });
    database.memory = "2GB";
    await world.run({ a: { ...toys.a, memory: "2GB" } }, { driver });
    expect((await world.state()).resources["toys.a"]?.ineffective).toBeUndefined();
  });
});

describe("a refused login", () => {
  const withToken = (
    world: ReturnType<typeof toyWorld>,
  ): { a: { colour: string; token: ReturnType<typeof world.seal> } } => ({
    a: { colour: "red", token: world.seal("tell nobody") },
  });

  it("is given the declared password again", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(withToken(world), { driver });
    database.accepts = false;
    const ran = await world.run(withToken(world), { driver });
    expect(ran.steps).toMatchObject([{ operation: "update", result: "done" }]);
    expect(ran.certificate).toEqual([]);
    expect(ran.plan.census).toMatchObject({
      // It was tried: a refusal is an answer.
      probed: 1,
      notProbed: [{ address: "toys.a", reason: "it refuses the declared login", refused: true }],
    });
  });

  it("that stays refused is not sent again: nothing restarts for it in every run", async () => {
    const { world, driver, database } = askedWorld();
    await world.run(withToken(world), { driver });
    const deaf: Driver = { ...driver, update: world.service.update };
    database.accepts = false;
    const ran = await world.run(withToken(world), { driver: deaf });
    expect(ran.steps).toMatchObject([{ operation: "update", result: "done" }]);
    expect(ran.certificate).toEqual([]);
    expect((await world.run(withToken(world), { driver: deaf })).steps).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import type { MigrationRules } from "../../src/model/desired.ts";
import type { KindSchema } from "../../src/model/field-schema.ts";
import { defined } from "../../src/model/json.ts";
import { kindRegistry } from "../../src/model/kind.ts";
import type { Plan, PlanOptions } from "../../src/model/plan.ts";
import type { Profile } from "../../src/model/service.ts";
import type { Migration } from "../../src/model/state.ts";
import { makePlan } from "../../src/plan/make-plan.ts";
import { actions, type Case, changeOf, moveOf, planInput, type Scene } from "../support/plan-input.ts";
import { toyKind, toyProfile, toySchema } from "../support/toy-kind.ts";

const noon = Date.UTC(2026, 0, 1, 12);
const since = "2026-01-01T00:00:00.000Z";
const rehearsed = { next: "id-a~next", at: since, bytes: 1, largest: 1, copy: 3000, verify: 1000, stall: 5 };
const next: Case = { has: { size: 2 } };

function migrating(migration: Partial<MigrationRules> = {}): Case {
  const rules = { windows: [], hold: 3600_000, ...migration };
  return { wants: { size: 2 }, has: { size: 1 }, lifecycle: { onReplace: "migrate", migration: rules } };
}

function planned(scene: Scene, known?: Partial<Migration>, options: Partial<PlanOptions> = {}): Plan {
  const input = planInput(scene, { options: { cutover: [], ...options }, now: noon });
  const migrations = { "toys.a": { phase: "hold", since, ...known } as const };
  return makePlan(known === undefined ? input : { ...input, state: { ...input.state, migrations } });
}

describe("a plan of a migration", () => {
  const asked = { cutover: ["toys.a"] };
  const open = { windows: ["11:00-13:00"] };
  it.each<[string, Partial<MigrationRules>, Partial<Migration> | undefined, Partial<PlanOptions>, number]>([
    ["apply waits for --cutover toys.a", {}, undefined, {}, 0],
    [
      "apply waits for --cutover toys.a or sat 02:00-04:00 (UTC)",
      { windows: ["sat 02:00-04:00"] },
      undefined,
      {},
      0,
    ],
    ["apply rehearses, and the next --cutover moves the data", {}, undefined, asked, 0],
    ["moves the data if it is read-only for 30 s at most", { maxReadOnly: 30_000 }, undefined, asked, 1],
    [
      "the next --cutover or sat 02:00-04:00 (UTC) moves",
      { windows: ["sat 02:00-04:00"] },
      undefined,
      asked,
      0,
    ],
    ["apply rehearses and moves the data", open, undefined, {}, 1],
    [
      "moves the data if it is read-only for 30 s at most",
      { ...open, maxReadOnly: 30_000 },
      undefined,
      {},
      1,
    ],
    ["apply waits for --cutover toys.a", {}, { rehearsed }, {}, 0],
    ["apply moves the data", {}, { rehearsed }, asked, 1],
    ["apply moves the data", open, { rehearsed }, {}, 1],
    ["apply waits for --cutover toys.a", { ...open, maxReadOnly: 1 }, { rehearsed }, {}, 0],
  ])("says: %s (%o, %o, %o)", (words, rules, known, options, replacements) => {
    const migration = known && { phase: "await-cutover" as const, ...known };
    const plan = planned({ a: migrating(rules), "a~next": next }, migration, options);
    expect(changeOf(plan, "a").reason).toContain(words);
    expect(plan.forecast.replacements).toBe(replacements);
  });

  it("shows an ignored field as the new database is made with it, and as it was made with it if it is there", () => {
    const lifecycle = { ...migrating().lifecycle, ignoreChanges: ["colour"] };
    const a: Case = { wants: { size: 2, colour: "red" }, has: { size: 1, colour: "blue" }, lifecycle };
    const shown = (made: Scene): unknown =>
      changeOf(planned({ a, ...made }), "a").fields.map(({ path, after }) => [path, after]);
    const size = ["size", 2];
    expect(shown({})).toEqual([["colour", "red"], size]);
    expect(shown({ "a~next": { has: { size: 2, colour: "green" } } })).toEqual([["colour", "green"], size]);
    expect(shown({ "a~next": { has: { size: 2, colour: "blue" } } })).toEqual([size]);
  });

  it("is blocked while the secret changes, too, by which the data is read, and promises no apply that sets it", () => {
    const refused = { address: "toys.a", reason: "no", wayOut: "apply sets it", refused: true } as const;
    const plans = ["hmac:1", "hmac:2"].map(($secret) => {
      const a = { ...migrating(), recorded: { size: 1, token: { $secret: "hmac:1" } } };
      const wants = { size: 2, token: { $secret } };
      return makePlan(planInput({ a: { ...a, wants } }, { options: { cutover: [] }, notProbed: [refused] }));
    });
    const [same, other] = plans;
    expect(plans.map((plan) => actions(plan)["a"])).toEqual(["migrate", "migrate !on-replace"]);
    const [guard] = other === undefined ? [] : changeOf(other, "a").blocked;
    expect(guard).toMatchObject({
      message: expect.stringMatching(/^token changes too/),
      lift: expect.stringMatching(/^the password first/),
    });
    expect(same?.census.notProbed).toMatchObject([{ wayOut: expect.stringMatching(/^the password first/) }]);
  });

  it("is blocked if a subscription must be named to list what is inside, and none is known", () => {
    const listed = { ...toyProfile.operations["toy.create"], query: { subscriptionId: "{subscriptionId}" } };
    const operations = { ...toyProfile.operations, "part.list": listed } as Profile["operations"];
    const properties: KindSchema["properties"] = {
      toy: { type: "string", "x-place": true, "x-reference": { section: "toys", output: "id" } },
    };
    const part = toyKind(undefined, { name: "parts", schema: { ...toySchema, properties } });
    const kinds = kindRegistry([
      toyKind(),
      { ...part, operations: { ...part.operations, list: "part.list" } },
    ]);
    const input = planInput({ a: migrating() }, { kinds, profile: { ...toyProfile, operations } });
    const guardsWith = (subscription?: string): unknown => {
      const service = { platform: "https://x", keys: {}, locations: {}, ...defined({ subscription }) };
      const plan = makePlan({ ...input, state: { ...input.state, service } });
      return changeOf(plan, "a").blocked.map(({ lift }) => lift);
    };
    expect(guardsWith()).toEqual(["set service.subscriptionId"]);
    expect(guardsWith("sub-1")).toEqual([]);
  });

  it("says that a database is stopped by a run that, as far as the state knows, has switched nothing", () => {
    const scene = { a: { ...migrating(), phase: "stopped" as const }, "a~next": next };
    const { reason } = changeOf(planned(scene, { phase: "fence" }, asked), "a");
    expect(reason).toMatch(
      /^id-a is stopped: an earlier run was closing it, and this state has no switch to toys.a~next/,
    );
    expect(planned(scene, { phase: "fence" }, asked).forecast.replacements).toBe(0);
  });

  it("knows the rehearsal of an address that is moved, and none with a new database that it replaces itself", () => {
    const scene: Scene = {
      a: { recorded: { size: 1 } },
      "a~next": { recorded: { size: 2 } },
      b: { ...migrating(), id: "id-a", recorded: false },
      "b~next": { ...next, id: "id-a~next", recorded: false },
    };
    const input = planInput(scene, {
      options: { cutover: ["toys.b"] },
      moved: [moveOf("a", "b")],
      now: noon,
    });
    const migrations = { "toys.a": { phase: "await-cutover", since, rehearsed } } as const;
    const plan = makePlan({ ...input, state: { ...input.state, migrations } });
    expect(changeOf(plan, "b").reason).toContain("apply moves the data");
    const other = planned(
      { a: migrating(), "a~next": { has: { size: 3 } } },
      { phase: "await-cutover", rehearsed },
      asked,
    );
    expect(changeOf(other, "a~next")).toMatchObject({ action: "replace", disruption: "none" });
    expect(changeOf(other, "a").reason).toContain("apply rehearses, and the next --cutover moves the data");
  });

  it("says of an old database that it deletes itself that the next plan moves the data", () => {
    const scene = { a: migrating(), "a~former": next };
    const plan = planned(scene, { heldUntil: since }, { ...asked, allowDestroy: ["toys.a~former"] });
    expect(changeOf(plan, "a").blocked[0]?.message).toBe("this plan removes toys.a~former first");
  });

  it("says the same of one that was deleted outside", () => {
    const gone = { recorded: { size: 2 } };
    const plan = planned({ a: migrating(), "a~former": gone, b: next }, { heldUntil: since }, asked);
    expect(changeOf(plan, "a~former").action).toBe("forget");
    expect(changeOf(plan, "a").blocked[0]?.message).toBe("this plan removes toys.a~former first");
  });
});

describe("a plan after a migration", () => {
  const held = { heldUntil: "2026-01-02T00:00:00.000Z" };
  const kept: Case = { wants: { size: 2 }, has: { size: 2 } };
  const guarded = kindRegistry([toyKind(undefined, { protectedByDefault: () => true })]);

  it("keeps the old database while its time lasts", () => {
    expect(actions(planned({ a: kept, "a~former": next }, held))).toEqual({ a: "keep", "a~former": "keep" });
  });

  it("says whether the old database is stopped, or runs", () => {
    const reasonOf = (phase: "ready" | "stopped"): string =>
      changeOf(planned({ a: kept, "a~former": { ...next, phase } }, held), "a~former").reason;
    expect(reasonOf("stopped")).toMatch(/it is stopped$/);
    expect(reasonOf("ready")).toMatch(/it RUNS, and takes writes that toys.a lacks: graphform toy stop/);
  });

  it("backs no old database up before it is deleted: it is stopped", () => {
    const remembered = { onDelete: "backup" as const };
    const allowed = { allowDestroy: ["toys.a~former"] };
    const plan = planned({ a: kept, "a~former": { ...next, remembered } }, held, allowed);
    expect(changeOf(plan, "a~former")).toMatchObject({ action: "delete" });
    expect(changeOf(plan, "a~former").backupFirst).toBeUndefined();
  });

  it("deletes no old database that runs without a word: it may be the one in use", () => {
    const over = { heldUntil: "2025-12-31T00:00:00.000Z" };
    const plan = (phase: "ready" | "stopped"): Plan =>
      planned({ a: kept, "a~former": { ...next, phase } }, over);
    expect(actions(plan("stopped"))["a~former"]).toBe("delete");
    expect(actions(plan("ready"))["a~former"]).toBe("delete !protect");
  });

  it("says that an old database that it deletes runs", () => {
    const plan = planned({ a: kept, "a~former": { ...next, phase: "ready" } }, held, {
      allowDestroy: ["toys.a~former"],
    });
    expect(changeOf(plan, "a~former").reason).toMatch(/lost; it RUNS, and takes writes of its own$/);
  });

  it("deletes the old database with the resource if that is not declared any more, by its guards", () => {
    const gone = { has: { size: 2 } };
    const stopped: Case = { ...next, phase: "stopped" };
    const plan = planned({ a: gone, "a~former": stopped, b: kept }, held);
    expect(actions(plan)).toEqual({ a: "delete", "a~former": "delete", b: "keep" });
    expect(changeOf(plan, "a~former")).toMatchObject({
      reason: "kept for toys.a, which is no longer declared",
      disruption: "data-loss",
    });
    const remembered = { protect: true };
    const input = planInput(
      { a: gone, "a~former": { ...stopped, remembered }, b: kept },
      { now: noon, kinds: guarded },
    );
    const migrations = { "toys.a": { phase: "hold", since, ...held } as const };
    expect(actions(makePlan({ ...input, state: { ...input.state, migrations } }))).toMatchObject({
      "a~former": "delete !protect",
    });
  });

  it("loses no data with a new database that was given up", () => {
    const plan = planned({ a: kept, "a~next": next }, { phase: "await-cutover" });
    expect(changeOf(plan, "a~next")).toMatchObject({ action: "delete", disruption: "none" });
  });

  it("loses data with one that is not proved to be a copy", () => {
    const input = planInput({ a: kept, "a~next": next }, { options: { allowDestroy: ["toys.a~next"] } });
    const guard = { code: "on-replace", message: "it may be in use", lift: "" };
    const plan = makePlan({ ...input, immovable: new Map([["toys.a~next", [guard]]]) });
    expect(changeOf(plan, "a~next")).toMatchObject({
      action: "delete",
      disruption: "data-loss",
      blocked: [],
    });
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countUnread, type DriftReport, hasDrift, type ResourceDrift } from "../../src/model/drift.ts";
import { defined, type Json } from "../../src/model/json.ts";
import { kindRegistry } from "../../src/model/kind.ts";
import type { Unmanaged } from "../../src/model/observed.ts";
import { driftReport } from "../../src/plan/drift/drift-report.ts";
import { makePlan } from "../../src/plan/make-plan.ts";
import { afterMoves } from "../../src/plan/moves.ts";
import {
  addressOf,
  type Case,
  moveOf,
  planInput,
  type Rest,
  removalOf,
  type Scene,
  somewhere,
} from "../support/plan-input.ts";
import { askedSchema, toyKind } from "../support/toy-kind.ts";

function report(scene: Scene, rest: Rest = {}, unmanaged?: readonly Unmanaged[]): DriftReport {
  return reportOf(planInput(scene, rest), unmanaged);
}

function reportOf(input: ReturnType<typeof planInput>, unmanaged?: readonly Unmanaged[]): DriftReport {
  return driftReport({
    plan: makePlan(input),
    desired: input.desired,
    bound: afterMoves(input.state, input.moved, input.kinds).resources,
    observed: input.observed,
    kinds: input.kinds,
    fieldRange: () => somewhere,
    ...defined({ unmanaged }),
  });
}

function short({ class: worst, what, fields }: ResourceDrift): string {
  const list = fields.map(
    ({ path, class: is, applied, seen }) => `${path} ${is} ${show(applied)}>${show(seen)}`,
  );
  return [`${worst} ${what}`, ...list].join("; ");
}

function show(value: Json | undefined): string {
  return value === undefined ? "-" : String(value);
}

const red = { colour: "red" };
const applied = { wants: red, has: red, recorded: red };
const sent = { operation: "update", since: "2026-01-01T00:00:00.000Z", record: { colour: "blue" } };

const rows: readonly (readonly [reason: string, toy: Case, drift: string | undefined])[] = [
  ["as it was applied", applied, undefined],
  ["changed outside", { ...applied, has: { colour: "blue" } }, "outside changed; colour outside red>blue"],
  [
    "changed outside and in the manifest, to different values",
    { ...applied, wants: { colour: "green" }, has: { colour: "blue" } },
    "outside changed; colour outside red>blue",
  ],
  [
    "changed outside, and the manifest has followed",
    { ...applied, wants: { colour: "blue" }, has: { colour: "blue" } },
    "cosmetic unimportant; colour cosmetic red>blue",
  ],
  [
    "changed in the manifest alone",
    { ...applied, wants: { colour: "blue" } },
    "ours unapplied; colour ours red>red",
  ],
  [
    "changed in the manifest, and nothing shows it",
    { wants: { colour: "blue" }, has: {}, recorded: red },
    "ours unapplied; colour ours red>-",
  ],
  ["remembered only: nobody can tell", { wants: red, has: {}, recorded: red }, undefined],
  [
    "ignoreChanges names the field",
    { ...applied, has: { colour: "blue" }, lifecycle: { ignoreChanges: ["colour"] } },
    "cosmetic unimportant; colour cosmetic red>blue",
  ],
  [
    "the manifest leaves the field out",
    { wants: {}, has: { size: 3 }, recorded: { size: 1 } },
    "cosmetic unimportant; size cosmetic 1>3",
  ],
  [
    "another spelling of the same value",
    { wants: { memory: "1GB" }, has: { memory: "1024MB" }, recorded: { memory: "1GB" } },
    "cosmetic unimportant; memory cosmetic 1GB>1024MB",
  ],
  [
    "the same number as text, as echoes are",
    { wants: { size: 1 }, has: { size: "1" }, recorded: { size: 1 } },
    undefined,
  ],
  [
    "declared since the last apply",
    { wants: { colour: "blue" }, has: red, recorded: {} },
    "ours unapplied; colour ours ->red",
  ],
  ["deleted outside", { wants: red, recorded: red }, "outside deleted"],
  [
    "stopped outside",
    { wants: { power: "running" }, has: {}, phase: "stopped", recorded: { power: "running" } },
    "outside stopped; power outside running>stopped",
  ],
  [
    "started outside",
    { wants: { power: "stopped" }, has: {}, recorded: { power: "stopped" } },
    "outside started; power outside stopped>running",
  ],
  [
    "failed",
    { wants: { power: "running" }, has: {}, phase: "failed", recorded: { power: "running" } },
    "outside failed; power outside running>failed",
  ],
  [
    "outside and in the manifest, each in a field of its own",
    { wants: { colour: "blue", size: 1 }, has: { ...red, size: 2 }, recorded: { ...red, size: 1 } },
    "outside changed; size outside 1>2; colour ours red>red",
  ],
  [
    "an update of ours is still under way",
    { wants: { colour: "blue" }, has: red, recorded: red, phase: "pending", converging: sent },
    undefined,
  ],
  [
    "an update of ours was cut off",
    {
      wants: { colour: "blue" },
      has: red,
      recorded: {},
      converging: { ...sent, record: {} },
    },
    "ours unapplied; colour ours ->red",
  ],
  [
    "a deletion of ours was under way",
    { wants: red, recorded: red, converging: { ...sent, operation: "delete", record: {} } },
    "ours unapplied",
  ],
  ["not created yet", { wants: red }, "ours unapplied"],
  ["no longer declared", { has: red, recorded: red }, "ours unapplied"],
  ["no longer declared, and gone", { recorded: red }, "cosmetic unimportant"],
  ["to be bound", { wants: red, has: red, recorded: false, importId: "x" }, "ours unapplied"],
];

describe("classes of drift", () => {
  it.each(rows)("%s", (_, toy, drift) => {
    const { resources } = report({ a: toy, b: applied });
    expect(resources.map(short)).toEqual(drift === undefined ? [] : [drift]);
  });

  it("only what changed outside matters", () => {
    for (const [reason, toy, drift] of rows)
      expect(hasDrift(report({ a: toy })), reason).toBe(drift?.startsWith("outside") === true);
  });

  it("every field that the plan calls drifted was changed outside or does not matter", () => {
    for (const [reason, toy] of rows) {
      const input = planInput({ a: toy });
      const drifted = makePlan(input).changes.flatMap(({ drift }) => drift.map(({ path }) => path));
      const fields = report({ a: toy }).resources.flatMap((resource) => resource.fields);
      const found = fields.filter((field) => field.class !== "ours").map(({ path }) => path);
      expect(found, reason).toEqual(expect.arrayContaining(drifted));
    }
  });
});

describe("a drift report", () => {
  const [applyTime, healTime] = ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"];
  const since = (toy: Case, at: readonly string[]): string | undefined => {
    const times = { appliedAt: applyTime, seenRight: Object.fromEntries(at.map((path) => [path, healTime])) };
    const input = planInput({ a: toy });
    const [key = "", bound] = Object.entries(input.state.resources)[0] ?? [];
    const state = { ...input.state, resources: bound === undefined ? {} : { [key]: { ...bound, ...times } } };
    return reportOf({ ...input, state }).resources[0]?.since;
  };

  it("says of what was set back when that was, and of several fields the earliest time", () => {
    const two = { colour: "red", size: 1 };
    const [one, both] = [{ colour: "blue" }, { colour: "blue", size: 2 }];
    const toy = { wants: two, recorded: two };
    expect(since({ ...toy, has: { ...two, ...one } }, ["colour"])).toBe(healTime);
    expect(since({ ...toy, has: { ...two, ...one } }, ["size"])).toBe(applyTime);
    expect(since({ ...toy, has: both }, ["colour"])).toBe(applyTime);
    expect(since({ ...toy, has: both }, ["colour", "size"])).toBe(healTime);
    // It was there when one of its fields was read from it.
    expect(since(toy, ["colour"])).toBe(healTime);
  });

  it("has the worst first, and says since when and where", () => {
    const { resources } = report({
      d: { ...applied, wants: { colour: "blue" } },
      c: { ...applied, has: { colour: "blue" } },
      b: { wants: red, recorded: red },
      a: { wants: {}, has: { size: 3 }, recorded: { size: 1 } },
    });
    expect(resources.map(({ address }) => address)).toEqual(["b", "c", "d", "a"].map(addressOf));
    expect(resources[1]).toMatchObject({
      since: "2025-12-01T00:00:00.000Z",
      where: somewhere,
      fields: [{ where: somewhere, source: "described", remedy: { effect: "in-place" } }],
    });
  });

  it("has what a running object shows itself, with its source and what healing it takes", () => {
    const input = planInput({ a: { wants: { rows: 3 }, has: { rows: 3 }, recorded: { rows: 3 } } });
    const observed = new Map(
      [...input.observed].map(([key, seen]) => [key, { ...seen, probed: { values: { rows: 9 } } }]),
    );
    const { resources } = driftReport({
      plan: makePlan({ ...input, observed }),
      desired: input.desired,
      bound: input.state.resources,
      observed,
      kinds: input.kinds,
      fieldRange: () => somewhere,
    });
    expect(resources.map(short)).toEqual(["outside changed; rows outside 3>9"]);
    expect(resources[0]?.fields[0]).toMatchObject({ source: "probed", remedy: { effect: "in-place" } });
  });

  it("calls fixed what a running object shows itself and no update changes", () => {
    const kinds = kindRegistry([toyKind(undefined, { schema: askedSchema })]);
    const toy = { rows: 3, memory: "1GB" };
    const input = planInput({ a: { wants: toy, has: toy, recorded: toy } }, { kinds });
    const values = { rows: 9, memory: "2GB" };
    const observed = new Map(
      [...input.observed].map(([key, seen]) => [key, { ...seen, probed: { values } }]),
    );
    const { resources } = driftReport({
      plan: makePlan({ ...input, observed }),
      desired: input.desired,
      bound: input.state.resources,
      observed,
      kinds,
      fieldRange: () => somewhere,
    });
    expect(resources[0]?.fields.map(({ path, source, fixed }) => [path, source, fixed])).toEqual([
      ["memory", "probed", undefined],
      ["rows", "probed", true],
    ]);
  });

  it("calls ours a probed value that the manifest declares by now, and the next apply sends", () => {
    const kinds = kindRegistry([toyKind(undefined, { schema: askedSchema })]);
    const old = { memory: "1GB" };
    const input = planInput({ a: { wants: { memory: "2GB" }, has: old, recorded: old } }, { kinds });
    const observed = new Map(
      [...input.observed].map(([key, seen]) => [key, { ...seen, probed: { values: { memory: "2GB" } } }]),
    );
    const { resources } = driftReport({
      plan: makePlan({ ...input, observed }),
      desired: input.desired,
      bound: input.state.resources,
      observed,
      kinds,
      fieldRange: () => somewhere,
    });
    expect(resources[0]?.fields).toMatchObject([{ path: "memory", class: "ours", declared: "2GB" }]);
  });

  it.each([
    [
      "another secret than the last apply's",
      {
        wants: { token: { $secret: "hmac-sha256:2" } },
        has: {},
        recorded: { token: { $secret: "hmac-sha256:1" } },
      },
      "the secret of this run is another one than was last applied; nothing shows which of them holds",
    ],
    [
      "what graphform itself has stopped, and the manifest wants running",
      { wants: { power: "running" }, has: {}, phase: "stopped", recorded: { power: "stopped" } },
      "left stopped by graphform itself; the manifest declares running",
    ],
  ] satisfies readonly [string, Case, string][])("calls ours %s", (_, toy, reason) => {
    const [found] = report({ a: toy }).resources;
    expect(found).toMatchObject({ class: "ours", what: "unapplied", fields: [{ class: "ours", reason }] });
  });

  it("names what could not be read, and calls itself incomplete", () => {
    const left = {
      ...planInput({ a: applied, b: applied }),
      unread: [{ address: addressOf("b"), reason: "403" }],
    };
    const { census, complete } = driftReport({
      ...left,
      plan: makePlan({ ...left, options: { ...left.options, exclude: [addressOf("b")] } }),
      bound: left.state.resources,
      unread: [...left.unread, { address: "toys", reason: "502" }],
      fieldRange: () => somewhere,
    });
    expect(complete).toBe(false);
    expect(countUnread(census)).toBe(2);
    expect(census.notChecked).toEqual([
      { address: "toys", reason: "502", failed: true },
      { address: addressOf("b"), reason: "403", failed: true },
    ]);
  });

  it("counts what was not looked at, with the reason", () => {
    const { census, complete, unchanged } = report(
      { a: applied, b: applied, c: { wants: red } },
      { options: { exclude: [addressOf("b")] } },
    );
    expect(complete).toBe(false);
    expect(census).toMatchObject({ declared: 3, checked: 1, skipped: 1 });
    expect(unchanged.map(({ address }) => address)).toEqual([addressOf("a")]);
    expect(census.notChecked).toEqual([
      { address: addressOf("b"), reason: "left out by --target or --exclude" },
      { address: addressOf("c"), reason: "does not exist yet" },
    ]);
  });

  it("names what the service does not show yet, and what is not at rest", () => {
    const { census } = report({
      a: { wants: red, has: red, phase: "pending" },
      b: { wants: red, has: {}, recorded: red, phase: "pending" },
    });
    expect([census.notChecked, census.unfinished]).toEqual([
      [{ address: addressOf("b"), reason: "the service does not show it yet" }],
      [{ address: addressOf("a"), reason: "still PENDING" }],
    ]);
  });

  it("lists what nobody declares only where that was asked for, and then it matters", () => {
    const other: Unmanaged = { kind: "toys", id: "x", place: {} };
    expect(hasDrift(report({ a: applied }, { unmanaged: [other] }))).toBe(false);
    const found = report({ a: applied }, { unmanaged: [other] }, [other]);
    expect([found.unmanaged, hasDrift(found)]).toEqual([[{ kind: "toys", id: "x" }], true]);
  });

  it("follows a moved address, and a removed one is no drift", () => {
    const moved = report({ b: applied }, { moved: [moveOf("a", "b")] });
    expect(moved.resources).toEqual([]);
    const removed = report({ a: { has: red, recorded: red } }, { removed: [removalOf("a", false)] });
    expect(hasDrift(removed)).toBe(false);
  });

  it("has no secret, whatever is shown of it", () => {
    const token = { $secret: "hmac" };
    const { resources } = report({
      a: { wants: { token: { $secret: "new" } }, has: {}, recorded: { token } },
    });
    expect(resources[0]?.fields).toEqual([
      expect.objectContaining({ path: "token", secret: true, class: "ours" }),
    ]);
  });
});

describe("any subset of changed values", () => {
  const values = { colour: ["red", "blue"], size: [1, 2], memory: ["1GB", "2GB"] } as const;
  const names = ["colour", "size", "memory"] as const;
  const everything = { colour: "red", size: 1, memory: "1GB" };

  it("is named exactly, and nothing else; without one there is no drift", () => {
    const subset = fc.record({ a: fc.subarray([...names]), b: fc.subarray([...names]) });
    fc.assert(
      fc.property(subset, (changed) => {
        const scene = Object.fromEntries(
          Object.entries(changed).map(([name, paths]): [string, Case] => [
            name,
            {
              wants: everything,
              recorded: everything,
              has: Object.fromEntries(
                names.map((path): [string, Json] => [path, values[path][paths.includes(path) ? 1 : 0]]),
              ),
            },
          ]),
        );
        const found = report(scene);
        const named = found.resources.flatMap(({ address, fields }) =>
          fields.map((field) => `${address} ${field.path} ${field.class}`),
        );
        const expected = Object.entries(changed).flatMap(([name, paths]) =>
          paths.map((path) => `${addressOf(name)} ${path} outside`),
        );
        expect([...named].sort()).toEqual(expected.sort());
        expect(hasDrift(found)).toBe(expected.length > 0);
      }),
      { numRuns: 64 },
    );
  });
});

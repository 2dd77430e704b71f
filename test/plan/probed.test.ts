import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { kindRegistry } from "../../src/model/kind.ts";
import type { Change } from "../../src/model/plan.ts";
import type { Spec } from "../../src/model/spec.ts";
import { makePlan } from "../../src/plan/make-plan.ts";
import { type Case, changeOf, planInput, type Rest } from "../support/plan-input.ts";
import { askedSchema, toyKind } from "../support/toy-kind.ts";

const kinds = kindRegistry([toyKind(undefined, { schema: askedSchema })]);

interface Probed {
  readonly [path: string]: Json;
}

function changeWith(toy: Case, values: Probed, ineffective: readonly string[] = [], rest: Rest = {}): Change {
  return changeOf(planWith(toy, values, ineffective, rest), "a");
}

function planWith(
  toy: Case,
  values: Probed,
  ineffective: readonly string[] = [],
  rest: Rest = {},
): ReturnType<typeof makePlan> {
  const input = planInput({ a: toy }, { kinds, ...rest });
  const observed = new Map([...input.observed].map(([key, seen]) => [key, { ...seen, probed: { values } }]));
  const resources = Object.fromEntries(
    Object.entries(input.state.resources).map(([key, bound]) => [key, { ...bound, ineffective }]),
  );
  return makePlan({ ...input, observed, state: { ...input.state, resources }, notProbed: [] });
}

const inShort = ({ fields }: Change): readonly string[] =>
  fields.map(({ path, before, after, effect, via }) =>
    [`${path}: ${String(before)} -> ${String(after)}`, effect, ...(via === undefined ? [] : [via])].join(
      ", ",
    ),
  );

const settled: Case = {
  wants: { rows: 10, size: 2, memory: "1GB" },
  has: { rows: 10, size: 2, memory: "1GB" },
};
const hidden: Case = { wants: { rows: 10 }, has: {}, recorded: { rows: 10 } };

interface Row {
  readonly reason: string;
  readonly toy: Case;
  readonly shows: Probed;
  readonly ineffective?: readonly string[];
  readonly action: string;
  readonly fields: readonly string[];
  readonly drift?: readonly string[];
}

const rows: readonly Row[] = [
  {
    reason: "all as declared",
    toy: settled,
    shows: { rows: 10, size: 2, memory: "1GB" },
    action: "keep",
    fields: [],
  },
  {
    reason: "set by hand while it runs",
    toy: settled,
    shows: { rows: 5 },
    action: "update",
    fields: ["rows: 5 -> 10, in-place, database"],
    drift: ["rows"],
  },
  {
    reason: "set by hand, and the service shows nothing: the last apply stands for it",
    toy: hidden,
    shows: { rows: 5 },
    action: "update",
    fields: ["rows: 5 -> 10, in-place, database"],
    drift: ["rows"],
  },
  {
    reason: "another value of a setting that is read when it starts: shown, nothing is done",
    toy: settled,
    shows: { size: 3 },
    action: "keep",
    fields: [],
    drift: ["size"],
  },
  {
    reason: "the manifest has changed: a replacement, whatever is shown",
    toy: { wants: { rows: 20 }, has: {}, recorded: { rows: 10 } },
    shows: { rows: 20 },
    action: "replace",
    fields: ["rows: 10 -> 20, replace"],
  },
  {
    reason: "the manifest has changed, and the world too",
    toy: { wants: { rows: 20 }, has: {}, recorded: { rows: 10 } },
    shows: { rows: 5 },
    action: "replace",
    fields: ["rows: 10 -> 20, replace"],
  },
  {
    reason: "an updatable field changed by hand goes by the ordinary update",
    toy: settled,
    shows: { memory: "500MB" },
    action: "update",
    fields: ["memory: 500MB -> 1GB, in-place"],
    drift: ["memory"],
  },
  {
    reason: "an updatable field that the manifest changes is updated although the database shows it already",
    toy: { wants: { memory: "2GB" }, has: { memory: "1GB" } },
    shows: { memory: "2GB" },
    action: "update",
    fields: ["memory: 1GB -> 2GB, in-place"],
  },
  {
    reason: "applied in vain before: not sent again, and shown",
    toy: settled,
    shows: { memory: "500MB" },
    ineffective: ["memory"],
    action: "keep",
    fields: [],
    drift: ["memory"],
  },
  {
    reason: "applied in vain before, and the manifest has changed",
    toy: { wants: { memory: "2GB" }, has: {}, recorded: { memory: "1GB" } },
    shows: { memory: "500MB" },
    ineffective: ["memory"],
    action: "update",
    fields: ["memory: 1GB -> 2GB, in-place"],
  },
  {
    reason: "left alone by ignoreChanges",
    toy: { ...settled, lifecycle: { ignoreChanges: ["rows"] } },
    shows: { rows: 5 },
    action: "keep",
    fields: [],
    drift: ["rows"],
  },
  { reason: "not managed", toy: { wants: {}, has: {} }, shows: { rows: 5 }, action: "keep", fields: [] },
  {
    reason: "the declared login is refused, and was applied",
    toy: { wants: { token: { $secret: "s" } }, has: {}, recorded: { token: { $secret: "s" } } },
    shows: { token: null },
    action: "update",
    fields: ["token: null -> [object Object], in-place"],
    drift: ["token"],
  },
  {
    reason: "the declared login is refused, and is a new one: the manifest has changed",
    toy: { wants: { token: { $secret: "t" } }, has: {}, recorded: { token: { $secret: "s" } } },
    shows: { token: null },
    action: "update",
    fields: ["token: [object Object] -> [object Object], in-place"],
  },
  {
    reason: "the new login works already: it is sent all the same, for the service has the old one",
    toy: { wants: { token: { $secret: "t" } }, has: {}, recorded: { token: { $secret: "s" } } },
    shows: { token: { $secret: "t" } },
    action: "update",
    fields: ["token: [object Object] -> [object Object], in-place"],
  },
  {
    reason:
      "the declared login was refused after it was applied: sending it again would restart it for nothing",
    toy: { wants: { token: { $secret: "s" } }, has: {}, recorded: { token: { $secret: "s" } } },
    shows: { token: null },
    ineffective: ["token"],
    action: "keep",
    fields: [],
    drift: ["token"],
  },
  {
    reason: "not bound yet: a refused login is set there, as once it is bound",
    toy: { wants: { token: { $secret: "s" } }, has: {}, recorded: false, importId: "toy-a" },
    shows: { token: null },
    action: "adopt",
    fields: ["token: null -> [object Object], in-place"],
  },
  {
    reason: "not bound yet, fixed at creation: shown with the way out",
    toy: { wants: { size: 2 }, has: { size: 2 }, recorded: false, importId: "toy-a" },
    shows: { size: 3 },
    action: "adopt",
    fields: [],
    drift: ["size"],
  },
  {
    reason: "not bound yet and replaced: what it shows is not hidden by that",
    toy: { wants: { size: 2, rows: 10 }, has: { size: 3, rows: 10 }, recorded: false, importId: "toy-a" },
    shows: { rows: 20 },
    action: "replace",
    fields: ["size: 3 -> 2, replace"],
    drift: ["rows"],
  },
];

describe("what a running object shows", () => {
  it.each(rows)("$reason", ({ toy, shows, ineffective, action, fields, drift = [] }) => {
    const change = changeWith(toy, shows, ineffective);
    expect([change.action, ...inShort(change)]).toEqual([action, ...fields]);
    expect(change.drift.map(({ path }) => path)).toEqual(drift);
    expect(change.drift.filter(({ shownBy }) => shownBy !== "probed")).toEqual([]);
  });

  it("says how to undo what apply leaves as it is", () => {
    const [drift] = changeWith(settled, { size: 3 }).drift;
    expect(drift).toMatchObject({
      effect: "in-place",
      disruption: "none",
      wayOut: "graphform toy restart toys.a loads what is configured",
    });
  });

  it.each<[why: string, wants: Spec, shows: Probed, drift: string]>([
    ["an undeclared limit below it", { usual: 30_000 }, { usual: 0, most: 5000 }, "most is 5000"],
    ["an undeclared value above it", { most: 5000 }, { most: 0, usual: 30_000 }, "usual is 30000"],
  ])("is no heal where the database forbids it: %s", (_, wants, shows, partner) => {
    const change = changeWith({ wants, has: wants }, shows);
    expect([change.action, change.fields]).toEqual(["keep", []]);
    expect(change.drift.map(({ wayOut }) => wayOut)).toEqual([
      `${partner} in the database and does not allow it: graphform toy restart toys.a loads what is configured`,
    ]);
  });

  it.each<[why: string, wants: Spec, shows: Probed, healed: number]>([
    ["no limit", { usual: 30_000 }, { usual: 0, most: 0 }, 1],
    ["a limit above it", { usual: 30_000 }, { usual: 0, most: 30_000 }, 1],
    ["both are declared", { usual: 30_000, most: 40_000 }, { usual: 0, most: 5000 }, 2],
  ])("is healed where the database allows it: %s", (_, wants, shows, healed) => {
    expect(changeWith({ wants, has: wants }, shows).fields).toHaveLength(healed);
  });

  it("is healed after an update of the same object, and each step looks at its own fields", () => {
    const { steps } = planWith(settled, { rows: 5, memory: "500MB" });
    expect(steps.map(({ key, after, checks, probed }) => ({ key, after, checks, probed }))).toEqual([
      { key: "toys.a", after: [], checks: ["memory"], probed: ["memory"] },
      { key: "toys.a#heal", after: ["toys.a"], checks: ["rows"], probed: ["rows"] },
    ]);
  });

  it("is not healed in what is stopped or replaced anyway", () => {
    const stopped = {
      ...settled,
      wants: { ...settled.wants, power: "stopped" },
      has: { ...settled.has, power: "running" },
    };
    expect(planWith(stopped, { rows: 5 }).steps.map(({ operation }) => operation)).toEqual(["operate"]);
    const replaced = changeWith(settled, { rows: 5 }, [], { options: { replace: ["toys.a"] } });
    expect(replaced.fields).toEqual([]);
  });

  it("may be healed where nothing may be felt, and where the service has no update", () => {
    const profile = { ...planInput({}).profile, operations: {} };
    const rest = { profile, options: { maxDisruption: "none" as const } };
    expect(changeWith(settled, { rows: 5 }, [], rest)).toMatchObject({
      action: "update",
      blocked: [],
      disruption: "none",
    });
  });

  it("never replaces what is as the service and the last apply say", () => {
    const value = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(
        fc.record({ rows: value, size: value }),
        fc.record({ rows: value, size: value }),
        (wants, shows) => {
          const change = changeWith({ wants, has: wants }, shows);
          expect(change.action).toBe(wants.rows === shows.rows ? "keep" : "update");
          expect(change.fields.every(({ via }) => via === "database")).toBe(true);
        },
      ),
    );
  });
});

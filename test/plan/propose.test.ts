import { describe, expect, it } from "vitest";
import type { Action } from "../../src/model/plan.ts";
import { type Case, changeOf, planOf, stepsOf } from "../support/plan-input.ts";

const sealed = (text: string): { readonly $secret: string } => ({ $secret: `hmac-sha256:${text}` });

interface Row {
  readonly reason: string;
  readonly toy: Case;
  readonly action: Action;
  /** Paths of the fields that change. */
  readonly fields?: readonly string[];
  readonly steps?: readonly string[];
}

const rows: readonly Row[] = [
  {
    reason: "does not exist yet",
    toy: { wants: { colour: "red" } },
    action: "create",
    steps: ["a create"],
  },
  {
    reason: "there as declared",
    toy: { wants: { colour: "red", size: 2 }, has: { colour: "red", size: 2 } },
    action: "keep",
    steps: [],
  },
  {
    reason: "a field that can be changed",
    toy: { wants: { colour: "red", size: 2 }, has: { colour: "blue", size: 2 } },
    action: "update",
    fields: ["colour"],
    steps: ["a update"],
  },
  {
    reason: "a field that is fixed after creation",
    toy: { wants: { colour: "red", size: 2 }, has: { colour: "red", size: 1 } },
    action: "replace",
    fields: ["size"],
    steps: ["a delete", "a create < a#delete"],
  },
  {
    reason: "both sorts of fields: the fixed one decides",
    toy: { wants: { colour: "red", size: 2 }, has: { colour: "blue", size: 1 } },
    action: "replace",
    fields: ["colour", "size"],
    steps: ["a delete", "a create < a#delete"],
  },
  {
    reason: "a field that the manifest leaves out is not managed",
    toy: { wants: { colour: "red" }, has: { colour: "red", size: 9, memory: "6GB" } },
    action: "keep",
  },
  {
    reason: "a field that is left alone on request",
    toy: {
      wants: { colour: "red" },
      has: { colour: "blue" },
      lifecycle: { ignoreChanges: ["colour"] },
    },
    action: "keep",
  },
  {
    reason: "an ignored field of an object that is replaced: the new one is made as declared",
    toy: {
      wants: { colour: "red", size: 2, memory: "2GB" },
      has: { colour: "blue", size: 1, memory: "2GB" },
      lifecycle: { ignoreChanges: ["colour", "memory"] },
    },
    action: "replace",
    fields: ["colour", "size"],
    steps: ["a delete", "a create < a#delete"],
  },
  {
    reason: "two spellings of one size",
    toy: { wants: { memory: "6GB" }, has: { memory: "6144MB" } },
    action: "keep",
  },
  {
    reason: "two sizes",
    toy: { wants: { memory: "6GB" }, has: { memory: "6G" } },
    action: "update",
    fields: ["memory"],
  },
  {
    reason: "a number that the service shows as text",
    toy: { wants: { size: 2 }, has: { size: "2" } },
    action: "keep",
  },
  {
    reason: "a field that is never shown, and was last applied as it is wanted",
    toy: { wants: { token: sealed("one") }, has: {}, recorded: { token: sealed("one") } },
    action: "keep",
  },
  {
    reason: "a field that is never shown and that nobody applied is set",
    toy: { wants: { token: sealed("one") }, has: {}, recorded: {} },
    action: "update",
    fields: ["token"],
  },
  {
    reason: "a fixed field that nobody shows is trusted, for it could not have been changed",
    toy: { wants: { size: 2 }, has: {}, recorded: {} },
    action: "keep",
  },
  {
    reason: "gone outside",
    toy: { wants: { colour: "red" }, recorded: { colour: "red" } },
    action: "create",
    steps: ["a create"],
  },
  {
    reason: "no longer declared",
    toy: { has: { colour: "red" } },
    action: "delete",
    steps: ["a delete"],
  },
  {
    reason: "no longer declared, and gone outside",
    toy: { recorded: { colour: "red" } },
    action: "forget",
    steps: ["a forget"],
  },
  {
    reason: "no longer declared, and to be left running",
    toy: { has: { colour: "red" }, remembered: { onDelete: "retain" } },
    action: "forget",
    steps: ["a forget"],
  },
];

describe("what one toy needs", () => {
  it.each(rows)("$reason: $action", ({ toy, action, fields, steps }) => {
    // A second toy, so that the manifest is not empty.
    const plan = planOf({ a: toy, other: { wants: {}, has: {} } });
    const change = changeOf(plan, "a");
    expect(change.action).toBe(action);
    expect(change.blocked).toEqual([]);
    expect(change.fields.map((field) => field.path)).toEqual(fields ?? []);
    if (steps !== undefined) expect(stepsOf(plan)).toEqual(steps);
  });

  it("tells a field's values, where the old one comes from, and what changing it does", () => {
    const observed = {
      wants: { colour: "red", memory: "2GB", size: 2 },
      has: { colour: "blue", memory: "1GB", size: 1 },
    };
    const { fields, forcedBy, disruption } = changeOf(planOf({ a: { ...observed, source: "echoed" } }), "a");
    expect(fields).toEqual([
      {
        path: "colour",
        before: "blue",
        after: "red",
        source: "echoed",
        effect: "in-place",
        disruption: "none",
        secret: false,
      },
      {
        path: "memory",
        before: "1GB",
        after: "2GB",
        source: "echoed",
        effect: "in-place",
        disruption: "restart",
        secret: false,
      },
      {
        path: "size",
        before: 1,
        after: 2,
        source: "echoed",
        effect: "replace",
        disruption: "data-loss",
        secret: false,
      },
    ]);
    expect({ forcedBy, disruption }).toEqual({ forcedBy: "size", disruption: "data-loss" });
  });

  it("shows the ignored fields, and with what the new object is made, if a replacement is asked for", () => {
    const toy = {
      wants: { colour: "red", size: 2 },
      has: { colour: "blue", size: 1 },
      lifecycle: { ignoreChanges: ["colour", "size"] },
    };
    const plan = planOf({ a: toy }, { options: { replace: ["toys.a"] } });
    const { fields, reason } = changeOf(plan, "a");
    expect(fields.map(({ path, before, after }) => [path, before, after])).toEqual([
      ["colour", "blue", "red"],
      ["size", 1, 2],
    ]);
    expect(reason).toBe("replacement asked for");
    expect(plan.steps.at(-1)).toMatchObject({ operation: "create", spec: toy.wants });
  });

  it("marks a secret, and shows where the last one comes from", () => {
    const plan = planOf({
      a: { wants: { token: sealed("two") }, has: {}, recorded: { token: sealed("one") } },
    });
    expect(changeOf(plan, "a").fields).toMatchObject([
      { path: "token", secret: true, disruption: "restart" },
    ]);
  });

  it("sends only what changed, in the spec's shape", () => {
    const plan = planOf({
      a: { wants: { colour: "red", memory: "2GB" }, has: { colour: "blue", memory: "2GB" } },
    });
    expect(plan.steps).toMatchObject([
      { operation: "update", patch: { colour: "red" }, id: "id-a", checks: ["colour"] },
    ]);
  });

  it("records with a create what the service sets by itself", () => {
    const [step] = planOf({ a: { wants: { colour: "red" } } }).steps;
    expect(step).toMatchObject({
      operation: "create",
      spec: { colour: "red" },
      record: { size: 1 },
      protect: false,
    });
  });

  it("hands each step the wait that the manifest allows", () => {
    const timeouts = { create: 1, update: 2, delete: 3 };
    const plan = planOf({
      a: { wants: { size: 2 }, has: { size: 1 }, timeouts },
      b: { wants: { colour: "red" }, has: { colour: "blue" }, timeouts },
    });
    expect(plan.steps.map(({ operation, timeout }) => [operation, timeout])).toEqual([
      ["delete", 3],
      ["create", 1],
      ["update", 2],
    ]);
  });
});

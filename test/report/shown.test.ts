import { describe, expect, it } from "vitest";
import type { Json } from "../../src/model/json.ts";
import type { FieldChange, Plan } from "../../src/model/plan.ts";
import type { Sealed } from "../../src/model/sealed.ts";
import { unsettledWords } from "../../src/report/apply-text.ts";
import {
  type RedactedPlan,
  type RedactedValue,
  redactOutcome,
  redactOutputs,
  redactPlan,
  redactValue,
  sameRedacted,
} from "../../src/report/redact.ts";
import { outcome } from "./apply-parts.ts";
import { change, field, plan, sealed } from "./plan-parts.ts";
import { words } from "./words.ts";

/** Accepts what may be shown. */
function show(_value: RedactedValue, _plan?: RedactedPlan): void {}

describe("the type of what may be shown", () => {
  it("takes no sealed value, no value as it was read, and no plan that was not shown", () => {
    const secret: Sealed = sealed("orders");
    const text: Json = "hunter2";
    const made: Plan = plan({});
    // @ts-expect-error a sealed value is not assignable
    show(secret);
    // @ts-expect-error a value as it was read is not assignable
    show(text);
    // @ts-expect-error an object of the same shape is not assignable: only `redactValue` makes one
    show({ text: "hunter2", json: "hunter2", sensitive: false, unknown: false });
    // @ts-expect-error a plan is not assignable before it was shown
    show(redactValue(text, false), made);
    show(redactValue(text, false), redactPlan(made, words));
    expect(Object.keys(redactValue(secret, false))).toEqual(["text", "json", "sensitive", "unknown"]);
  });
});

describe("a value that may be shown", () => {
  const ref = { $ref: "instances.a.host" };
  it.each<[string, Json, Partial<RedactedValue>]>([
    ["a text", "a", { text: '"a"', json: "a", sensitive: false, unknown: false }],
    ["a secret", sealed("x"), { text: "(sensitive)", json: "(sensitive)", sensitive: true }],
    [
      "a list with a secret, as a whole",
      ["a", { b: sealed("x") }],
      { text: "(sensitive)", json: "(sensitive)", sensitive: true },
    ],
    ["a secret beside an output", { $template: ["x", sealed("x"), ref] }, { text: "(sensitive)" }],
    [
      "a login in an address, and nothing else of it",
      "redis://u:p@h/0",
      { text: '"redis://(sensitive)@h/0"', json: "redis://(sensitive)@h/0", sensitive: true },
    ],
    [
      "a login in one address of a list",
      ["https://h", "https://u:p@h"],
      { json: ["https://h", "https://(sensitive)@h"], sensitive: [false, true] },
    ],
    [
      "a login in a map",
      { a: 1, b: "https://u:p@h" },
      { json: { a: 1, b: "https://(sensitive)@h" }, sensitive: { b: true } },
    ],
    [
      "a login beside an output",
      { $template: ["https://u:p@", ref] },
      { text: '"https://(sensitive)@${instances.a.host}"', unknown: true },
    ],
    ["an output", ref, { text: "(known after apply)", unknown: true, sensitive: false }],
    ["outputs in a map", { a: ref, b: 1 }, { json: { b: 1 }, unknown: { a: true }, sensitive: {} }],
  ])("is %s", (_, value, shown) => {
    expect(redactValue(value, false)).toMatchObject(shown);
  });

  it.each([
    ["of two secrets", sealed("x"), sealed("x")],
    ["of two addresses with logins", "https://u:a@h", "https://u:b@h"],
  ])("is not said to be the same %s", (_, left, right) => {
    expect(sameRedacted(redactValue(left, false), redactValue(right, false))).toBe(false);
  });
});

describe("a plan that may be shown", () => {
  it("hides both sides of a field if the table, the plan, or one of the two values says so", () => {
    const { changes } = redactPlan(
      plan({
        changes: [
          change("update", "users.a", {
            fields: [
              field("password", { before: "old", after: "new" }),
              field("acl", { before: "~* +PING", after: "~* >hunter2 +PING" }),
              field("odd", { before: "old", after: "new", secret: true }),
              field("other", { before: "old", after: sealed("x") }),
              field("plain", { before: "old", after: "new" }),
            ],
            before: { password: "old", acl: "~* +PING", odd: "old", other: "old", plain: "old" },
          }),
        ],
      }),
      words,
    );
    const [shown] = changes;
    expect(shown?.fields.map(({ path, before, after }) => [path, before?.text, after?.text])).toEqual([
      ["password", "(sensitive)", "(sensitive)"],
      ["acl", "(sensitive)", "(sensitive)"],
      ["odd", "(sensitive)", "(sensitive)"],
      ["other", "(sensitive)", "(sensitive)"],
      ["plain", '"old"', '"new"'],
    ]);
    expect(Object.entries(shown?.before ?? {}).map(([path, { text }]) => [path, text])).toEqual([
      ["password", "(sensitive)"],
      ["acl", "(sensitive)"],
      ["odd", "(sensitive)"],
      ["other", "(sensitive)"],
      ["plain", '"old"'],
    ]);
  });

  it("says nothing of either login of an address that was rotated", () => {
    const login = (password: string): string => `https://u:${password}@h/x`;
    const given = plan({
      changes: [
        change("update", "instances.a", {
          fields: [field("tags.url", { before: login("older"), after: login("newer") })],
          before: { "tags.url": login("older") },
          after: { "tags.url": login("newer") },
          drift: [field("tags.url", { before: login("oldest"), after: login("older") })],
        }),
      ],
    });
    expect(JSON.stringify(redactPlan(given, words))).not.toMatch(/olde|newe/);
  });

  it("has no specs in its steps, and no value of an output that is or was sensitive", () => {
    const shown = redactPlan(
      plan({
        outputs: { a: { action: "update", before: "old", after: "new", unknown: false, sensitive: true } },
      }),
      words,
    );
    expect(JSON.stringify(shown.outputs)).not.toMatch(/old|new/);
  });
});

describe("an outcome that may be shown", () => {
  it.each<[string, FieldChange, string]>([
    ["a value", field("region", { before: "a", after: "b" }), '"a" after apply, and "b"'],
    ["no value", field("region", { after: "b" }), 'not shown after apply, and "b"'],
    [
      "a secret that is marked",
      field("odd", { before: "old", after: "new", secret: true }),
      "(sensitive) after apply, and (sensitive)",
    ],
    [
      "a secret by its table",
      field("password", { before: "old", after: "new" }),
      "(sensitive) after apply, and (sensitive)",
    ],
    [
      "a login that the service cuts off",
      field("tags.url", { before: "https://h", after: "https://u:hunter2@h" }),
      '"https://h" after apply, and "https://(sensitive)@h"',
    ],
  ])("says what is not as declared: %s", (_, left, said) => {
    const certificate = [{ address: "users.a", kind: "users", reason: "1 field differs", field: left }];
    const shown = redactOutcome(outcome({ certificate }), words);
    expect(shown.certificate.map(unsettledWords)).toEqual([`users.a: ${left.path} is ${said} was declared`]);
  });
});

describe("outputs that may be shown", () => {
  it("are sensitive where they say so, hold a secret, or a login", () => {
    const shown = redactOutputs({
      said: { value: ["a"], sensitive: true },
      sealed: { value: sealed("x"), sensitive: false },
      login: { value: "https://u:p@h", sensitive: false },
      plain: { value: "a", sensitive: false },
    });
    expect(
      Object.entries(shown).map(([name, { value, sensitive }]) => [name, value.json, sensitive]),
    ).toEqual([
      ["said", "(sensitive)", true],
      ["sealed", "(sensitive)", true],
      ["login", "https://(sensitive)@h", true],
      ["plain", "a", false],
    ]);
  });
});

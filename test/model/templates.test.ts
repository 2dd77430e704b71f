import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { holdsSecret } from "../../src/model/sealed.ts";
import { referent, resolveKnown, waitsFor } from "../../src/model/templates.ts";

const secret = { $secret: "hmac-sha256:1" };
const outputs: { readonly [address: string]: JsonObject } = {
  "toys.a": { id: "toy-1", port: 6379 },
  'toys.b["x.y"]': { id: "toy-2" },
};
const known = (address: string): JsonObject | undefined => outputs[address];
const ref = (text: string): { readonly $ref: string } => ({ $ref: text });

interface Row {
  readonly reason: string;
  readonly value: Json;
  readonly resolved: Json;
  /** Addresses that the result still waits for. */
  readonly waits?: readonly string[];
}

const rows: readonly Row[] = [
  { reason: "plain values stay", value: ["a", 1, null, { b: true }], resolved: ["a", 1, null, { b: true }] },
  {
    reason: "one whole reference keeps its type",
    value: { $template: [ref("toys.a.port")] },
    resolved: 6379,
  },
  {
    reason: "text around a reference",
    value: { $template: ["at ", ref("toys.a.id"), ":", ref("toys.a.port")] },
    resolved: "at toy-1:6379",
  },
  { reason: "a key with dots", value: { $template: [ref('toys.b["x.y"].id')] }, resolved: "toy-2" },
  {
    reason: "inside of maps and lists",
    value: { a: [{ $template: [ref("toys.a.id")] }] },
    resolved: { a: ["toy-1"] },
  },
  { reason: "a secret stays sealed", value: secret, resolved: secret },
  {
    reason: "a secret beside an output: the output is filled in, so that another one is noticed",
    value: { $template: ["redis://", secret, "@", ref("toys.a.id"), ":", ref("toys.a.port")] },
    resolved: { $template: ["redis://", secret, "@", "toy-1", ":", "6379"] },
  },
  {
    reason: "one unknown output, and the whole waits",
    value: { $template: [ref("toys.a.id"), " ", ref("toys.c.id")] },
    resolved: { $template: [ref("toys.a.id"), " ", ref("toys.c.id")] },
    waits: ["toys.a", "toys.c"],
  },
  {
    reason: "an output that is not shown yet",
    value: [{ $template: [ref("toys.a.endpoint")] }, "b"],
    resolved: [{ $template: [ref("toys.a.endpoint")] }, "b"],
    waits: ["toys.a"],
  },
];

describe("filling in outputs", () => {
  it.each(rows)("$reason", ({ value, resolved, waits = [] }) => {
    expect(resolveKnown(value, known)).toEqual(resolved);
    expect(waitsFor(resolved)).toEqual(waits);
  });
});

describe("a reference", () => {
  it.each([
    ["toys.a.id", { address: "toys.a", output: "id" }],
    ['toys.b["x.y"].endpoint', { address: 'toys.b["x.y"]', output: "endpoint" }],
  ])("%s", (text, parts) => {
    expect(referent(text)).toEqual(parts);
  });
});

describe("a secret", () => {
  it.each<[string, Json, boolean]>([
    ["by itself", secret, true],
    ["in a list in a map", { a: [1, { b: secret }] }, true],
    ["in a template", { $template: ["a", secret] }, true],
    ["nowhere", { $template: ["a", ref("toys.a.id")] }, false],
    ["by another type", { $secret: 1 }, false],
  ])("is found %s", (_, value, expected) => {
    expect(holdsSecret(value)).toBe(expected);
  });
});

import { describe, expect, it } from "vitest";
import type { Json } from "../../src/model/json.ts";
import type { Observed } from "../../src/model/observed.ts";
import { hasChanges, type OutputChange } from "../../src/model/plan.ts";
import type { RecordedOutput } from "../../src/model/state.ts";
import { outputsAfter } from "../../src/plan/outputs.ts";
import { type Case, planInput, planOf, type Scene, somewhere } from "../support/plan-input.ts";

const endpoint = { $template: [{ $ref: "toys.a.endpoint" }] };
const sealed = { $secret: "hmac-sha256:1" };
const there: Case = { wants: {}, has: {} };

interface Row {
  readonly reason: string;
  readonly toy: Case;
  readonly value?: Json;
  readonly recorded?: Json;
  readonly expected: OutputChange;
}

const rows: readonly Row[] = [
  {
    reason: "new, and known",
    toy: there,
    value: endpoint,
    expected: { action: "create", after: "id-a:6379", unknown: false, sensitive: false },
  },
  {
    reason: "as it was",
    toy: there,
    value: endpoint,
    recorded: "id-a:6379",
    expected: { action: "no-op", before: "id-a:6379", after: "id-a:6379", unknown: false, sensitive: false },
  },
  {
    reason: "another one",
    toy: there,
    value: endpoint,
    recorded: "old:6379",
    expected: { action: "update", before: "old:6379", after: "id-a:6379", unknown: false, sensitive: false },
  },
  {
    reason: "known only after a create",
    toy: { wants: {} },
    value: endpoint,
    expected: { action: "create", after: endpoint, unknown: true, sensitive: false },
  },
  {
    reason: "known only after a replacement, though it shows one now",
    toy: { wants: { size: 2 }, has: { size: 1 } },
    value: endpoint,
    recorded: "id-a:6379",
    expected: { action: "update", before: "id-a:6379", after: endpoint, unknown: true, sensitive: false },
  },
  {
    reason: "not shown while it is stopped: it stays what it was",
    toy: { ...there, phase: "stopped" },
    value: endpoint,
    recorded: "id-a:6379",
    expected: { action: "no-op", before: "id-a:6379", after: "id-a:6379", unknown: false, sensitive: false },
  },
  {
    reason: "not shown while it is stopped, and never was: nothing to do about it",
    toy: { ...there, phase: "stopped" },
    value: endpoint,
    expected: { action: "no-op", after: endpoint, unknown: true, sensitive: false },
  },
  {
    reason: "known once it is started",
    toy: { wants: { power: "running" }, has: {}, phase: "stopped" },
    value: endpoint,
    expected: { action: "create", after: endpoint, unknown: true, sensitive: false },
  },
  {
    reason: "of something that is blocked: it stays what it was",
    toy: { wants: { size: 2 }, has: { size: 1 }, lifecycle: { protect: true } },
    value: endpoint,
    recorded: "id-a:6379",
    expected: { action: "no-op", before: "id-a:6379", after: "id-a:6379", unknown: false, sensitive: false },
  },
  {
    reason: "no longer declared",
    toy: there,
    recorded: "id-a:6379",
    expected: { action: "delete", before: "id-a:6379", unknown: false, sensitive: false },
  },
  {
    reason: "with a secret inside, whatever the manifest says",
    toy: there,
    value: sealed,
    expected: { action: "create", after: sealed, unknown: false, sensitive: true },
  },
  {
    reason: "text around an output",
    toy: there,
    value: { $template: ["redis://", { $ref: "toys.a.endpoint" }, "/0"] },
    expected: { action: "create", after: "redis://id-a:6379/0", unknown: false, sensitive: false },
  },
];

function outputsFor(
  toy: Case,
  value: Json | undefined,
  recorded: Json | undefined,
): ReturnType<typeof planOf> {
  const scene: Scene = { a: toy, other: there };
  const before: { readonly [name: string]: RecordedOutput } =
    recorded === undefined ? {} : { url: { value: recorded, sensitive: false } };
  const { state } = planInput(scene);
  const outputs = value === undefined ? {} : { url: { value, sensitive: false, where: somewhere } };
  return planOf(scene, { outputs, state: { ...state, outputs: before } });
}

describe("outputs", () => {
  it.each(rows)("$reason", ({ toy, value, recorded, expected }) => {
    expect(outputsFor(toy, value, recorded).outputs).toEqual({ url: expected });
  });

  it("alone are changes too", () => {
    expect(hasChanges(outputsFor(there, endpoint, undefined))).toBe(true);
    expect(hasChanges(outputsFor(there, endpoint, "id-a:6379"))).toBe(false);
    expect(hasChanges(outputsFor({ ...there, phase: "stopped" }, endpoint, undefined))).toBe(false);
  });
});

describe("the outputs of an object after its change in place", () => {
  const network: Observed = {
    ...{ address: "networks.core", kind: "networks", id: "n-1", place: {}, spec: {} },
    phase: { is: "ready", detail: "" },
    outputs: { id: "n-1", name: "one", cidr: "10.0.0.0/16" },
  };
  const found = (path: string, value: Json, unknownAfter = {}): object =>
    outputsAfter({ fields: [{ ...changed, path, after: value }] }, network, { unknownAfter });
  const changed = { effect: "in-place", disruption: "none", secret: false } as const;

  it.each<[string, object, object]>([
    [
      "show the new value of a field of their name",
      found("name", "two"),
      { ...network.outputs, name: "two" },
    ],
    [
      "are unknown while that waits for another one",
      found("name", endpoint),
      { id: "n-1", cidr: "10.0.0.0/16" },
    ],
    [
      "are unknown if only the service says them",
      found("size", 2, { size: ["cidr"] }),
      { id: "n-1", name: "one" },
    ],
    ["stay with any other field", found("size", 2), network.outputs],
  ])("%s", (_, shown, expected) => {
    expect(shown).toEqual(expected);
  });
});

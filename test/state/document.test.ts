import { describe, expect, it } from "vitest";
import type { StateDocument } from "../../src/model/state.ts";
import {
  advance,
  announceIntent,
  bindResource,
  burnPlan,
  dropIntent,
  emptyState,
  isBurnt,
  markConverging,
  markSettled,
  markUnsettled,
  moveResource,
  releaseResource,
  resolveIntent,
  setOutputs,
} from "../../src/state/document.ts";
import { sampleBound, sampleIntent, sampleState } from "./samples.ts";

const converging = {
  operation: "update",
  since: "2026-01-02T00:00:00.000Z",
  record: { "config.graphDBCacheSize": 50 },
};

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value))
    if (typeof member === "object" && member !== null) deepFreeze(member);
  return Object.freeze(value);
}

describe("emptyState", () => {
  it("is unlike every other empty state, and was never written", () => {
    const [one, two] = [emptyState("shop"), emptyState("shop")];
    expect(one.serial).toBe(0);
    expect(one.lineage).not.toBe(two.lineage);
    expect(one.key).not.toBe(two.key);
    expect(one.key).toMatch(/^[0-9a-f]{64}$/);
  });

  it("takes lineage and key from a saved plan", () => {
    expect(emptyState("shop", { lineage: "l", key: "k" })).toMatchObject({ lineage: "l", key: "k" });
  });
});

describe("changes", () => {
  const state = deepFreeze(sampleState());

  const cases: readonly [reason: string, next: StateDocument, expected: object][] = [
    ["advance counts up and dates", advance(state, 0), { serial: 2, savedAt: "1970-01-01T00:00:00.000Z" }],
    [
      "an announced create is kept beside the bindings",
      announceIntent(state, "instances.new", sampleIntent()),
      { intents: { "instances.next": sampleIntent(), "instances.new": sampleIntent() } },
    ],
    [
      "an acknowledged create is bound with what its intent was to record, and is an intent no longer",
      resolveIntent(state, "instances.next", {
        id: "i-9",
        createdAt: "2026-01-03T00:00:00.000Z",
        converging,
      }),
      {
        intents: {},
        resources: {
          ...state.resources,
          "instances.next": sampleBound("i-9", {
            recorded: { "config.name": "orders" },
            refs: ["networks.core"],
            createdAt: "2026-01-03T00:00:00.000Z",
            converging,
          }),
        },
      },
    ],
    ["a create that made nothing leaves nothing", dropIntent(state, "instances.next"), { intents: {} }],
    [
      "binding an address closes its intent",
      bindResource(state, "instances.next", sampleBound("i-9")),
      { intents: {}, resources: { ...state.resources, "instances.next": sampleBound("i-9") } },
    ],
    [
      "letting go of one leaves the others",
      releaseResource(state, "instances.db0"),
      { resources: { "instances.db1": sampleBound("instance-1") } },
    ],
    [
      "an accepted operation is remembered and not yet recorded",
      markConverging(state, "instances.db0", converging),
      { resources: { ...state.resources, "instances.db0": sampleBound("instance-0", { converging }) } },
    ],
    ["a burnt plan is added", burnPlan(state, "f2"), { burnt: ["fingerprint-1", "f2"] }],
    [
      "outputs are replaced",
      setOutputs(state, { a: { value: 1, sensitive: true } }),
      { outputs: { a: { value: 1, sensitive: true } } },
    ],
  ];
  it.each(cases)("%s", (_, next, expected) => {
    expect(next).toEqual({ ...state, ...expected });
  });

  it.each([
    ["acknowledging without an intent", resolveIntent(state, "instances.db0", { id: "x", createdAt: "" })],
    ["abandoning without an intent", dropIntent(state, "instances.db0")],
    ["letting go of what is not bound", releaseResource(state, "instances.none")],
    ["converging of what is not bound", markConverging(state, "instances.none", converging)],
    ["settling what does not converge", markSettled(state, "instances.db0")],
    ["unsettling what does not converge", markUnsettled(state, "instances.db0")],
    ["moving what is not there", moveResource(state, "instances.none", "instances.other")],
    ["moving onto a bound address", moveResource(state, "instances.db0", "instances.db1")],
    ["moving onto an announced address", moveResource(state, "instances.db0", "instances.next")],
    ["burning a plan twice", burnPlan(state, "fingerprint-1")],
  ])("%s changes nothing, so that nothing is written", (_, next) => {
    expect(next).toBe(state);
  });
});

describe("an operation's end", () => {
  const state = markConverging(sampleState(), "instances.db0", converging);

  it("settled: records what was applied over what was there", () => {
    const { recorded } = sampleBound("");
    expect(markSettled(state, "instances.db0").resources["instances.db0"]).toEqual(
      sampleBound("instance-0", { recorded: { ...recorded, "config.graphDBCacheSize": 50 } }),
    );
  });

  it("unsettled: records nothing", () => {
    expect(markUnsettled(state, "instances.db0")).toEqual(sampleState());
  });
});

describe("moveResource", () => {
  it("takes along the binding and what refers to it", () => {
    const state = bindResource(
      sampleState(),
      "users.reader",
      sampleBound("u-1", { refs: ["instances.db0"] }),
    );
    const moved = moveResource(state, "instances.db0", 'instances.orders["a"]');
    expect(Object.keys(moved.resources)).toEqual(['instances.orders["a"]', "instances.db1", "users.reader"]);
    expect(moved.resources["users.reader"]?.refs).toEqual(['instances.orders["a"]']);
  });

  it("takes along an intent", () => {
    const moved = moveResource(sampleState(), "instances.next", "instances.later");
    expect(moved.intents).toEqual({ "instances.later": sampleIntent() });
  });
});

describe("burnPlan", () => {
  it("keeps the newest thousand", () => {
    const many = Array.from({ length: 1001 }, (_, index) => `f${index}`).reduce(burnPlan, sampleState());
    expect(many.burnt).toHaveLength(1000);
    expect(isBurnt(many, "f0")).toBe(false);
    expect(isBurnt(many, "f1000")).toBe(true);
  });
});

import { describe, expect, it } from "vitest";
import type { StateDocument } from "../../src/model/state.ts";
import type { StateEvent } from "../../src/model/state-event.ts";
import { emptyState, isPlanApplied, nextVersion } from "../../src/state/document.ts";
import { reduce } from "../../src/state/reducer.ts";
import { plainReduce } from "./reference-reducer.ts";
import { sampleBound, sampleIntent, sampleRound, sampleState } from "./samples.ts";

const since = "2026-01-02T00:00:00.000Z";
const createdAt = "2026-01-03T00:00:00.000Z";
const converging = { operation: "update", since, record: { "config.graphDBCacheSize": 50 } };

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

describe("a new version", () => {
  it("counts up and is dated", () => {
    expect(nextVersion(sampleState(), 0)).toEqual({ serial: 2, savedAt: "1970-01-01T00:00:00.000Z" });
  });
});

describe("an event", () => {
  const state = deepFreeze(sampleState());
  const created = (id: string): object =>
    sampleBound(id, {
      recorded: { "config.name": "orders" },
      refs: ["networks.core"],
      createdAt,
      converging,
    });
  const intent = sampleIntent({ recorded: { "config.name": "orders", region: "us-east-1" } });
  const two = deepFreeze({ ...state, intents: { "instances.next": intent, "instances.then": intent } });

  const cases: readonly [reason: string, before: StateDocument, event: StateEvent, expected: object][] = [
    [
      "an announced create is kept beside the bindings",
      state,
      { type: "create-announced", address: "instances.new", intent: sampleIntent() },
      { intents: { "instances.next": sampleIntent(), "instances.new": sampleIntent() } },
    ],
    [
      "a refused create is no proof, and stays announced",
      state,
      { type: "create-refused", address: "instances.next" },
      { intents: { "instances.next": sampleIntent({ refused: true }) } },
    ],
    [
      "the first time that is shown after a lost answer is kept: what is newer is not its object",
      state,
      { type: "creates-lost", addresses: ["instances.next", "instances.none"], sentBefore: createdAt },
      { intents: { "instances.next": sampleIntent({ sentBefore: createdAt }) } },
    ],
    [
      "the times of a refusal are kept: what is newer is not its object",
      state,
      { type: "create-refused", address: "instances.next", at: createdAt, sentBefore: createdAt },
      {
        intents: {
          "instances.next": sampleIntent({ refused: true, refusedAt: createdAt, sentBefore: createdAt }),
        },
      },
    ],
    [
      "an acknowledged create is bound with what its intent was to record; its round goes with it",
      state,
      { type: "create-acknowledged", address: "instances.next", id: "i-9", createdAt, converging },
      { intents: {}, rounds: {}, resources: { ...state.resources, "instances.next": created("i-9") } },
    ],
    [
      "a round stays as long as one of its creates is open",
      two,
      { type: "create-abandoned", address: "instances.then" },
      { intents: { "instances.next": intent } },
    ],
    [
      "lost creates are resolved together; what may be another's value is not remembered",
      two,
      {
        type: "creates-resolved",
        found: [
          { address: "instances.next", id: "i-9", createdAt, converging, unconfirmed: ["config.name"] },
        ],
        absent: ["instances.then"],
      },
      {
        intents: {},
        rounds: {},
        resources: {
          ...state.resources,
          "instances.next": { ...created("i-9"), recorded: { region: "us-east-1" } },
        },
      },
    ],
    [
      "a create that made nothing leaves nothing",
      state,
      { type: "create-abandoned", address: "instances.next" },
      { intents: {}, rounds: {} },
    ],
    [
      "binding an address closes its intent",
      state,
      { type: "bound", address: "instances.next", bound: sampleBound("i-9") },
      { intents: {}, rounds: {}, resources: { ...state.resources, "instances.next": sampleBound("i-9") } },
    ],
    [
      "letting go of one leaves the others",
      state,
      { type: "released", address: "instances.db0" },
      { resources: { "instances.db1": sampleBound("instance-1") } },
    ],
    [
      "values that are about to be sent are no longer known",
      state,
      { type: "update-announced", address: "instances.db0", paths: ["config.graphDBCacheSize"], at: since },
      {
        resources: {
          ...state.resources,
          "instances.db0": sampleBound("instance-0", {
            recorded: { "config.graphdbPassword": { $secret: "hmac-sha256:00" } },
            converging: { operation: "update", since, record: {} },
          }),
        },
      },
    ],
    [
      "an accepted operation is remembered and not yet recorded",
      state,
      { type: "operation-accepted", address: "instances.db0", converging },
      { resources: { ...state.resources, "instances.db0": sampleBound("instance-0", { converging }) } },
    ],
    [
      "an applied plan is added",
      state,
      { type: "plan-applied", fingerprint: "f2" },
      { appliedPlans: ["fingerprint-1", "f2"] },
    ],
    [
      "outputs are replaced",
      state,
      { type: "outputs-recorded", outputs: { a: { value: 1, sensitive: true } } },
      { outputs: { a: { value: 1, sensitive: true } } },
    ],
  ];
  it.each(cases)("%s", (_, before, event, expected) => {
    expect(reduce(before, event)).toEqual({ ...before, ...expected });
  });

  it.each<[string, StateEvent]>([
    [
      "acknowledging without an intent",
      { type: "create-acknowledged", address: "instances.db0", id: "x", createdAt, converging },
    ],
    [
      "losing without an intent",
      { type: "creates-lost", addresses: ["instances.db0"], sentBefore: createdAt },
    ],
    ["refusing without an intent", { type: "create-refused", address: "instances.db0" }],
    ["abandoning without an intent", { type: "create-abandoned", address: "instances.db0" }],
    ["letting go of what is not bound", { type: "released", address: "instances.none" }],
    [
      "accepting for what is not bound",
      { type: "operation-accepted", address: "instances.none", converging },
    ],
    ["settling what does not converge", { type: "operation-settled", address: "instances.db0" }],
    ["failing what does not converge", { type: "operation-failed", address: "instances.db0" }],
    ["moving what is not there", { type: "moved", from: "instances.none", to: "instances.other" }],
    ["moving onto a bound address", { type: "moved", from: "instances.db0", to: "instances.db1" }],
    ["moving onto an announced address", { type: "moved", from: "instances.db0", to: "instances.next" }],
    ["applying a plan twice", { type: "plan-applied", fingerprint: "fingerprint-1" }],
  ])("%s changes nothing, so that nothing is written", (_, event) => {
    expect(reduce(state, event)).toBe(state);
  });
});

it("a create forgets what is recorded of an object that is gone: another one may come back under its id", () => {
  const state = sampleState();
  const [address = ""] = Object.keys(state.resources);
  const event: StateEvent = { type: "create-announced", address, intent: sampleIntent() };
  const { resources } = reduce(state, event);
  expect(state.resources[address]?.recorded).not.toEqual({});
  expect(resources[address]).toEqual({ ...state.resources[address], recorded: {} });
});

describe("an operation's end", () => {
  const state = reduce(sampleState(), { type: "operation-accepted", address: "instances.db0", converging });

  it("settled: records what was applied over what was there", () => {
    const { recorded } = sampleBound("");
    const { resources, durations } = reduce(state, { type: "operation-settled", address: "instances.db0" });
    expect(durations).toBeUndefined();
    const settled = { type: "operation-settled", address: "instances.db0" } as const;
    const measured = reduce(state, { ...settled, took: 1000 });
    const { operation = "" } = state.resources["instances.db0"]?.converging ?? {};
    expect(measured.durations).toEqual({ [`instances.${operation}`]: 1000 });
    const again = reduce({ ...state, durations: measured.durations ?? {} }, { ...settled, took: 2000 });
    expect(again.durations).toEqual({ [`instances.${operation}`]: 1300 });
    expect(resources["instances.db0"]).toEqual(
      sampleBound("instance-0", { recorded: { ...recorded, "config.graphDBCacheSize": 50 } }),
    );
  });

  it("settled: says when that was seen, and what comes later leaves the time alone", () => {
    const at = "2026-02-01T00:00:00.000Z";
    const settled = reduce(state, { type: "operation-settled", address: "instances.db0", at });
    expect(settled.resources["instances.db0"]?.appliedAt).toBe(at);
    const moved = reduce(settled, { type: "moved", from: "instances.db0", to: "instances.other" });
    expect(moved.resources["instances.other"]?.appliedAt).toBe(at);
  });

  it("settled: says of a path that is not followed when it was last right, and forgets that once it is", () => {
    const [first, second] = ["2026-02-01T00:00:00.000Z", "2026-02-02T00:00:00.000Z"];
    const event = { type: "operation-settled", address: "instances.db0" } as const;
    const update = { ...converging, operation: "update" };
    const accepted: StateEvent = { type: "operation-accepted", address: "instances.db0", converging: update };
    const settle = (before: typeof state, at: string, ineffective: readonly string[]): typeof state =>
      reduce(reduce(before, accepted), {
        ...event,
        at,
        ...(ineffective.length === 0 ? {} : { ineffective }),
      });
    const [right, wrong] = [settle(state, first, []), settle(settle(state, first, []), second, ["x"])];
    expect(right.resources["instances.db0"]).not.toHaveProperty("seenRight");
    expect(wrong.resources["instances.db0"]).toMatchObject({ appliedAt: second, seenRight: { x: first } });
    expect(settle(wrong, second, []).resources["instances.db0"]).not.toHaveProperty("seenRight");
  });

  it("settled: keeps the creation time that was shown first, as a plan that is applied does", () => {
    const settle = (before: typeof state, shownCreatedAt: string): typeof state =>
      reduce(before, { type: "operation-settled", address: "instances.db0", shownCreatedAt });
    const apply = (before: typeof state, time: string): typeof state =>
      reduce(before, { type: "plan-applied", fingerprint: time, shownCreatedAt: { "instances.db0": time } });
    const timeOf = ({ resources }: typeof state): string | undefined =>
      resources["instances.db0"]?.shownCreatedAt;
    expect(timeOf(settle(state, "first"))).toBe("first");
    expect(timeOf(settle(apply(state, "first"), "second"))).toBe("first");
    expect(timeOf(apply(settle(state, "first"), "second"))).toBe("first");
    expect(apply(state, "first").resources).not.toHaveProperty("instances.none");
  });

  it("of a start or a restart: proves no more than what it records", () => {
    const [first, second] = ["2026-02-01T00:00:00.000Z", "2026-02-02T00:00:00.000Z"];
    const event = { type: "operation-settled", address: "instances.db0" } as const;
    const create = { ...converging, operation: "create" };
    const made = reduce(
      reduce(state, { type: "operation-accepted", address: "instances.db0", converging: create }),
      { ...event, at: first },
    );
    const start = { operation: "start", since: second, record: { power: "on" } };
    const started = reduce(
      reduce(made, { type: "operation-accepted", address: "instances.db0", converging: start }),
      { ...event, at: second },
    );
    expect(started.resources["instances.db0"]).toMatchObject({
      appliedAt: first,
      seenRight: { power: second },
    });
  });

  it("failed: records nothing", () => {
    expect(reduce(state, { type: "operation-failed", address: "instances.db0" })).toEqual(sampleState());
  });
});

describe("a release of the new database", () => {
  const twin = "instances.db0~next";
  it.each([
    ["ends its migration", { phase: "await-cutover", since }, false],
    ["keeps the cap that is to be put back", { phase: "await-cutover", since, cap: 5 }, true],
    ["keeps the fence of an old one that may be stopped", { phase: "fence", since }, true],
  ] as const)("%s", (_, migration, isKept) => {
    const known = sampleState();
    const resources = { ...known.resources, [twin]: sampleBound("next") };
    const before: StateDocument = { ...known, resources, migrations: { "instances.db0": migration } };
    const event = { type: "released", address: twin } as const;
    const after = reduce(before, event);
    expect(after.migrations).toEqual(isKept ? before.migrations : {});
    expect(plainReduce(before, event)).toEqual(after);
    expect(reduce(after, { type: "released", address: "instances.db0" }).migrations).toEqual({});
  });
});

describe("a move", () => {
  const reader = sampleBound("u-1", { refs: ["instances.db0"], recorded: { instance: "db0" } });
  const state = reduce(sampleState(), { type: "bound", address: "users.reader", bound: reader });
  const [from, to] = ["instances.db0", 'instances.orders["a"]'];

  it("takes along the binding, what refers to it, and the references that name it", () => {
    const renamed = { "users.reader": { instance: 'orders["a"]' } };
    const { resources } = reduce(state, { type: "moved", from, to, renamed });
    expect(Object.keys(resources).sort()).toEqual(["instances.db1", to, "users.reader"]);
    expect(resources["users.reader"]).toMatchObject({
      refs: [to],
      recorded: { instance: 'orders["a"]' },
    });
  });

  it("takes along the twins, the migration, and what it remembers of moved addresses inside", () => {
    const reader = sampleBound("reader");
    const migration = { phase: "hold", since, former: { "users.reader": reader } } as const;
    const before: StateDocument = {
      ...state,
      resources: { ...state.resources, "instances.db0~former": sampleBound("old"), "users.reader": reader },
      intents: { "instances.db0~next": sampleIntent() },
      migrations: { "instances.db0": migration },
    };
    const after = [
      { type: "moved", from: "instances.db0", to: "instances.other" },
      { type: "moved", from: "users.reader", to: "users.viewer" },
    ] as const satisfies readonly StateEvent[];
    const moved = after.reduce(reduce, before);
    expect(moved.resources["instances.other~former"]?.id).toBe("old");
    expect(Object.keys(moved.intents)).toEqual(["instances.other~next"]);
    expect(Object.keys(moved.resources)).not.toContain("instances.db0~former");
    expect(moved.migrations).toEqual({
      "instances.other": { phase: "hold", since, former: { "users.viewer": reader } },
    });
    expect(after.reduce(plainReduce, before)).toEqual(moved);
  });

  it("takes along an intent", () => {
    const moved = reduce(sampleState(), { type: "moved", from: "instances.next", to: "instances.later" });
    expect(moved.intents).toEqual({ "instances.later": sampleIntent() });
    expect(moved.rounds).toEqual({ "round-1": sampleRound });
  });
});

describe("applied plans", () => {
  it("are remembered, the newest thousand of them", () => {
    const many = Array.from({ length: 1001 }, (_, index) => `f${index}`).reduce(
      (state, fingerprint) => reduce(state, { type: "plan-applied", fingerprint }),
      sampleState(),
    );
    expect(many.appliedPlans).toHaveLength(1000);
    expect(isPlanApplied(many, "f0")).toBe(false);
    expect(isPlanApplied(many, "f1000")).toBe(true);
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import type { StateDocument } from "../../src/model/state.ts";
import type { StateEvent } from "../../src/model/state-event.ts";
import { liveDocument, snapshotOf } from "../../src/state/live-document.ts";
import { applyEvent, reduce } from "../../src/state/reducer.ts";
import { plainReduce } from "./reference-reducer.ts";
import { sampleBound, sampleIntent, sampleRound, sampleState } from "./samples.ts";

const since = "2026-01-02T00:00:00.000Z";
const address = fc.constantFrom(
  "instances.a",
  "instances.b",
  "instances.c",
  "instances.db0",
  "instances.next",
);
const refs = fc.uniqueArray(address, { maxLength: 2 });
const round = fc.constantFrom("round-1", "round-2", "__proto__");
const record = fc.dictionary(fc.constantFrom("x", "y", "config.name"), fc.nat(2));
const converging = record.map((values) => ({ operation: "update", since, record: values }));
const bound = fc
  .record({ id: fc.constantFrom("i-1", "i-2"), refs })
  .map(({ id, refs: to }) => sampleBound(id, { refs: to }));
const intent = fc.record({ round, refs, recorded: record }).map((over) => sampleIntent(over));
const created = fc.record({
  address,
  id: fc.constantFrom("i-3", "i-4"),
  createdAt: fc.constant(since),
  converging,
});

const event: fc.Arbitrary<StateEvent> = fc.oneof(
  fc.record({
    type: fc.constant("service-recorded" as const),
    service: fc.constant({ platform: "p", keys: {}, locations: {} }),
  }),
  fc.record({ type: fc.constant("plan-applied" as const), fingerprint: fc.constantFrom("f", "g") }),
  fc.record(
    {
      type: fc.constant("create-announced" as const),
      address,
      intent,
      listed: fc.constant(sampleRound),
      released: fc.constant(true as const),
    },
    { requiredKeys: ["type", "address", "intent"] },
  ),
  fc.record({ type: fc.constant("create-abandoned" as const), address }),
  fc.record({
    type: fc.constant("creates-lost" as const),
    addresses: fc.array(address, { maxLength: 3 }),
    sentBefore: fc.constantFrom("2026-03-01T08:00:03.000Z", "2026-03-01T08:00:09.000Z"),
  }),
  fc.record(
    {
      type: fc.constant("create-refused" as const),
      address,
      at: fc.constant("2026-03-01T08:00:05.000Z"),
      sentBefore: fc.constant("2026-03-01T08:00:04.000Z"),
    },
    { requiredKeys: ["type", "address"] },
  ),
  created.map((each) => ({ type: "create-acknowledged" as const, ...each })),
  fc.record({
    type: fc.constant("creates-resolved" as const),
    found: fc.array(created, { maxLength: 2 }),
    absent: refs,
  }),
  fc.record({ type: fc.constant("bound" as const), address, bound }),
  fc.record({
    type: fc.constant("bound-together" as const),
    bindings: fc.array(fc.tuple(address, bound), { maxLength: 3 }),
  }),
  fc.record({ type: fc.constant("released-together" as const), addresses: refs }),
  fc.record({
    type: fc.constant("update-announced" as const),
    address,
    paths: fc.constant(["x"]),
    at: fc.constant(since),
  }),
  fc.record({ type: fc.constant("operation-accepted" as const), address, converging }),
  fc.record({
    type: fc.constantFrom("operation-settled" as const, "operation-failed" as const, "released" as const),
    address,
  }),
  fc.record({ type: fc.constant("operation-settled" as const), address, at: fc.constant(since) }),
  fc.record({
    type: fc.constant("operation-settled" as const),
    address,
    at: fc.constant("2026-02-01T00:00:00.000Z"),
    ineffective: fc.constant(["x"]),
  }),
  fc.record({
    type: fc.constant("healed" as const),
    address,
    paths: fc.subarray(["x", "y"], { minLength: 1 }),
    at: fc.constant(since),
  }),
  fc.record({
    type: fc.constantFrom("operation-settled" as const, "released" as const),
    address,
    took: fc.nat(100_000),
  }),
  fc.record(
    {
      type: fc.constant("moved" as const),
      from: address,
      to: address,
      renamed: fc.dictionary(address, record),
    },
    { requiredKeys: ["type", "from", "to"] },
  ),
  fc.record({ type: fc.constant("outputs-recorded" as const), outputs: fc.constant({}) }),
);

it("comes to the same in place as a reducer that copies everything, whatever happens", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const live = liveDocument(sampleState());
      let plain: StateDocument = sampleState();
      for (const each of events) {
        const before = snapshotOf(live.view);
        const next = plainReduce(plain, each);
        expect(applyEvent(live, each)).toBe(next !== plain);
        expect(live.view).toEqual(next);
        expect(reduce(before, each)).toEqual(next);
        expect(before).toEqual(plain);
        plain = next;
      }
    }),
    { numRuns: 500 },
  );
});

import { expect, it } from "vitest";
import { readingDriver } from "../../src/apply/context.ts";
import { recoverIntents } from "../../src/apply/creates/recover-intents.ts";
import { ServiceError } from "../../src/model/errors.ts";
import { type Driver, kindRegistry } from "../../src/model/kind.ts";
import type { ApplyEvent } from "../../src/model/outcome.ts";
import { openJournal } from "../../src/state/journal.ts";
import { sampleBound, sampleIntent, sampleState } from "../state/samples.ts";
import { applyContext } from "../support/apply-context.ts";
import { createMemoryStore } from "../support/memory-store.ts";
import { toyKind, toySchema } from "../support/toy-kind.ts";
import { toyService } from "../support/toy-service.ts";
import { virtualClock } from "../support/virtual-clock.ts";

const house = { type: "string", "x-reference": { section: "toys", output: "id" }, "x-place": true } as const;

/** The open creates and the virtual ms after a recovery: their parent was made `age` ms ago; describe shows it from its `shownFrom`-th answer on. */
async function openAfter(age: number, shownFrom: number): Promise<readonly [readonly string[], number]> {
  const clock = virtualClock();
  const service = toyService(clock);
  const begun = clock.now();
  const id = service.add({});
  let described = 0;
  const driver: Driver = {
    ...service,
    list: async ({ house }) => {
      if (house !== undefined) throw new ServiceError("forbidden", "list", "there is no such house");
      return described < shownFrom ? [] : [id];
    },
    get: async (ref, signal) => {
      described += 1;
      return described < shownFrom ? undefined : service.get(ref, signal);
    },
  };
  const kind = toyKind(driver, {
    schema: { ...toySchema, properties: { ...toySchema.properties, house } },
  });
  const createdAt = new Date(clock.now() - age).toISOString();
  const state = {
    ...sampleState(0),
    serial: 0,
    resources: { "toys.house": sampleBound(id, { kind: "toys", place: {}, createdAt }) },
    intents: { "toys.cat": sampleIntent() },
    rounds: { "round-1": { kind: "toys", place: { house: id }, classKey: "cats", before: [] } },
  };
  const journal = openJournal(createMemoryStore(), state, clock);
  const context = applyContext(clock, driver, { kinds: kindRegistry([kind]), journal });
  await clock.drive(recoverIntents(context)).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
  });
  return [Object.keys(journal.state.intents), clock.now() - begun];
}

const never = Number.POSITIVE_INFINITY;
const hour = 3_600_000;

it.each<[string, number, number, readonly string[], number]>([
  ["is there: it is looked for", hour, 1, ["toys.cat"], 60_000],
  ["answers 404 once: it is looked for", hour, 2, ["toys.cat"], 60_000],
  ["answers 404 for a while: it is looked for", hour, 4, ["toys.cat"], 60_000],
  ["is gone: it has made nothing", hour, never, [], 11_000],
  ["is gone, and made by a clock ahead of ours: it has made nothing", -hour, never, [], 60_000],
])("an open create whose parent %s", async (_, age, shownFrom, expected, longest) => {
  const [open, took] = await openAfter(age, shownFrom);
  expect(open).toEqual(expected);
  expect(took).toBeLessThan(longest);
});

it("an open create whose parent is another object by now stays open, and is warned of; the run goes on", async () => {
  const clock = virtualClock();
  const service = toyService(clock);
  const id = service.add({});
  const driver: Driver = {
    ...service,
    get: async (ref, signal) => {
      const live = await service.get(ref, signal);
      return live && { ...live, createdAt: "2026-02-02T00:00:00Z" };
    },
  };
  const kind = toyKind(driver, {
    schema: { ...toySchema, properties: { ...toySchema.properties, house } },
  });
  const shownCreatedAt = "2026-01-01T00:00:00Z";
  const state = {
    ...sampleState(0),
    resources: { "toys.house": sampleBound(id, { kind: "toys", place: {}, shownCreatedAt }) },
    intents: { "toys.cat": sampleIntent() },
    rounds: { "round-1": { kind: "toys", place: { house: id }, classKey: "cats", before: [] } },
  };
  const store = createMemoryStore();
  await store.write(state);
  const journal = openJournal(store, state, clock);
  const events: ApplyEvent[] = [];
  const emit = (event: ApplyEvent): void => void events.push(event);
  const drivers = new Map([["toys", readingDriver("toys", driver, { emit, journal })]]);
  const context = { ...applyContext(clock, driver, { kinds: kindRegistry([kind]), journal }), drivers, emit };
  expect(await clock.drive(recoverIntents(context))).toMatchObject({ found: 0 });
  expect(Object.keys(journal.state.intents)).toEqual(["toys.cat"]);
  expect(journal.state.resources["toys.house"]?.otherCreatedAt).toBe("2026-02-02T00:00:00Z");
  expect(events).toMatchObject([
    {
      type: "warning",
      address: "toys.cat",
      message: expect.stringMatching(/^the earlier create of toys\.cat stays open: .* is another object/),
    },
  ]);
});

import { expect, it } from "vitest";
import { recoverIntents } from "../../src/apply/creates/recover-intents.ts";
import { ServiceError } from "../../src/model/errors.ts";
import type { Driver } from "../../src/model/kind.ts";
import { kindRegistry } from "../../src/model/kind-registry.ts";
import { openJournal } from "../../src/state/journal.ts";
import { createMemoryStore } from "../../src/state/memory-store.ts";
import { sampleBound, sampleIntent, sampleState } from "../state/samples.ts";
import { applyContext } from "../support/apply-context.ts";
import { toyKind, toySchema } from "../support/toy-kind.ts";
import { toyService } from "../support/toy-service.ts";
import { virtualClock } from "../support/virtual-clock.ts";

const house = { type: "string", "x-reference": { section: "toys", output: "id" }, "x-place": true } as const;

/** What an open create comes to whose parent was made `age` ms ago, and is not shown; lists under it fail. */
async function openAfter(age: number): Promise<readonly string[]> {
  const clock = virtualClock();
  const driver: Driver = {
    ...toyService(clock),
    list: () => Promise.reject(new ServiceError("not-found", "list", "there is no such house")),
    get: async () => undefined,
  };
  const kind = toyKind(driver, {
    schema: { ...toySchema, properties: { ...toySchema.properties, house } },
  });
  const createdAt = new Date(clock.now() - age).toISOString();
  const state = {
    ...sampleState(0),
    serial: 0,
    resources: { "toys.house": sampleBound("toy-1", { kind: "toys", place: {}, createdAt }) },
    intents: { "toys.cat": sampleIntent() },
    rounds: { "round-1": { kind: "toys", place: { house: "toy-1" }, classKey: "cats", before: [] } },
  };
  const journal = openJournal(createMemoryStore(), state, clock);
  const context = applyContext(clock, driver, { kinds: kindRegistry([kind]), journal });
  await clock.drive(recoverIntents(context)).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
  });
  return Object.keys(journal.state.intents);
}

it.each([
  ["is long made and not shown any more: it has made nothing", 3_600_000, []],
  ["may still be hidden, for a clock was ahead: it stays open", -3_600_000, ["toys.cat"]],
])("an open create whose parent %s", async (_, age, expected) => {
  expect(await openAfter(age)).toEqual(expected);
});

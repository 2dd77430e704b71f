import { expect, it } from "vitest";
import { knownObjects } from "../../src/apply/creates/class-state.ts";
import { createClasses } from "../../src/apply/creates/create-class.ts";
import type { Journal, StateEvent } from "../../src/model/state-event.ts";
import { openJournal } from "../../src/state/journal.ts";
import { sampleBound, sampleState } from "../state/samples.ts";
import { applyContext } from "../support/apply-context.ts";
import { createMemoryStore } from "../support/memory-store.ts";
import { toyService } from "../support/toy-service.ts";
import { virtualClock } from "../support/virtual-clock.ts";

const clock = virtualClock();
const { kind, place } = sampleBound("any");
const elsewhere = { tier: "pro", component: "cluster" };

/** A journal that binds instance-0 to instances.db0. */
function journalOfOne(count = 1): Journal {
  return openJournal(createMemoryStore(), { ...sampleState(count), serial: 0 }, clock);
}

async function opened(
  before: readonly StateEvent[],
  after: readonly StateEvent[],
): Promise<ReturnType<typeof knownObjects>> {
  const journal = journalOfOne();
  for (const event of before) await journal.record(event);
  const known = knownObjects(journal);
  known.add(kind, place, ["listed"]);
  for (const event of after) await journal.record(event);
  return known;
}

const released: StateEvent = { type: "released", address: "instances.db0" };
const rebound: StateEvent = { type: "bound", address: "instances.db0", bound: sampleBound("instance-9") };
const later: StateEvent = { type: "bound", address: "instances.later", bound: sampleBound("instance-7") };
const moved: StateEvent = { type: "moved", from: "instances.db0", to: "instances.moved" };

it.each<[string, string, string, boolean, readonly StateEvent[], readonly StateEvent[]]>([
  ["an object that nobody knows", "instance-5", "instances.next", true, [], []],
  ["an object that was listed before", "listed", "instances.next", false, [], []],
  ["an object of another address", "instance-0", "instances.next", false, [], []],
  ["the address's own object, which may come back", "instance-0", "instances.db0", true, [], []],
  ["an object that was bound after the class was opened", "instance-7", "instances.next", false, [], [later]],
  ["an object that was let go of since", "instance-0", "instances.next", false, [], [released]],
  ["the own object that was let go of since", "instance-0", "instances.db0", true, [], [released]],
  ["an object that was let go of before", "instance-0", "instances.next", true, [released], []],
  ["an object whose address has another one since", "instance-0", "instances.next", false, [], [rebound]],
  ["an object that was moved to the address", "instance-0", "instances.moved", false, [], [moved]],
  ["an object that was moved to the address before", "instance-0", "instances.moved", true, [moved], []],
])("an answer that names %s", async (_, id, address, expected, before, after) => {
  const known = await opened(before, after);
  expect(known.mayBeNew(kind, place, id, address)).toBe(expected);
  expect(known.mayBeNew(kind, elsewhere, id, address)).toBe(true);
});

/** The times that something goes through all bindings while so many classes are opened and each gets an answer. */
async function passesOver(count: number): Promise<number> {
  let passes = 0;
  const journal = journalOfOne(count);
  const resources = new Proxy(journal.state.resources, {
    ownKeys(target) {
      passes += 1;
      return Reflect.ownKeys(target);
    },
  });
  const watched: Journal = { ...journal, state: { ...journal.state, resources } };
  const context = applyContext(clock, toyService(clock), { journal: watched });
  const classFor = createClasses(context);
  for (let at = 0; at < count; at += 1) {
    classFor(`class ${at}`);
    expect(knownObjects(watched).mayBeNew(kind, place, `instance-${at}`, "instances.next")).toBe(false);
  }
  return passes;
}

it("the classes of twice as many creates go through the bindings no more often", async () => {
  expect(await passesOver(20)).toBe(0);
  expect(await passesOver(40)).toBe(0);
});

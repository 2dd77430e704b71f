import { createdObject } from "../../src/apply/creates/create-request.ts";
import type { Address } from "../../src/model/address.ts";
import type { StateDocument } from "../../src/model/state.ts";
import { whileHeld } from "../../src/project/open-run.ts";
import { openJournal } from "../../src/state/journal.ts";
import type { JournalStore } from "../../src/state/store.ts";
import { boundAddress } from "./belonging.ts";
import type { RunCase } from "./case.ts";
import type { Oracle } from "./oracle.ts";
import { type Proc, proc } from "./proc.ts";
import { clockOf, type Ended } from "./program.ts";
import { begins, leaseEnds, openShared } from "./shared-store.ts";
import { type SimStore, simStore } from "./sim-store.ts";
import { isThere } from "./thing.ts";
import type { World } from "./world.ts";

/**
 * The addresses of which a run says that nothing is shown any more, and that a person allows to be made again. It is a broken
 * promise if one of the objects is there.
 */
export function allowedAgain(
  { steps }: Ended,
  { stored, registry }: World,
  watch: Oracle,
): readonly Address[] {
  const held = steps.filter(({ message }) => message?.includes("shows nothing any more") === true);
  for (const { address } of held) {
    const thing = registry.at(stored?.resources[address]?.id ?? "");
    if (thing !== undefined && isThere(thing))
      watch.violate("said to be gone", `${thing.id} (${address}) is there`);
  }
  return held.map(({ address }) => address);
}

/**
 * A person who knows what each lost create has made decides as the message says: `import ADDRESS ID`, or `state rm ADDRESS`.
 * False if no create is open.
 */
export async function decideCreates(run: RunCase, world: World, watch: Oracle): Promise<boolean> {
  if (Object.keys(world.stored?.intents ?? {}).length === 0) return false;
  const process = proc("person", run, [], world.schedule.now());
  process.phase = "applying";
  let isOver = false;
  edit(process, world, watch, (state, store) => settle(state, store, process, world))
    .catch((error: unknown) => watch.violate("decision", String(error)))
    .finally(() => {
      isOver = true;
    });
  await world.schedule.rest();
  while (!isOver) await world.schedule.step();
  watch.check();
  return true;
}

async function settle(state: StateDocument, store: JournalStore, process: Proc, world: World): Promise<void> {
  const clock = clockOf(process, world);
  const journal = openJournal(store, state, clock);
  for (const [address, intent] of Object.entries(state.intents)) {
    const made = world.registry.things.find(
      (thing) =>
        isThere(thing) &&
        thing.ours &&
        thing.madeFor === address &&
        boundAddress(thing, journal.state) === undefined,
    );
    world.tell(`person: ${address} ${made?.id ?? "has no object"}`);
    if (made === undefined) await journal.record({ type: "create-abandoned", address });
    else {
      const object = createdObject(address, made.id, intent, clock.now());
      await journal.record({ type: "create-acknowledged", ...object });
    }
  }
}

async function edit(
  process: Proc,
  world: World,
  watch: Oracle,
  work: (state: StateDocument, store: JournalStore) => Promise<void>,
): Promise<void> {
  const { shared } = world;
  if (shared === undefined) {
    const store: SimStore = simStore(process, world, watch);
    const state = await store.read();
    if (state !== undefined) await work(state, store);
    return store.fold();
  }
  const clock = clockOf(process, world);
  const store = openShared(process, shared, clock, world, watch);
  const lock = await store.lock("state rm", { clock, timeout: leaseEnds });
  begins(process, shared, world);
  await whileHeld(lock, async () => {
    const state = await store.read();
    if (state !== undefined) await work(state, store);
  });
  shared.owner = undefined;
}

import { GraphformError } from "../../src/model/errors.ts";
import type { StateDocument } from "../../src/model/state.ts";
import type { Oracle } from "./oracle.ts";
import type { Proc } from "./proc.ts";
import type { World } from "./world.ts";

/** What one process sees of the stored state: writes come one after the other and take time, as those of a file do. */
export interface SimStore {
  read(): Promise<StateDocument | undefined>;
  write(next: StateDocument): Promise<void>;
}

/**
 * A store whose writes are durable once acknowledged; the one under way when the process dies may be durable or lost.
 * Versions that arrive meanwhile are merged into the next write, as the file store does it.
 */
export function simStore(process: Proc, world: World, oracle: Oracle): SimStore {
  const { schedule, dice } = world;
  const delay = (): number => dice.next() * 20;
  let known = world.stored?.serial ?? 0;
  let unwritten: number | undefined;
  let refused = false;
  let waiting: { readonly next: StateDocument; readonly done: (error?: GraphformError) => void }[] = [];
  let isBusy = false;

  const store = (): void => {
    const batch = waiting;
    waiting = [];
    const [first, last] = [batch[0]?.next, batch.at(-1)?.next];
    isBusy = last !== undefined;
    if (first === undefined || last === undefined) return;
    const isLost = process.takeFault("state") === "unwritable";
    const finish = (error?: GraphformError): void => {
      schedule.after(delay(), process, () => {
        for (const { done } of batch) done(error);
        store();
      });
    };
    const settle = (): void => {
      const before = unwritten;
      unwritten = last.serial;
      const current = world.stored?.serial ?? 0;
      const follows = current === known && (first.serial - 1 === current || first.serial - 1 === before);
      if (refused || !follows) {
        refused = true;
        return finish(new GraphformError("state-conflict", "the state was changed by somebody else"));
      }
      if (isLost) return finish(new GraphformError("state-unwritable", "the disk is full"));
      unwritten = undefined;
      known = last.serial;
      world.tell(`${process.name} == state ${last.serial}: ${summary(last)}`);
      oracle.stores(process, last);
      finish();
    };
    // At a crash the write under way is durable or lost.
    schedule.after(delay(), world.service, () => {
      if (!process.dead || dice.is(0.5)) settle();
    });
  };
  return {
    read: () =>
      new Promise((resolve) => {
        schedule.after(delay(), process, () => {
          known = world.stored?.serial ?? 0;
          resolve(world.stored);
        });
      }),
    write: (next) =>
      new Promise((resolve, reject) => {
        waiting.push({ next, done: (error) => (error === undefined ? resolve() : reject(error)) });
        if (!isBusy) store();
      }),
  };
}

function summary({ resources, intents }: StateDocument): string {
  const bound = Object.entries(resources).map(
    ([address, { id, converging }]) => `${address} = ${id} ${converging?.operation ?? ""}`,
  );
  return [...bound, ...Object.keys(intents).map((address) => `${address} intended`)].join(", ");
}

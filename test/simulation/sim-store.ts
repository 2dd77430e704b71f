import { GraphformError } from "../../src/model/errors.ts";
import type { StateDocument } from "../../src/model/state.ts";
import { follows, stateFormatter, type VersionId } from "../../src/state/document.ts";
import { type LiveDocument, liveDocument, snapshotOf } from "../../src/state/live-document.ts";
import { readState } from "../../src/state/read-state.ts";
import { appendTo } from "../../src/state/reducer.ts";
import { eventsLine, headLine } from "../../src/state/state-log.ts";
import type { EventVersion, JournalStore } from "../../src/state/store.ts";
import type { Oracle } from "./oracle.ts";
import type { Proc } from "./proc.ts";
import type { Disk, World } from "./world.ts";

/** What one process sees of the stored state: writes come one after the other and take time, as those of a file do. */
export interface SimStore extends JournalStore {
  read(): Promise<StateDocument | undefined>;
  /** Folds the log into the document, as it is done before the lock is given back. */
  fold(): Promise<void>;
}

/** How long a log gets before it is folded in: short, so that it happens now and then. */
const longest = 4000;

type Item =
  | { readonly is: "whole"; readonly version: StateDocument }
  | { readonly is: "event"; readonly version: EventVersion }
  | { readonly is: "fold" };

/** One replacement of a file, or one addition to it; `cut` is what a crash in the middle leaves. */
interface Change {
  readonly to: Disk;
  readonly cut?: Disk;
}

const format = stateFormatter();

/**
 * The files of a store, and the order in which they are changed (src/state/state-writer.ts), with the formats of the program.
 * At a crash any number of the changes of a write have been made; an addition to the log may be cut.
 */
export function simStore(process: Proc, world: World, oracle: Oracle): SimStore {
  const { schedule, dice } = world;
  const delay = (): number => dice.next() * 20;
  let known: VersionId | undefined = world.stored;
  let live: LiveDocument | undefined;
  /** The document that was written here last, as a log follows it. */
  let base: Pick<Disk, "document"> | undefined;
  let head = "";
  let hasLog = false;
  let unwritten: number | undefined;
  let refused = false;
  let waiting: { readonly item: Item; readonly done: (error?: GraphformError) => void }[] = [];
  let isBusy = false;

  const changesFor = (items: readonly Item[], { view }: LiveDocument): readonly Change[] => {
    const { disk } = world;
    const events = items.flatMap((item) => (item.is === "event" ? [item.version] : []));
    const isLong = hasLog && (disk.log ?? "").length > longest;
    if (events.length < items.length || base === undefined || isLong) {
      base = { document: format({ ...view, version: 3 }) };
      head = headLine(view);
      hasLog = false;
      return [{ to: { ...disk, document: format(view) } }];
    }
    const line = eventsLine(events);
    if (hasLog) {
      const log = disk.log ?? "";
      const cut = line.slice(0, Math.floor(dice.next() * line.length));
      return [{ to: { ...disk, log: log + line }, cut: { ...disk, log: log + cut } }];
    }
    hasLog = true;
    const begun = { ...disk, log: head + line };
    return [{ to: begun }, { to: { ...begun, ...base } }];
  };

  const store = (): void => {
    const batch = waiting;
    waiting = [];
    const items = batch.map(({ item }) => item);
    const [first] = items.flatMap((item) => (item.is === "fold" ? [] : [item.version]));
    isBusy = batch.length > 0;
    if (live === undefined || !isBusy) return;
    const next = snapshotOf(live.view);
    const isLost = first !== undefined && process.takeFault("state") === "unwritable";
    const finish = (error?: GraphformError): void => {
      schedule.after(delay(), process, () => {
        for (const { done } of batch) done(error);
        store();
      });
    };
    const before = unwritten;
    const settle = (changes: readonly Change[]): void => {
      if (first !== undefined) unwritten = next.serial;
      const isOurs = known?.serial === world.stored?.serial;
      const isNext = first === undefined || follows(known, first) || first.serial - 1 === before;
      if (refused || !isOurs || !isNext) {
        refused = true;
        return finish(new GraphformError("state-conflict", "the state was changed by another program"));
      }
      if (isLost) {
        // How far it came nobody knows.
        known = apply(changes) ?? known;
        [base, hasLog] = [undefined, false];
        return finish(new GraphformError("state-unwritable", "the disk is full"));
      }
      world.disk = changes.at(-1)?.to ?? world.disk;
      unwritten = undefined;
      known = next;
      if (first !== undefined) {
        world.tell(`${process.name} == state ${next.serial}: ${summary(next)}`);
        oracle.stores(process, next);
      }
      finish();
    };
    /** Makes some of the changes of a write; what is read afterwards is what is stored. */
    const apply = (changes: readonly Change[]): StateDocument | undefined => {
      const states = [
        world.disk,
        ...changes.flatMap(({ to, cut }) => (cut === undefined ? [to] : [cut, to])),
      ];
      world.disk = states[Math.floor(dice.next() * states.length)] ?? world.disk;
      const found = readDisk(world.disk);
      if (found !== undefined && found.serial > (world.stored?.serial ?? 0)) oracle.stores(process, found);
      return found;
    };
    const changes = changesFor(items, live);
    schedule.after(delay(), world.service, () => {
      if (!process.dead) settle(changes);
      else if (!refused && known?.serial === world.stored?.serial) apply(changes);
    });
  };

  const offer = (item: Item): Promise<void> => {
    if (item.is === "whole") live = liveDocument(item.version);
    if (item.is === "event" && (live === undefined || !appendTo(live, item.version)))
      oracle.violate("fold", `${item.version.event.type} does not fit what ${process.name} has stored`);
    return new Promise((resolve, reject) => {
      waiting.push({ item, done: (error) => (error === undefined ? resolve() : reject(error)) });
      if (!isBusy) store();
    });
  };

  return {
    read: () =>
      new Promise((resolve) => {
        schedule.after(delay(), process, () => {
          const found = readDisk(world.disk);
          if (found?.serial !== world.stored?.serial)
            oracle.violate(
              "lost state",
              `version ${world.stored?.serial} was durable, and ${found?.serial} is read`,
            );
          known = found;
          resolve(found);
        });
      }),
    write: (version) => offer({ is: "whole", version }),
    append: (version) => offer({ is: "event", version }),
    fold: async () => {
      if (hasLog) await offer({ is: "fold" }).catch(() => undefined);
    },
  };
}

function readDisk({ document, log }: Disk): StateDocument | undefined {
  return document === undefined ? undefined : readState(document, "simulated", "simulated", log);
}

function summary({ resources, intents }: StateDocument): string {
  const bound = Object.entries(resources).map(
    ([address, { id, converging }]) => `${address} = ${id} ${converging?.operation ?? ""}`,
  );
  return [...bound, ...Object.keys(intents).map((address) => `${address} intended`)].join(", ");
}

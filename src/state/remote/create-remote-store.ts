/** @module Stores a state behind a protocol, for a team: conditional writes under a lease. */
import { type Clock, systemClock } from "../../model/clock.ts";
import { asError, GraphformError, isGraphformError } from "../../model/errors.ts";
import { orAborted } from "../../model/once.ts";
import type { StateDocument } from "../../model/state.ts";
import { isTimeUp } from "../../model/time-limit.ts";
import { follows, stateFormatter, type VersionId, versionIdOf, versionIn } from "../document.ts";
import { type ErroredFiles, openErroredFiles } from "../errored-file.ts";
import { defaultLease, type HeldLease, holdLease, type LeaseClock, leaseClock } from "../held-lease.ts";
import { type LiveDocument, liveDocument } from "../live-document.ts";
import { alive, notLocked, unknownLock } from "../lock-words.ts";
import { appendTo } from "../reducer.ts";
import { mergeCalls } from "../state-writer.ts";
import type { DurableStore, EventVersion, Holder, Lock, LockOptions, Stored } from "../store.ts";
import { changedMeanwhile, conflict } from "../store-trouble.ts";
import { conditionalWriter } from "./conditional-writer.ts";
import type { StateDriver } from "./driver.ts";
import { readableState, readNewest, readStored } from "./read-stored.ts";
import { isUnreachable, untilAnswered } from "./store-retry.ts";
import { raiseFence, takeLease } from "./take-lease.ts";
import { findUnpushed, openUnstored } from "./unstored.ts";

/** All but `name` and `erroredFile` have defaults, and are for tests. */
export interface RemoteStoreOptions extends Partial<LeaseClock> {
  /** Longest time for an answer to a read, or for the lock, in ms. Default: as long as a store may be away. */
  readonly answerWithin?: number | undefined;
  /** The manifest's name: a state of another name is refused. */
  readonly name: string;
  /** Local file that gets what could not be stored, for `graphform state push`. */
  readonly erroredFile: string;
  readonly place?: ErroredFiles["place"];
  readonly errored?: ErroredFiles;
}

/**
 * A state behind a driver. Writes are merged while one is under way, and each replaces exactly the version that is known. A store that
 * refuses a write, or does not answer in time, ends the run: `lost` is aborted, and `finish` stores the events so far, or keeps them in a file.
 */
export function createRemoteStore(driver: StateDriver, options: RemoteStoreOptions): DurableStore {
  const { name, clock = systemClock } = options;
  const { where } = driver;
  const format = stateFormatter();
  const writer = conditionalWriter(driver, name, clock);
  const errored = options.errored ?? openErroredFiles(options.erroredFile, name, options.place);
  let held: HeldLease | undefined;
  /** The text that was read or replaced last as a whole. */
  let seen: Stored | undefined;
  /** Everything that was handed in, stored or not. */
  let live: LiveDocument | undefined;
  const storedNow = (): StateDocument | undefined => readableState(writer.known()?.text, where, name);
  const run = { where, view: () => live?.view, stored: storedNow, possible: writer.possible };
  const unstored = openUnstored(run, errored);
  let warn: LockOptions["warn"];
  let busy = 0;
  /** True once all that is not stored yet goes to the local file at once. */
  let isHurried = false;
  /** The reason for which nothing is written any more, until the state is read again. */
  let failed: Error | undefined;

  const { answerWithin: patience } = options;
  const limit = patience === undefined ? undefined : { patience, where };
  let isOver = false;
  /** Closes the driver once the time is up, so that nothing waits for its requests; a lock is given back first. */
  const closing = (error: unknown): never => {
    isOver ||= isTimeUp(error);
    if (isOver && held === undefined) void driver.close();
    throw error;
  };
  const answered = <T>(ask: (attempt: number) => Promise<T>): Promise<T> => {
    const asked = untilAnswered(ask, { clock, limit });
    return (held === undefined ? asked : orAborted(asked, held.late)).catch(closing);
  };
  const load = async (): Promise<StateDocument | undefined> => {
    const stored = await driver.read();
    const state = stored && readStored(stored.text, where, name);
    writer.know(stored, state);
    return state;
  };
  const put = async (lease: HeldLease, view: StateDocument): Promise<void> =>
    writer.put(format(view), versionIdOf(view), lease);

  const writes = mergeCalls<VersionId>(async (take) => {
    if (writer.known() === undefined && failed === undefined) await answered(load);
    const [first] = take();
    if (failed !== undefined) throw failed;
    if (first === undefined || live === undefined) return;
    if (held === undefined) throw notLocked(where);
    const stored = writer.known()?.id;
    try {
      if (!follows(stored, first)) throw conflict(where, first, stored);
      await put(held, live.view);
    } catch (error) {
      failed = asError(error);
      held.stop(failed);
      if (isUnreachable(error))
        warn?.(
          `${failed.message}: nothing new is begun; what happened and could not be stored is kept in a local file, which the end of the run names`,
        );
      throw failed;
    }
  });

  const offer = async (version: VersionId, change: () => boolean): Promise<void> => {
    const before =
      (busy > 0 || failed !== undefined) && live !== undefined ? versionIdOf(live.view) : undefined;
    if ((before !== undefined && !follows(before, version)) || !change())
      throw conflict(where, version, before ?? writer.known()?.id);
    busy += 1;
    if (isHurried) unstored.keepEarly();
    await writes.offer(versionIdOf(version)).finally(() => {
      busy -= 1;
    });
  };

  const timeOf = (time: Clock): LeaseClock => ({ ...leaseClock(time), ...options, clock: time });

  const lock = async (operation: string, lockOptions: LockOptions): Promise<Lock> => {
    const { lease: ms = defaultLease } = lockOptions;
    const { lease, isTakeover } = await takeLease(driver, operation, ms, lockOptions, limit).catch(closing);
    writer.forget();
    let isFenced = !isTakeover;
    const isUnchanged = async (): Promise<boolean> => !isFenced || (await writer.isUnchanged());
    const mine = holdLease(driver, lease, ms, timeOf(lockOptions.clock), isUnchanged);
    if (isTakeover) await fence(mine, lockOptions.clock);
    isFenced = true;
    if (lockOptions.isPush !== true) await refuseUnpushed(mine, lockOptions.warn);
    held = mine;
    warn = lockOptions.warn;
    lockOptions.hurrying?.addEventListener("abort", () => {
      isHurried = true;
      if (busy > 0) unstored.keepEarly();
      mine.hurry();
    });
    return {
      id: mine.id,
      lost: mine.lost,
      look: mine.look,
      check: mine.renew,
      async finish(): Promise<void> {
        await writes.idle();
        await mine.renew();
        if (!mine.lost.aborted) return unstored.drop();
        const { view } = live ?? {};
        const last = view && failed && !mine.ended.aborted ? () => put(mine, view) : undefined;
        const lockLeft = driver.expires ? undefined : mine.id;
        throw await unstored.keep(asError(mine.lost.reason), last, lockLeft);
      },
      async release(): Promise<void> {
        await writes.idle();
        if (held === mine) held = undefined;
        const left = await mine.release();
        if (isOver || (isHurried && mine.late.aborted)) void driver.close();
        if (left !== undefined) lockOptions.warn?.(left);
      },
    };
  };

  /** Ids that stand in a local file alone must not be looked for, or made again, by a run that does not know them. */
  const refuseUnpushed = async (mine: HeldLease, warn: LockOptions["warn"]): Promise<void> => {
    try {
      const found = await findUnpushed(driver, name, clock, errored, true);
      if (found !== undefined) throw found.refusal;
    } catch (error) {
      const left = await mine.release();
      if (left !== undefined) warn?.(left);
      throw error;
    }
  };

  /** A lock is not given back while the holder before may still write: the next holder raises the fence again. */
  const fence = async (mine: HeldLease, time: Clock): Promise<void> => {
    try {
      await raiseFence(driver, mine, name, time);
    } catch (error) {
      await mine.abandon();
      throw error;
    }
  };

  /** Shuts out the holder whose lock was removed; another one that came first begins with what it reads, and is left alone. */
  const fenceAfterRemoval = async (): Promise<void> => {
    const lockOptions = { clock };
    const taken = await takeLease(driver, "state unlock", defaultLease, lockOptions).catch(
      (error: unknown) => {
        if (isGraphformError(error) && error.code === "locked") return undefined;
        throw error;
      },
    );
    if (taken === undefined) return;
    const mine = holdLease(driver, taken.lease, defaultLease, timeOf(clock));
    await fence(mine, clock);
    const left = await mine.release();
    if (left !== undefined) throw new GraphformError("state-unreachable", left);
  };

  return {
    where,
    async read(): Promise<StateDocument | undefined> {
      await writes.idle();
      const state = await answered(() => readNewest(driver, load, name));
      failed = undefined;
      return state;
    },
    write: (version) =>
      offer(version, () => {
        live = liveDocument(version);
        return true;
      }),
    append: (version: EventVersion) => offer(version, () => live !== undefined && appendTo(live, version)),
    spool: unstored.add,
    unpushed: () => findUnpushed(driver, name, clock, errored, false),
    lock,
    holder: () => answered(() => driver.holder()),
    async unlock(id, { force = false } = {}): Promise<Holder> {
      const found = await answered(() => driver.holder());
      if (found?.id !== id) throw unknownLock(where, id, found);
      if (driver.expires && !force) throw alive(found);
      let attempts = 0;
      const isRemoved = await answered((attempt) => {
        attempts = attempt;
        return driver.remove(id);
      });
      // If an answer was lost, that attempt may have removed it.
      const now = isRemoved ? undefined : await answered(() => driver.holder());
      if (!isRemoved && (attempts === 1 || now?.id === id)) throw unknownLock(where, id, now);
      await fenceAfterRemoval();
      return found;
    },
    async readText(): Promise<Stored | undefined> {
      await writes.idle();
      seen = await answered(() => driver.read());
      return seen;
    },
    async replaceText(text, expected): Promise<void> {
      await writes.idle();
      if (held === undefined) throw notLocked(where);
      if (seen?.version !== expected) throw changedMeanwhile(where);
      writer.know(seen, undefined);
      await writer.put(text, versionIn(text), held);
      seen = { text, version: writer.known()?.version ?? "" };
    },
    history: () => answered(() => driver.history()),
    readVersion: (id) => answered(() => driver.readVersion(id)),
    prepare: () => driver.prepare(),
    probe: () => driver.probe(),
    close: () => driver.close(),
  };
}

import { existsSync } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import { expect, vi } from "vitest";
import { isGraphformError } from "../../../src/model/errors.ts";
import type { Service } from "../../../src/model/service.ts";
import type { StateDocument } from "../../../src/model/state.ts";
import { applyDependencies } from "../../../src/project/dependencies.ts";
import { readErroredState } from "../../../src/state/errored-file.ts";
import { matchOf } from "../../../src/state/errored-state.ts";
import { openJournal } from "../../../src/state/journal.ts";
import type { Lock } from "../../../src/state/store.ts";
import { toyProfile } from "../../support/toy-kind.ts";
import { sampleBound } from "../samples.ts";
import { type Case, first, type Instead, lockOf, second, stored, under } from "./cases.ts";
import type { Cut, Request } from "./faulty-driver.ts";
import { hurriedClock, type Opened, type StoreBench } from "./store-bench.ts";

/** Removes a lock by its id, with force where the store asks for it. */
async function removeLock({ store }: Opened, id: string): Promise<void> {
  await store.unlock(id).catch(async (error: unknown) => {
    if (!isGraphformError(error) || error.code !== "lock-alive") throw error;
    await store.unlock(id, { force: true });
  });
}

/** Gives the lock of a holder that does not answer any more to somebody else, as this store lets it go. */
async function takeOver(bench: StoreBench, other: Opened, id: string): ReturnType<typeof lockOf> {
  await expect(lockOf(other)).rejects.toMatchObject({ code: "locked" });
  if (bench.expire === undefined) await removeLock(other, id);
  else await bench.expire();
  return lockOf(other);
}

const noExpiry = "locks do not run out here: the other one took it by its exact id";

const isDriver = ({ erroredFile }: StoreBench): boolean => erroredFile !== undefined;

/** A fence where nothing was stored leaves an empty state: the version after it is 2. */
const nextOf = (found: StateDocument | undefined): StateDocument =>
  found === undefined ? first : { ...first, lineage: found.lineage, serial: found.serial + 1 };

/** What a store must stand. */
export const casesOfTrouble: readonly Case[] = [
  [
    "two writers: the second one is refused, and what the first one wrote stands",
    async (bench) => {
      const [one, other] = [bench.open(), bench.open()];
      await under(one, (store) => store.write(first));
      const lock = await lockOf(one);
      await one.store.read();
      await removeLock(other, lock.id);
      const next = await lockOf(other);
      const found = nextOf(await other.store.read());
      await other.store.write(found);
      await expect(one.store.write(second)).rejects.toMatchObject({
        code:
          one.store === other.store
            ? "state-conflict"
            : expect.stringMatching(/^(state-conflict|lock-lost)$/),
        exitCode: 1,
      });
      expect(await stored(bench)).toEqual(found);
      await lock.release();
      expect((await other.store.holder())?.id).toBe(next.id);
      await next.release();
    },
  ],
  [
    "a crash between lock and write: the next one gets the lock and begins",
    async (bench, instead) => {
      const [dead, other] = [bench.open(), bench.open()];
      const { id } = await lockOf(dead);
      const next = await takeOver(bench, other, id);
      const version = nextOf(await other.store.read());
      await other.store.write(version);
      await next.finish();
      await next.release();
      expect(await stored(bench)).toEqual(version);
      if (bench.expire === undefined) instead(noExpiry);
    },
  ],
  [
    "an old holder that was stopped wakes up before the new one has written, and can write nothing",
    async (bench, instead) => {
      const [old, other] = [bench.open(), bench.open()];
      if (old.store === other.store) return instead("there is one process alone");
      const lock = await lockOf(old);
      await old.store.read();
      await old.store.write(first);
      const next = await takeOver(bench, other, lock.id);
      // It knows nothing of the time that has passed.
      const refused = old.store.write(second);
      if (!isDriver(bench)) {
        await refused;
        await lock.check();
        expect(lock.lost.aborted).toBe(true);
        await next.release();
        return instead("a running process is never taken over but by force; it notices at its next look");
      }
      await expect(refused).rejects.toMatchObject({
        code: expect.stringMatching(/^(state-conflict|lock-lost)$/),
      });
      expect(lock.lost.aborted).toBe(true);
      await expect(old.store.write(second)).rejects.toThrow();
      await expect(lock.finish()).rejects.toMatchObject({ exitCode: 1 });
      await lock.release();
      expect((await other.store.holder())?.id).toBe(next.id);
      const found = nextOf(await other.store.read());
      expect(found.serial).toBe(3);
      await other.store.write(found);
      await next.finish();
      await next.release();
      if (bench.expire === undefined) instead(noExpiry);
    },
  ],
  [
    "an old holder that knows how long it was stopped asks nobody, and begins nothing",
    async (bench, instead) => {
      const old = bench.open();
      const lock = await lockOf(old);
      await old.store.write(first);
      if (bench.expire === undefined) {
        old.wake(3_600_000);
        const asked = old.faults?.asked.length ?? 0;
        await lock.look();
        expect(lock.lost.aborted).toBe(false);
        if (old.faults !== undefined) expect(old.faults.asked.slice(asked)).toEqual(["renew", "read"]);
        await lock.release();
        return instead("a lock that does not run out is not lost by waiting");
      }
      old.wake(39_000);
      await lock.look();
      expect(lock.lost.aborted).toBe(false);
      old.wake(2000);
      const asked = old.faults?.asked.length;
      await lock.look();
      expect(lock.lost.reason).toMatchObject({ code: "lock-lost", exitCode: 1 });
      await expect(old.store.write(second)).rejects.toMatchObject({ code: "lock-lost" });
      expect(old.faults?.asked.length).toBe(asked);
      await lock.release();
      expect(await stored(bench)).toEqual(first);
    },
  ],
  [
    "an old holder that wakes up under another one's lock looks at its lock first, and sends the service nothing",
    async (bench, instead) => {
      const [old, other] = [bench.open(), bench.open()];
      if (old.store === other.store) return instead("there is one process alone");
      const lock = await lockOf(old);
      await old.store.read();
      await old.store.write(first);
      const { service, sent, stopping } = serviceUnder(old, lock);
      const call = { operation: "instance.delete", params: {} };
      await service.write(call, stopping, stopping);
      expect(sent).toEqual(["write"]);
      const next = await takeOver(bench, other, lock.id);
      old.wake(85_000);
      const woken = await Promise.allSettled([
        service.write(call, stopping, stopping),
        service.read(call, stopping),
        service.write(call, stopping, stopping),
      ]);
      expect(woken.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
      expect(sent).toEqual(["write"]);
      expect(lock.lost.reason).toMatchObject({ code: "lock-lost", exitCode: 1 });
      await lock.release();
      expect((await other.store.holder())?.id).toBe(next.id);
      await next.release();
    },
  ],
  [
    "is unlocked by who knows the exact id, and by nobody else",
    async (bench, instead) => {
      const [one, other] = [bench.open(), bench.open()];
      const lock = await lockOf(one);
      for (const id of ["0123456789abcdef", "", lock.id.slice(0, -1), `${lock.id}0`])
        await expect(other.store.unlock(id, { force: true })).rejects.toMatchObject({ code: "lock-unknown" });
      expect((await other.store.holder())?.id).toBe(lock.id);
      const isKept = bench.expire !== undefined || !isDriver(bench);
      if (isKept) await expect(other.store.unlock(lock.id)).rejects.toMatchObject({ code: "lock-alive" });
      expect(await other.store.unlock(lock.id, { force: true })).toMatchObject({
        id: lock.id,
        ...(bench.showsOperation === false ? {} : { operation: "apply" }),
      });
      await expect(other.store.unlock(lock.id, { force: true })).rejects.toMatchObject({
        code: "lock-unknown",
      });
      const next = await lockOf(other);
      await lock.release();
      expect((await other.store.holder())?.id).toBe(next.id);
      await next.release();
      if (!isKept) instead("nobody knows whether the holder lives: the id is enough");
    },
  ],
  ...(["take", "read", "write", "renew", "release", "holder", "remove"] as const).flatMap((request) =>
    (["before", "after"] as const).map(
      (cut): Case => [
        `loses an answer to ${request} ${cut} its work, and goes on as if nothing were`,
        (bench, instead) => playLost(bench, request, cut, instead),
      ],
    ),
  ),
  [
    "a store that goes away: nothing new is begun, and what happened goes to a file that fits",
    async (bench, instead) => {
      const opened = bench.open();
      const { faults, store } = opened;
      if (faults === undefined || bench.erroredFile === undefined)
        return instead("it is on this machine: a full disk fails the step (test/state/file-store.test.ts)");
      const lock = await lockOf(opened);
      await store.write(first);
      const journal = openJournal(store, first, hurriedClock);
      await journal.record({ type: "plan-applied", fingerprint: "p" });
      faults.away(true);
      await journal.record({ type: "bound", address: "instances.made", bound: sampleBound("made") });
      expect(lock.lost.aborted).toBe(true);
      const announced = journal.record({
        type: "update-announced",
        address: "instances.db0",
        paths: ["a"],
        at: first.savedAt,
      });
      await expect(announced).rejects.toMatchObject({ code: "state-unreachable" });
      await expect(lock.finish()).rejects.toMatchObject({
        code: "state-unreachable",
        exitCode: 1,
        hint: expect.stringMatching(
          bench.expire === undefined
            ? new RegExp(`graphform state unlock ${lock.id} if .*, graphform state push`)
            : /answers again: graphform state push/,
        ),
      });
      await lock.release();
      expect((await stat(bench.erroredFile)).mode & 0o777).toBe(0o600);
      const errored = readErroredState(await readFile(bench.erroredFile, "utf8"), "errored", "shop");
      await rm(bench.erroredFile);
      expect(errored.state.resources["instances.made"]?.id).toBe("made");
      const standing = async (): Promise<string> =>
        matchOf(errored, await stored(bench), bench.open().store.where);
      expect(await standing()).toBe("ahead");
      // Whoever takes over the lock that is left standing changes nothing; whoever has written since is not overwritten.
      const other = bench.open();
      const next = await takeOver(bench, other, lock.id);
      const found = await other.store.read();
      expect(matchOf(errored, found, errored.where)).toBe("ahead");
      await other.store.write({ ...nextOf(found), appliedPlans: ["another"] });
      expect(errored.created).toEqual([{ address: "instances.made", id: "made" }]);
      expect(await standing()).toBe("stale");
      await next.release();
    },
  ],
  [
    "a store that comes back before the end of the run gets what happened",
    async (bench, instead) => {
      const opened = bench.open();
      const { faults, store } = opened;
      const { erroredFile } = bench;
      if (faults === undefined || erroredFile === undefined) return instead("it is on this machine");
      const lock = await lockOf(opened);
      await store.write(first);
      const journal = openJournal(store, first, hurriedClock);
      await journal.record({ type: "plan-applied", fingerprint: "p" });
      faults.away(true);
      await journal.record({ type: "bound", address: "instances.made", bound: sampleBound("made") });
      faults.away(false);
      // In a file meanwhile: whoever kills the run now loses nothing.
      await vi.waitFor(() => expect(existsSync(erroredFile)).toBe(true));
      await expect(lock.finish()).rejects.toMatchObject({
        code: "state-unreachable",
        hint: expect.stringContaining("is stored"),
      });
      await lock.release();
      expect(existsSync(erroredFile)).toBe(false);
      expect((await stored(bench))?.resources["instances.made"]?.id).toBe("made");
      expect(await bench.open().store.holder()).toBeUndefined();
    },
  ],
  [
    "wrong credentials are refused at once, with nothing done",
    async (bench, instead) => {
      const opened = bench.openDenied?.();
      if (opened === undefined) return instead("there are no credentials but those of the files");
      await under(bench.open(), (store) => store.write(first));
      await expect(opened.store.read()).rejects.toMatchObject({ code: "state-denied", exitCode: 1 });
      expect(opened.faults?.asked).toEqual(["read"]);
      await expect(lockOf(opened)).rejects.toMatchObject({ code: "state-denied" });
      await expect(opened.store.holder()).rejects.toMatchObject({ code: "state-denied" });
      expect(await stored(bench)).toEqual(first);
      expect(await bench.open().store.holder()).toBeUndefined();
    },
  ],
  [
    "credentials that may not lock can read, and begin nothing",
    async (bench, instead) => {
      const opened = bench.openWithoutLock?.();
      if (opened === undefined) return instead("there are no credentials but those of the files");
      await under(bench.open(), (store) => store.write(first));
      expect(await opened.store.read()).toEqual(first);
      await expect(lockOf(opened)).rejects.toMatchObject({ code: "state-denied" });
      await expect(opened.store.write(second)).rejects.toMatchObject({ code: "state-not-locked" });
      expect(await stored(bench)).toEqual(first);
    },
  ],
];

/** A service as an apply under this lock reaches it, and what was sent to it. */
function serviceUnder(
  { store, clock }: Opened,
  lock: Lock,
): { readonly service: Service; readonly sent: readonly string[]; readonly stopping: AbortSignal } {
  const sent: string[] = [];
  const service: Service = {
    profile: toyProfile,
    hide: (text) => text,
    offers: () => true,
    date: () => undefined,
    async read() {
      sent.push("read");
      return { body: {}, values: {} };
    },
    async write(_, signal, unsent = signal, look = undefined) {
      await look?.();
      unsent.throwIfAborted();
      sent.push("write");
      return { body: {}, values: {} };
    },
  };
  const world = applyDependencies({
    service,
    store,
    state: first,
    lock,
    stopping: new AbortController().signal,
    clock,
  });
  return { service: world.service, sent, stopping: world.stopping };
}

async function playLost(bench: StoreBench, request: Request, cut: Cut, instead: Instead): Promise<void> {
  const opened = bench.open();
  const { faults, store } = opened;
  if (faults === undefined) return instead("there are no answers that could be lost");
  await under(bench.open(), (other) => other.write(first));
  faults.cut(request, cut);
  const lock = await lockOf(opened);
  const found = await store.read();
  const next = nextOf(found);
  await store.write(next);
  await lock.check();
  expect(await store.holder()).toMatchObject({ id: lock.id });
  await lock.finish();
  await lock.release();
  expect(await stored(bench)).toEqual(next);
  if (request === "remove") {
    const { id } = await lockOf(bench.open());
    expect(await store.unlock(id, { force: true })).toMatchObject({ id });
  }
  expect(faults.left()).toBe(0);
  expect(await bench.open().store.holder()).toBeUndefined();
}

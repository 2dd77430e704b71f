import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { recordText } from "../../src/files/lock-file.ts";
import { type Clock, systemClock } from "../../src/model/clock.ts";
import {
  acquireLock,
  breakLock,
  isGone,
  type LockRecord,
  newRecord,
  readHolder,
  stateLocks,
} from "../../src/state/lock.ts";
import { runs } from "../support/runs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startLockUser } from "./lock-user.ts";

const clock = systemClock;

async function lockFile(): Promise<string> {
  return join(temporaryFolder("state"), "shop.state.json.lock");
}

/** A record of a process that is surely gone. */
function deadRecord(over: Partial<LockRecord> = {}): LockRecord {
  return { ...newRecord("apply", clock.now(), 60_000), started: "1", ...over };
}

function remoteRecord(over: Partial<LockRecord> = {}): LockRecord {
  return deadRecord({
    machine: "elsewhere",
    host: "elsewhere",
    who: "ci@elsewhere",
    pid: process.pid,
    ...over,
  });
}

function at(ms: number): Clock {
  return { ...clock, now: () => ms };
}

describe("a lock", () => {
  it("says who holds it, and is for its owner only", async () => {
    const file = await lockFile();
    const lock = await acquireLock(file, "apply", { clock });
    const { mode } = await stat(file);
    expect((mode & 0o777).toString(8)).toBe("600");
    expect(await readHolder(file)).toEqual({
      id: lock.id,
      who: expect.stringMatching(/.@./),
      pid: process.pid,
      host: hostname(),
      operation: "apply",
      created: expect.stringMatching(/^20.*Z$/),
      heartbeat: expect.stringMatching(/^20.*Z$/),
      expires: expect.stringMatching(/^20.*Z$/),
    });
    await lock.release();
    expect(await readdir(join(file, ".."))).toEqual([]);
  });

  it("is refused to others with who, since when, for what, and the way out", async () => {
    const file = await lockFile();
    const lock = await acquireLock(file, "apply", { clock });
    const error: unknown = await acquireLock(file, "destroy", { clock }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: "locked",
      exitCode: 5,
      message: expect.stringMatching(
        new RegExp(`@${hostname()} \\(process ${process.pid}\\) has held it for apply since 20`),
      ),
      hint: expect.stringContaining(`graphform state unlock ${lock.id}`),
    });
    await lock.release();
  });

  it("that is waited for ends with the reason of the signal when the wait is interrupted", async () => {
    const file = await lockFile();
    const lock = await acquireLock(file, "apply", { clock });
    const stop = new AbortController();
    const reason = new Error("interrupted");
    const waiting = acquireLock(file, "destroy", { clock, timeout: 60_000, signal: stop.signal });
    setTimeout(() => stop.abort(reason), 20);
    await expect(waiting).rejects.toBe(reason);
    await lock.release();
  });

  it("keeps its heartbeat while it is held, and only then", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const file = await lockFile();
    let now = 1_000_000;
    const lock = await acquireLock(file, "apply", { clock: { ...clock, now: () => now }, lease: 60_000 });
    now += 50_000;
    vi.advanceTimersByTime(15_000);
    await vi.waitFor(async () => {
      expect(await readHolder(file)).toMatchObject({
        created: new Date(1_000_000).toISOString(),
        heartbeat: new Date(1_050_000).toISOString(),
        expires: new Date(1_110_000).toISOString(),
      });
    });
    await lock.release();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it("that was taken away is noticed, and neither heartbeat nor release reach the next one's", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const file = await lockFile();
    let asleep = 0;
    const lock = await acquireLock(file, "apply", { clock: { ...clock, now: () => clock.now() + asleep } });
    await expect(breakLock(file, lock.id)).rejects.toMatchObject({
      code: "lock-alive",
      message: expect.stringMatching(new RegExp(`process ${process.pid}\\) is at work on apply`)),
      hint: expect.stringContaining(`state unlock ${lock.id} --force`),
    });
    await breakLock(file, lock.id, true);
    const next = await acquireLock(file, "apply", { clock });
    const text = await readFile(file, "utf8");
    asleep = 20_000;
    vi.advanceTimersByTime(5_000);
    await vi.waitFor(() => expect(lock.lost.aborted).toBe(true));
    expect(lock.lost.reason).toMatchObject({
      code: "lock-lost",
      message: expect.stringMatching(
        new RegExp(`taken away by \\S+@${hostname()} \\(process ${process.pid}\\) for state unlock at 20`),
      ),
    });
    expect(next.lost.aborted).toBe(false);
    await lock.release();
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ id: JSON.parse(text).id });
    await next.release();
    vi.useRealTimers();
  });

  it("whose file cannot be read any more begins nothing once two thirds of the lease are over", async () => {
    const file = join(temporaryFolder("state"), "in", "shop.state.json.lock");
    let asleep = 0;
    const lock = await acquireLock(file, "apply", { clock: { ...clock, now: () => clock.now() + asleep } });
    await rename(dirname(file), `${dirname(file)}.aside`);
    await writeFile(dirname(file), "a folder no more");
    await lock.look();
    expect(lock.lost.aborted).toBe(false);
    asleep = 41_000;
    await lock.look();
    expect(lock.lost.reason).toMatchObject({
      code: "lock-lost",
      message: expect.stringMatching(/could not be renewed for 41 s while apply was at work: ENOTDIR/),
    });
    await lock.release();
  });

  it("does not keep its process running", async () => {
    const file = await lockFile();
    const script = `
      const { acquireLock } = await import(${JSON.stringify(new URL("../../src/state/lock.ts", import.meta.url).href)});
      const { systemClock } = await import(${JSON.stringify(new URL("../../src/model/clock.ts", import.meta.url).href)});
      await acquireLock(${JSON.stringify(file)}, "apply", { clock: systemClock });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
    expect(await once(child, "exit")).toEqual([0, null]);
    await (await acquireLock(file, "apply", { clock })).release();
  });

  it("can be released where its folder is gone", async () => {
    const file = await lockFile();
    const lock = await acquireLock(file, "apply", { clock });
    await rm(join(file, ".."), { recursive: true });
    await expect(lock.release()).resolves.toBeUndefined();
  });

  it.runIf(process.platform === "linux")(
    "says so where no folder can be made, and does not try for ever",
    async () => {
      await expect(
        acquireLock("/proc/nothing/x.lock", "apply", { clock: systemClock }),
      ).rejects.toMatchObject({
        code: "lock-trouble",
      });
    },
  );

  it("says why it cannot be had", async () => {
    const folder = temporaryFolder("state");
    await writeFile(join(folder, "file"), "");
    await expect(acquireLock(join(folder, "file", "x.lock"), "apply", { clock })).rejects.toMatchObject({
      code: "lock-trouble",
      message: expect.stringContaining("file already exists"),
    });
    await mkdir(join(folder, "x.lock"));
    await expect(acquireLock(join(folder, "x.lock"), "apply", { clock })).rejects.toMatchObject({
      code: "lock-trouble",
    });
  });
});

describe("who is gone", () => {
  const now = clock.now();
  const mine = newRecord("apply", now, 60_000);
  const later = now + 3_600_000;
  it.each([
    ["a process that runs here, in its time", mine, now, false],
    ["a process that runs here, long after its lease", mine, later, false],
    ["a process here whose pid another one has now", { ...mine, started: "1" }, now, true],
    ["a process here that does not run", { ...mine, pid: 2 ** 22 + 1 }, now, true],
    ["a process elsewhere, in its time, whatever runs here", remoteRecord({ pid: 2 ** 22 + 1 }), now, false],
    ["a process elsewhere, after its lease", remoteRecord(), later, true],
    [
      "a process of an earlier boot, in its time",
      { ...mine, machine: `${mine.machine}x`, started: "1" },
      now,
      false,
    ],
    [
      "a process elsewhere whose clock is behind, and that wrote just now",
      remoteRecord({ touched: later }),
      later,
      false,
    ],
    ["a process elsewhere that has not written for a lease", remoteRecord({ touched: now }), later, true],
    ["a process elsewhere whose disk is ahead of us", remoteRecord({ touched: later + 1 }), later, true],
    ["a lock without a date", remoteRecord({ expires: "soon" }), now, true],
  ])("%s", (_, record, time, gone) => {
    expect(isGone(record, time)).toBe(gone);
  });
});

describe("a lock left behind", () => {
  it.each([
    ["by a dead process of this machine, at once", () => recordText(deadRecord()), 0, true],
    ["by another machine, within its lease, not", () => recordText(remoteRecord()), 0, false],
    ["by another machine, after its lease", () => recordText(remoteRecord()), 61_000, true],
    ["without content, at first not", () => "", 0, false],
    ["without content, after a minute", () => "", 61_000, true],
    ["with half a content, after a minute", () => recordText(deadRecord()).slice(0, 40), 61_000, true],
    ["with an id that is a path, at first not", () => recordText(deadRecord({ id: "/../../x" })), 0, false],
    [
      "with an id that is a path, after a minute",
      () => recordText(deadRecord({ id: "/../../x" })),
      61_000,
      true,
    ],
  ])("%s is taken over", async (_, text, later, taken) => {
    const file = await lockFile();
    await writeFile(file, text());
    const attempt = acquireLock(file, "apply", { clock: at(clock.now() + later) });
    if (!taken) return expect(attempt).rejects.toMatchObject({ code: "locked" });
    await (await attempt).release();
    expect(await readdir(join(file, ".."))).toEqual([]);
  });

  it("of another machine is taken from a holder that is seen to live only by force", async () => {
    const file = await lockFile();
    const far = { ...newRecord("apply", Date.now(), 60_000), machine: "another machine" };
    await writeFile(file, recordText(far));
    await expect(breakLock(file, far.id)).rejects.toMatchObject({ code: "lock-alive" });
    await breakLock(file, far.id, true);
    expect(await readHolder(file)).toBeUndefined();
  });

  it("of a holder that is gone is removed without force", async () => {
    const file = await lockFile();
    const dead = deadRecord();
    await writeFile(file, recordText(dead));
    expect(await breakLock(file, dead.id)).toMatchObject({ id: dead.id });
  });

  it("without content says that it does not say whose it is", async () => {
    const file = join(temporaryFolder("state"), "x.lock");
    await writeFile(file, "");
    await expect(acquireLock(file, "apply", { clock: systemClock })).rejects.toMatchObject({
      code: "locked",
      message: expect.stringMatching(/x\.lock does not say by whom; it was last written to at \d{4}-/),
    });
  });

  it("does not stop who knows the id from unlocking, also when it is no lock of ours", async () => {
    const file = await lockFile();
    await writeFile(file, "mine!");
    const holder = await readHolder(file);
    await breakLock(file, holder?.id ?? "");
    expect(await readHolder(file)).toBeUndefined();
  });

  it("by a taker that died in the middle of a takeover is taken over as well, and that one's too", async () => {
    const file = await lockFile();
    const [holder, taker, takersTaker] = [deadRecord(), deadRecord(), deadRecord()];
    await writeFile(file, recordText(holder));
    await writeFile(`${file}.${holder.id}`, recordText(taker));
    await writeFile(`${file}.${holder.id}.${taker.id}`, recordText(takersTaker));
    await (await acquireLock(file, "apply", { clock })).release();
    expect(await readdir(join(file, ".."))).toEqual([]);
  });

  it.each([
    ["is at it", []],
    ["is clearing away after one that died", [deadRecord()]],
  ])("is left to a taker that lives and %s", async (_, died) => {
    const file = await lockFile();
    const records = [deadRecord(), ...died, newRecord("apply", clock.now(), 60_000)];
    let path = file;
    for (const record of records) {
      await writeFile(path, recordText(record));
      path = `${path}.${record.id}`;
    }
    const before = (await readdir(join(file, ".."))).sort();
    const hasty: Clock = { ...clock, sleep: async () => undefined };
    await expect(acquireLock(file, "apply", { clock: hasty })).rejects.toMatchObject({ code: "locked" });
    expect((await readdir(join(file, ".."))).sort()).toEqual(before);
  });

  it("and everything beside it is cleared away, but for what is not ours or still in use", async () => {
    const file = await lockFile();
    const folder = join(file, "..");
    const hex = "0123456789abcdef";
    const litter = [`shop.state.json.${hex}.tmp`, `shop.state.json.backup.${hex}.tmp`];
    const others = [
      "shop.state.json",
      "shop.state.json.backup",
      `other.json.${hex}.tmp`,
      `shop.state.json.x.${hex}.tmp`,
    ];
    for (const name of [...litter, ...others]) await writeFile(join(folder, name), "x");
    await writeFile(`${file}.${hex}`, recordText(deadRecord()));
    const draft = `${file}.fedcba9876543210.tmp`;
    await writeFile(draft, "");
    const lock = await acquireLock(file, "apply", { clock });
    expect((await readdir(folder)).sort()).toEqual(
      [...others, "shop.state.json.lock", "shop.state.json.lock.fedcba9876543210.tmp"].sort(),
    );
    await lock.release();
    await utimes(draft, 0, 0);
    await (await acquireLock(file, "apply", { clock })).release();
    expect((await readdir(folder)).sort()).toEqual([...others].sort());
  });
});

describe("removeLock", () => {
  it("does not remove a lock that took the place of the one it was to remove", async () => {
    const file = await lockFile();
    const [old, next] = [deadRecord(), newRecord("apply", clock.now(), 60_000)];
    await (await stateLocks(clock.now).place(file, next))?.close();
    expect(await stateLocks(clock.now).remove(file, old.id, newRecord("apply", clock.now(), 60_000))).toBe(
      false,
    );
    expect(await readHolder(file)).toMatchObject({ id: next.id });
    expect(await readdir(join(file, ".."))).toEqual(["shop.state.json.lock"]);
  });
});

describe("with other processes", () => {
  it("a holder that is killed is followed at once, one that stands still never", async () => {
    const file = await lockFile();
    const user = await startLockUser(file);
    expect(await user.tell("take")).toBe("got");
    user.process.kill("SIGSTOP");
    await expect(acquireLock(file, "apply", { clock: at(clock.now() + 86_400_000) })).rejects.toMatchObject({
      code: "locked",
      message: expect.stringContaining(`process ${user.pid}`),
    });
    await user.kill();
    await (await acquireLock(file, "apply", { clock })).release();
  });

  it("a holder that was killed and not yet collected by its parent is followed at once", async () => {
    const file = await lockFile();
    const script = new URL("children/lock-user.ts", import.meta.url).pathname;
    const line = '{ echo take; exec sleep 60; } | "$0" "$@" & exec sleep 60';
    const parent = spawn("sh", ["-c", line, process.execPath, script, file], {
      detached: true,
      stdio: "ignore",
    });
    onTestFinished(() => void process.kill(-(parent.pid ?? 0), "SIGKILL"));
    await vi.waitFor(async () => expect(await readHolder(file)).toBeDefined(), { timeout: 60_000 });
    const { pid = 0 } = (await readHolder(file)) ?? {};
    process.kill(pid, "SIGKILL");
    await vi.waitFor(async () => expect(await readFile(`/proc/${pid}/stat`, "utf8")).toContain(") Z "));
    await (await acquireLock(file, "apply", { clock })).release();
  });

  it("one of many gets the lock of a dead holder, in every round", async () => {
    const file = await lockFile();
    const users = await Promise.all(Array.from({ length: 6 }, () => startLockUser(file)));
    for (let round = 0; round < runs(25); round += 1) {
      await writeFile(file, recordText(deadRecord()));
      const answers = await Promise.all(users.map((user) => user.tell("take")));
      expect(answers.filter((answer) => answer === "got")).toHaveLength(1);
      expect(answers.filter((answer) => answer === "locked")).toHaveLength(5);
      await users[answers.indexOf("got")]?.tell("release");
    }
    expect(await readdir(join(file, ".."))).toEqual([]);
  }, 240_000);

  it("no two are within at once, while holders and takers are killed all the time", async () => {
    const file = await lockFile();
    const counter = join(file, "..", "counter");
    await writeFile(counter, "0");
    const script = new URL("children/lock-worker.ts", import.meta.url).pathname;
    let [done, killed] = [0, 0];
    const work = async (until: number): Promise<void> => {
      while (done < until) {
        const child = spawn(process.execPath, [script, file, counter, "10", "0.1"], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        let printed = "";
        child.stdout.on("data", (chunk: Buffer) => {
          printed += chunk.toString();
        });
        const [code] = await once(child, "close");
        killed += code === 0 ? 0 : 1;
        expect(printed).not.toContain("BROKEN");
        done += printed.split("done").length - 1;
      }
    };
    await Promise.all(Array.from({ length: 5 }, () => work(runs(120))));
    expect(killed).toBeGreaterThan(0);
    expect(Number(await readFile(counter, "utf8"))).toBe(done);
  }, 240_000);
});

describe("within one process", () => {
  it.each([
    ["a dead holder", false],
    ["a dead holder whose taker died as well", true],
  ])(
    "one of many gets the lock of %s, in every round",
    async (_, takerDied) => {
      const file = await lockFile();
      for (let round = 0; round < 30; round += 1) {
        const [holder, taker] = [deadRecord(), deadRecord()];
        if (takerDied) await writeFile(`${file}.${holder.id}`, recordText(taker));
        await writeFile(file, recordText(holder));
        const attempts = await Promise.allSettled(
          Array.from({ length: 20 }, () => acquireLock(file, "apply", { clock })),
        );
        const locks = attempts
          .filter((attempt) => attempt.status === "fulfilled")
          .map((attempt) => attempt.value);
        expect(locks).toHaveLength(1);
        await locks[0]?.release();
      }
      expect(await readdir(join(file, ".."))).toEqual([]);
    },
    240_000,
  );
});

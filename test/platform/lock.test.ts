import { spawnSync } from "node:child_process";
import { readdir, readFile, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type PinnedProcess, pinned, thisProcess } from "../../src/files/process-identity.ts";
import { lockFolder, platformOn } from "../../src/platform/lock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { poll } from "./harness.ts";

let dataDir = "";
let file = "";
beforeEach(async () => {
  dataDir = temporaryFolder("lock");
  file = join(dataDir, "platform.lock");
});

describe("the lock of a data folder", () => {
  it("that is removed by hand is put back: its platform goes on, and no other one begins", async () => {
    const lock = await lockFolder(dataDir);
    const text = await readFile(file, "utf8");
    await unlink(file);
    await poll(
      async () => (await readFile(file, "utf8").catch(() => undefined)) ?? undefined,
      "the lock to be back",
    );
    expect(await readFile(file, "utf8")).toBe(text);
    expect(lock.lost.aborted).toBe(false);
    await expect(lockFolder(dataDir)).rejects.toMatchObject({ code: "platform-running" });
    await lock.release();
    await expect(stat(file)).rejects.toThrow("ENOENT");
    expect(await platformOn(dataDir)).toBeUndefined();
  });

  it("removes the files of processes that were killed while they took it, and leaves those of running ones", async () => {
    const { dev, ino } = await stat(dataDir, { bigint: true });
    const { machine } = thisProcess();
    const record = (holder: PinnedProcess): string =>
      JSON.stringify({ id: "0".repeat(16), ...holder, machine, folder: `${dev}:${ino}` });
    const ended = record({ pid: spawnSync(process.execPath, ["-e", ""]).pid, started: "1" });
    await writeFile(`${file}.0000000000000001`, ended);
    await writeFile(`${file}.0000000000000002.tmp`, ended);
    await writeFile(`${file}.0000000000000003`, record(pinned(process.ppid)));
    const lock = await lockFolder(dataDir);
    expect((await readdir(dataDir)).sort()).toEqual(["platform.lock", "platform.lock.0000000000000003"]);
    await lock.release();
  });

  it("is not taken from a lock file that is being written, and is taken from one that was left empty", async () => {
    await writeFile(file, "");
    await expect(lockFolder(dataDir)).rejects.toThrow("cannot take the lock");
    await utimes(file, 1, 1);
    await (await lockFolder(dataDir)).release();
  });

  it("that says another platform by now is not that of the first one to release", async () => {
    const lock = await lockFolder(dataDir);
    const other = JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), pid: process.pid + 1 });
    await writeFile(file, other);
    await lock.release();
    expect(await readFile(file, "utf8")).toBe(other);
  });
});

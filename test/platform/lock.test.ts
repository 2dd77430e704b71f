import { spawnSync } from "node:child_process";
import { readdir, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
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

  it("leaves no file of a process that was killed while it took the lock, and those of running ones alone", async () => {
    const ended = spawnSync(process.execPath, ["-e", ""]).pid;
    for (const name of [`${ended}`, `${ended}.dead`, `${process.ppid}`])
      await writeFile(`${file}.${name}`, "{}");
    const lock = await lockFolder(dataDir);
    expect((await readdir(dataDir)).sort()).toEqual(["platform.lock", `platform.lock.${process.ppid}`]);
    await lock.release();
  });

  it("that says another platform by now is not that of the first one to release", async () => {
    const lock = await lockFolder(dataDir);
    const other = JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), pid: process.pid + 1 });
    await writeFile(file, other);
    await lock.release();
    expect(await readFile(file, "utf8")).toBe(other);
  });
});

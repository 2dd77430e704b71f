import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { recordText } from "../../src/files/lock-file.ts";
import { systemClock } from "../../src/model/clock.ts";
import { createFileStore } from "../../src/state/file-store.ts";
import { newRecord } from "../../src/state/lock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { sampleState } from "./samples.ts";

vi.mock("node:fs/promises", async (original) => ({
  ...(await original<typeof import("node:fs/promises")>()),
  link: async () => Promise.reject(Object.assign(new Error("EPERM"), { code: "EPERM", errno: -1 })),
}));

describe("a file system without hard links", () => {
  it("keeps the version before all the same", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const store = createFileStore({ path });
    await store.write(sampleState());
    await store.write({ ...sampleState(), serial: 2 });
    expect(JSON.parse(await readFile(`${path}.backup`, "utf8"))).toEqual(sampleState());
    expect((await readdir(join(path, ".."))).sort()).toEqual(["shop.state.json", "shop.state.json.backup"]);
  });

  it("has locks that exclude each other and are taken over from the dead", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const store = createFileStore({ path });
    await writeFile(`${path}.lock`, recordText({ ...newRecord("apply", 0, 0), started: "1" }));
    const attempts = await Promise.allSettled(
      Array.from({ length: 10 }, () => store.lock("apply", { clock: systemClock })),
    );
    const locks = attempts
      .filter((attempt) => attempt.status === "fulfilled")
      .map((attempt) => attempt.value);
    expect(locks).toHaveLength(1);
    await locks[0]?.release();
    expect(await readdir(join(path, ".."))).toEqual([]);
  });
});

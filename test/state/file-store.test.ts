import { spawnSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { StateDocument } from "../../src/model/state.ts";
import { stateFormatter } from "../../src/state/document.ts";
import { createFileStore } from "../../src/state/file-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { sampleBound, sampleState } from "./samples.ts";

const first = sampleState();

function version(serial: number): StateDocument {
  return {
    ...first,
    serial,
    resources: { ...first.resources, [`instances.v${serial}`]: sampleBound(`i-${serial}`) },
  };
}

async function permissions(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

async function parsed(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, "utf8"));
}

describe("what lies on the disk", () => {
  it("is for its owner only, also where it was not before", async () => {
    const folder = temporaryFolder("state");
    const path = join(folder, "new", "shop.state.json");
    const store = createFileStore({ path, name: "shop" });
    await store.write(first);
    await chmod(path, 0o644);
    await store.write(version(2));
    expect(await permissions(join(folder, "new"))).toBe("700");
    expect(await permissions(path)).toBe("600");
  });

  it("is the state and the version before it, and nothing else", async () => {
    const folder = temporaryFolder("state");
    const path = join(folder, "shop.state.json");
    const store = createFileStore({ path, name: "shop" });
    await store.write(first);
    expect(await readdir(folder)).toEqual(["shop.state.json"]);
    await store.write(version(2));
    await store.write(version(3));
    expect((await readdir(folder)).sort()).toEqual(["shop.state.json", "shop.state.json.backup"]);
    expect(await parsed(path)).toEqual(version(3));
    expect(await parsed(`${path}.backup`)).toEqual(version(2));
  });

  it("stays where a link leads, and the link stays", async () => {
    const folder = temporaryFolder("state");
    const target = join(folder, "far", "real.json");
    const path = join(folder, "shop.state.json");
    await symlink("far/real.json", path);
    const store = createFileStore({ path, name: "shop" });
    expect(await store.read()).toBeUndefined();
    await store.write(first);
    await store.write(version(2));
    expect(await parsed(target)).toEqual(version(2));
    expect(await readdir(folder)).toEqual(["far", "shop.state.json"]);
    expect((await readdir(join(folder, "far"))).sort()).toEqual(["real.json", "real.json.backup"]);
    expect(await createFileStore({ path, name: "shop" }).read()).toEqual(version(2));
  });

  it.each([
    ["cut short", "{", "state-truncated"],
    ["somebody else's", '{"version":4,"terraform_version":"1"}', "state-foreign"],
    ["newer", '{"version":4,"name":"shop","lineage":"x"}', "state-newer"],
    ["another manifest's", stateFormatter()({ ...first, name: "other" }), "state-name"],
  ])("is never written over when it is %s", async (_, text, code) => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    await writeFile(path, text);
    const store = createFileStore({ path, name: "shop" });
    await expect(store.read()).rejects.toMatchObject({ code });
    for (const serial of [1, 2])
      await expect(store.write({ ...first, serial })).rejects.toMatchObject({ code });
    expect(await readFile(path, "utf8")).toBe(text);
  });
});

describe("somebody else's write", () => {
  it("is noticed and not written over", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const [one, two] = [createFileStore({ path }), createFileStore({ path })];
    await one.write(first);
    await two.read();
    await two.write(version(2));
    await expect(one.write({ ...first, serial: 2 })).rejects.toMatchObject({
      code: "state-conflict",
      message: expect.stringContaining(
        "version 2 was to be written, but another program has written a version of that number",
      ),
    });
    expect(await two.read()).toEqual(version(2));
    await one.read();
    await one.write(version(3));
  });

  it("is noticed between two merged versions as well", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const [one, two] = [createFileStore({ path }), createFileStore({ path })];
    await one.write(first);
    await two.read();
    await two.write(version(2));
    const ended = await Promise.allSettled([
      one.write({ ...first, serial: 2 }),
      one.write({ ...first, serial: 3 }),
    ]);
    expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await two.read()).toEqual(version(2));
  });

  it("is noticed where the state was put back to an older version", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const store = createFileStore({ path });
    await store.write(first);
    await store.write(version(2));
    await writeFile(path, stateFormatter()(first));
    await expect(store.write(version(3))).rejects.toMatchObject({ code: "state-conflict" });
  });

  it("that only removed the file does not lose what we know", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const store = createFileStore({ path });
    await store.write(first);
    await rm(path);
    await store.write(version(2));
    expect(await parsed(path)).toEqual(version(2));
  });
});

describe("a state that is gone", () => {
  it("and left its previous version was lost, and the way back is named", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const store = createFileStore({ path });
    await store.write(first);
    await store.write(version(2));
    await rm(path);
    await expect(createFileStore({ path }).read()).rejects.toMatchObject({
      code: "state-gone",
      hint: `put it back: cp '${path}.backup' '${path}'; or, to begin with nothing: rm '${path}.backup'`,
    });
    await rm(`${path}.backup`);
    expect(await createFileStore({ path }).read()).toBeUndefined();
  });
});

describe("many writes", () => {
  it("merge into few, and each is durable when it resolves", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const store = createFileStore({ path, name: "shop" });
    const inodes = new Set<number>();
    const writes = Array.from({ length: 200 }, async (_, index) => {
      await store.write(version(index + 1));
      const { serial } = (await createFileStore({ path }).read()) ?? { serial: 0 };
      inodes.add((await stat(path)).ino);
      expect(serial).toBeGreaterThanOrEqual(index + 1);
    });
    await Promise.all(writes);
    expect(await store.read()).toEqual(version(200));
    expect(inodes.size).toBeLessThan(20);
  });

  it("that do not follow each other are refused, and the others are written", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    const store = createFileStore({ path });
    const ended = await Promise.allSettled([
      store.write(version(1)),
      store.write(version(1)),
      store.write(version(2)),
    ]);
    expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await store.read()).toEqual(version(2));
  });

  it("are seen by a read that comes after them", async () => {
    const store = createFileStore({ path: join(temporaryFolder("state"), "shop.state.json") });
    const writing = store.write(version(1));
    expect(await store.read()).toEqual(version(1));
    await writing;
  });
});

describe("a disk that refuses", () => {
  it("leaves the old state, says why, and takes all of it once there is room", async () => {
    const folder = temporaryFolder("state");
    const path = join(folder, "shop.state.json");
    const child = new URL("children/full-disk.ts", import.meta.url).pathname;
    const run = spawnSync("sh", ["-c", 'ulimit -f 16; exec "$0" "$@"', process.execPath, child, path], {
      encoding: "utf8",
    });
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout)).toEqual({
      code: "state-unwritable",
      message: `the state ${path} could not be written: file too large`,
      hint: expect.stringContaining("the version before is intact"),
      stored: 1,
      left: ["shop.state.json"],
      then: 3,
    });
  });

  it("says why where a file stands in place of the folder", async () => {
    const folder = temporaryFolder("state");
    await writeFile(join(folder, "file"), "");
    const path = join(folder, "file", "shop.state.json");
    await expect(createFileStore({ path }).write(first)).rejects.toMatchObject({
      code: expect.stringMatching(/^state-un(writable|readable)$/),
      message: expect.stringContaining("not a directory"),
    });
  });

  it("says why where a folder stands in place of the state", async () => {
    const path = join(temporaryFolder("state"), "shop.state.json");
    await mkdir(path);
    const store = createFileStore({ path });
    await expect(store.read()).rejects.toMatchObject({
      code: "state-unreadable",
      message: expect.stringContaining("directory"),
    });
    await expect(store.write(first)).rejects.toMatchObject({ code: "state-unreadable" });
  });

  it("says why where links lead in a circle", async () => {
    const folder = temporaryFolder("state");
    await symlink("b", join(folder, "a"));
    await symlink("a", join(folder, "b"));
    await expect(createFileStore({ path: join(folder, "a") }).read()).rejects.toMatchObject({
      code: "state-unreadable",
    });
  });

  it("says why where the folder is not ours to write", async () => {
    const folder = temporaryFolder("state");
    const child = new URL("children/foreign-folder.ts", import.meta.url).pathname;
    await chmod(folder, 0o555);
    const run = spawnSync(process.execPath, [child, join(folder, "shop.state.json")], { encoding: "utf8" });
    expect(run.stderr).toBe("");
    expect(run.stdout).toMatch(/^state-unwritable .*: permission denied\n$/);
    expect(await readdir(folder)).toEqual([]);
  });
});

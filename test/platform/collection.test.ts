import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Collection, openCollection } from "../../src/platform/model/collection.ts";
import { StorageError } from "../../src/platform/model/service-error.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { poll } from "./harness.ts";

interface Entry {
  readonly id: string;
  readonly createdAt: string;
  readonly color: string;
  readonly size: number;
}

const isEntry = (_value: unknown): _value is Entry => true;
const first: Entry = { id: "one", createdAt: "2026-01-01T00:00:00Z", color: "red", size: 1 };

let base = "";
let folder = "";
let entries: Collection<Entry>;
beforeEach(async () => {
  base = temporaryFolder("collection");
  folder = join(base, "entries");
  entries = await openCollection(folder, isEntry);
  await entries.add(first);
});
afterEach(async () => {
  await entries.settled();
});

const onDisk = async (): Promise<Entry> => JSON.parse(await readFile(join(folder, "one.json"), "utf8"));
const paint = (color: string) => (entry: Entry) => ({ ...entry, color });

/** Puts a file in the place of the folder: no write succeeds until the result is called. */
async function fill(): Promise<() => Promise<void>> {
  await rename(folder, `${folder}.away`);
  await writeFile(folder, "in the way");
  return async () => {
    await rm(folder);
    await rename(`${folder}.away`, folder);
  };
}

describe("a note", () => {
  it("is shown at once, and is on disk soon", async () => {
    entries.note("one", paint("blue"));
    expect(entries.get("one")?.color).toBe("blue");
    await entries.settled();
    expect(await onDisk()).toEqual({ ...first, color: "blue" });
  });

  it("is shown if nothing can be written, and is on disk once there is room", async () => {
    const free = await fill();
    entries.note("one", paint("blue"));
    await expect(entries.update("one", (entry) => ({ ...entry, size: 2 }))).rejects.toThrow(StorageError);
    expect(entries.get("one")).toEqual({ ...first, color: "blue" });
    await free();
    await poll(async () => ((await onDisk()).color === "blue" ? true : undefined), "the file");
    expect(await onDisk()).toEqual({ ...first, color: "blue" });
  });

  it("that comes while an update is written is in both results, and takes nothing of the update back", async () => {
    const updated = entries.update("one", (entry) => ({ ...entry, size: 2 }));
    // The update has read the record by now, and its file is not written.
    await Promise.resolve();
    entries.note("one", paint("blue"));
    expect(entries.get("one")).toEqual({ ...first, color: "blue" });
    await updated;
    expect(entries.get("one")).toEqual({ ...first, color: "blue", size: 2 });
    await entries.settled();
    expect(await onDisk()).toEqual({ ...first, color: "blue", size: 2 });
  });

  it("goes to disk with the next update, and an update sees it", async () => {
    const free = await fill();
    entries.note("one", paint("blue"));
    await free();
    expect(await entries.update("one", (entry) => ({ ...entry, color: `dark ${entry.color}` }))).toEqual({
      ...first,
      color: "dark blue",
    });
    expect(await onDisk()).toEqual({ ...first, color: "dark blue" });
  });

  it("on a record that is gone, or was never there, is none", async () => {
    entries.note("two", paint("blue"));
    await entries.remove("one");
    entries.note("one", paint("blue"));
    await entries.settled();
    expect(entries.list()).toEqual([]);
    const again = await openCollection(folder, isEntry);
    expect(again.list()).toEqual([]);
  });

  it("is not tried any more once the collection has ended", async () => {
    const free = await fill();
    entries.note("one", paint("blue"));
    await entries.settled();
    await free();
    await mkdir(folder, { recursive: true });
    expect(await onDisk()).toEqual(first);
  });
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";
import { openRequestLog, type RequestEntry } from "../../src/platform/http/request-log.ts";
import { createStorageTrouble } from "../../src/platform/model/service-error.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const room = vi.hoisted((): { bytes: number } => ({ bytes: Number.POSITIVE_INFINITY }));

vi.mock("node:fs", async (original) => {
  const real: typeof import("node:fs") = await original();
  return {
    ...real,
    writeSync(fd: number, bytes: Uint8Array): number {
      const fits = Math.min(bytes.length, room.bytes);
      if (fits === 0) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC", errno: -28 });
      room.bytes -= fits;
      return real.writeSync(fd, bytes.subarray(0, fits));
    },
  };
});

let folder = "";
beforeEach(async () => {
  room.bytes = Number.POSITIVE_INFINITY;
  folder = temporaryFolder("log");
});

const entry = (path: string): Omit<RequestEntry, "seq"> => ({
  ...{ time: "", host: "platform", method: "GET", path, operation: "list", query: [], status: 200, ms: 1 },
});

it.each([
  ["no room at all", 0],
  ["room for half a line", 5],
  ["room for one line of two", 120],
])(
  "with %s, nothing of it is written; the next line that fits says how many were lost",
  async (_why, bytes) => {
    const path = join(folder, "log");
    const trouble = createStorageTrouble();
    const log = openRequestLog(path, trouble);
    const add = async (...names: readonly string[]): Promise<void> => {
      for (const name of names) log.add(entry(name));
      await new Promise((resolve) => setImmediate(resolve));
    };
    await add("one");
    room.bytes = bytes;
    await add("two", "three");
    room.bytes = 0;
    await add("four");
    room.bytes = Number.POSITIVE_INFINITY;
    await add("five");
    log.close();
    const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { path: "one" },
      { lost: 3 },
      { path: "five" },
    ]);
    expect(trouble.report()).toMatchObject({ lostLogLines: 3 });
  },
);

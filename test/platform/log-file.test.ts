import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openLogFile } from "../../src/platform/http/request-log.ts";
import { createStorageTrouble } from "../../src/platform/model/service-error.ts";

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
  folder = await mkdtemp(join(tmpdir(), "graphform-log-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it.each([
  ["no room at all", 0],
  ["room for half a line", 5],
  ["room for one line of two", 12],
])(
  "with %s, nothing of it is written; the next line that fits says how many were lost",
  async (_why, bytes) => {
    const path = join(folder, "log");
    const trouble = createStorageTrouble();
    const log = openLogFile(path, trouble);
    log.add(['{"a":"one"}\n']);
    room.bytes = bytes;
    log.add(['{"a":"two"}\n', '{"a":"three"}\n']);
    room.bytes = 0;
    log.add(['{"a":"four"}\n']);
    room.bytes = Number.POSITIVE_INFINITY;
    log.add(['{"a":"five"}\n']);
    log.close();
    expect(await readFile(path, "utf8")).toBe('{"a":"one"}\n{"lost":3}\n{"a":"five"}\n');
    expect(trouble.report()).toMatchObject({ lostLogLines: 3 });
  },
);

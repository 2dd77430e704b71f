import type * as promises from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, it, vi } from "vitest";
import { writeAtomically } from "../../src/files/atomic-write.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const seen = vi.hoisted((): string[] => []);

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof promises>();
  const named = (path: unknown): string => basename(String(path)).replace(/[0-9a-f]{16}/, "*");
  return {
    ...real,
    open: async (...args: Parameters<typeof real.open>) => {
      const handle = await real.open(...args);
      const sync = handle.sync.bind(handle);
      handle.sync = async () => {
        seen.push(`sync ${named(args[0])}`);
        await sync();
      };
      return handle;
    },
    rename: async (from: string, to: string) => {
      seen.push(`rename ${named(from)} ${named(to)}`);
      await real.rename(from, to);
    },
  };
});

it("syncs the new file before it takes the old one's place, and the folder after", async () => {
  const folder = temporaryFolder("state");
  const file = join(folder, "state");
  await writeAtomically(file, "one", `${file}.backup`);
  seen.length = 0;
  await writeAtomically(file, "two", `${file}.backup`);
  expect(seen).toEqual([
    "sync state.*.tmp",
    "rename state.backup.*.tmp state.backup",
    "rename state.*.tmp state",
    `sync ${basename(folder)}`,
  ]);
});

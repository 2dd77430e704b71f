import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type * as promises from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, it, vi } from "vitest";
import { makeFolder, writeAtomically } from "../../src/files/atomic-write.ts";
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

it("lets Git ignore a new .graphform as a whole, whatever is made in it first, and no other folder", async () => {
  const folder = temporaryFolder("ignored");
  await writeAtomically(join(folder, ".graphform", "platform", "one"), "text");
  await makeFolder(join(folder, "states", "shop"));
  expect(readFileSync(join(folder, ".graphform", ".gitignore"), "utf8")).toBe("*\n");
  expect(readdirSync(join(folder, ".graphform"))).toEqual([".gitignore", "platform"]);
  expect(readdirSync(join(folder, "states"))).toEqual(["shop"]);
});

it("leaves a .graphform that is there as it is", async () => {
  const own = join(temporaryFolder("ignored"), ".graphform");
  mkdirSync(own);
  await makeFolder(join(own, "platform"));
  expect(readdirSync(own)).toEqual(["platform"]);
  writeFileSync(join(own, ".gitignore"), "of a person");
  await makeFolder(own);
  expect(readFileSync(join(own, ".gitignore"), "utf8")).toBe("of a person");
});

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { hunt } from "./hunt.ts";
import { mutations } from "./mutations.ts";

const root = join(import.meta.dirname, "..", "..");

describe("the cases that are known to find a broken rule", () => {
  it("keep every promise while no rule is broken", async () => {
    for (const seed of new Set(mutations.map(({ killer }) => killer)))
      expect((await hunt({ seed, schedules: 1 })).found).toEqual([]);
  });
});

describe("an engine without one of its safety rules", () => {
  it("is found out, whichever rule it is", { timeout: 600_000 }, () => {
    const script = join(root, "scripts", "simulate.ts");
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [script, "--mutations", "--runs", "3000", "--jobs", "1"],
      {
        cwd: root,
        encoding: "utf8",
      },
    );
    expect(stderr).toBe("");
    expect(stdout).toContain(`${mutations.length} of ${mutations.length} broken rules found`);
  });
});

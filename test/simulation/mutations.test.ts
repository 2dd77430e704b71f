import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { mutations } from "./mutations.ts";

const root = join(import.meta.dirname, "..", "..");

describe("an engine without one of its safety rules", () => {
  it("is found out, whichever rule it is", { timeout: 600_000 }, () => {
    const script = join(root, "scripts", "simulate.ts");
    const { stdout, stderr } = spawnSync(process.execPath, [script, "--mutations", "--runs", "3000"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(stdout).toContain(`${mutations.length} of ${mutations.length} broken rules found`);
  });
});

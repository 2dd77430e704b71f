import { describe, expect, it } from "vitest";
import { parseManifest } from "../../src/manifest/parse.ts";
import { brokenManifests } from "./broken/all.ts";
import type { Broken } from "./broken/row.ts";
import { check } from "./check.ts";

describe("broken manifests", () => {
  it("are at least 60, each broken in its own way", () => {
    expect(brokenManifests.length).toBeGreaterThanOrEqual(60);
    expect(new Set(brokenManifests.map(({ reason }) => reason)).size).toBe(brokenManifests.length);
    expect(new Set(brokenManifests.map(({ text }) => text)).size).toBe(brokenManifests.length);
  });

  it.each(brokenManifests)("$reason", async (broken) => {
    const { manifest, problems } = await check(broken.text);
    expect(manifest).toBeUndefined();
    expect(problems.map(({ range, code }) => `${range.start.line}:${range.start.column} ${code}`)).toEqual(
      expected(broken),
    );
    expect(problems[0]?.message).toContain(broken.says);
    expect(problems[0]?.hint).toContain(broken.hint);
    for (const { range, severity, message, hint, excerpt } of problems) {
      expect(severity).toBe("error");
      expect(range.file).toBe("m.yaml");
      expect(hint).not.toBe("");
      expect(message).toMatch(/^[^A-Z\n]/);
      expect(message).not.toMatch(/\n|at .*\.ts:\d/);
      expect(JSON.stringify({ message, hint, excerpt })).not.toContain("hunter2222");
      const [layer] = parseManifest([{ path: "m.yaml", text: broken.text }]).layers;
      if (layer?.value === undefined) expect(excerpt).toBeUndefined();
      else if (isInside(broken.text, range.start.line)) expect(excerpt).not.toBeUndefined();
    }
  });
});

/** `*` stands for any column or code that YAML itself does not settle. */
function expected({ problems }: Broken): readonly unknown[] {
  return problems.map((problem) => {
    if (!problem.includes("*")) return problem;
    return expect.stringMatching(new RegExp(`^${problem.replace("*", "\\d.*")}$`));
  });
}

function isInside(text: string, line: number): boolean {
  return /^\s*[^\s#]/.test(text.split("\n")[line - 1] ?? "");
}

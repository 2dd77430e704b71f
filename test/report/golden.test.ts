import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { stableJson } from "../../src/model/json.ts";
import { flatPlan, nestedPlan, type Plan } from "../../src/model/plan.ts";
import { escapeJson, jsonText, makePalette } from "../../src/report/typeset.ts";
import { goldenPlans } from "./golden-plans.ts";
import { planJson, planText } from "./rendered.ts";
import { words } from "./words.ts";

const root = join(import.meta.dirname, "..", "golden");
const page = { palette: makePalette(false), width: 80 };

/** Rewritten by `vitest run test/report -u`; read what changed before you keep it. */
describe("plans as they are shown", () => {
  it.each(Object.keys(goldenPlans))("%s: the plan that is rendered", async (folder) => {
    const made = goldenPlans[folder];
    expect(made).toBeDefined();
    await expect(
      `${escapeJson(JSON.stringify(made === undefined ? made : nestedPlan(made), null, 2))}\n`,
    ).toMatchFileSnapshot(join(root, folder, "plan.json-input"));
  });

  const folders = globSync("*/plan.json-input", { cwd: root }).map(dirname).sort();

  it("finds the folders", () => {
    expect(folders).toEqual(expect.arrayContaining(Object.keys(goldenPlans)));
  });

  it.each(folders)("%s: text", async (folder) => {
    await expect(planText(read(folder), words, page)).toMatchFileSnapshot(join(root, folder, "plan.txt"));
  });

  it.each(folders)("%s: JSON", async (folder) => {
    const text = `${jsonText(planJson(read(folder), words), 2)}\n`;
    expect(stableJson(JSON.parse(text))).toBe(stableJson(planJson(read(folder), words)));
    await expect(text).toMatchFileSnapshot(join(root, folder, "plan.json"));
  });
});

function read(folder: string): Plan {
  return flatPlan(JSON.parse(readFileSync(join(root, folder, "plan.json-input"), "utf8")));
}

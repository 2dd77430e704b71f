import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { show } from "../../src/commands/show.ts";
import { settingsOf } from "../../src/project/settings.ts";
import { readPlan } from "../support/plan-document.ts";

const folder = join(import.meta.dirname, "plans");

/**
 * Plan files as earlier versions wrote them, one for each format. They are never written again: a version that cannot show one of them must
 * learn to, and not get another file.
 */
describe("a plan that was saved long ago", () => {
  const files = globSync("*.plan", { cwd: folder }).sort();

  async function shown(file: string, json: boolean): Promise<string> {
    const out: string[] = [];
    const terminal = {
      ...{ out: (text: string) => void out.push(text), err: () => undefined, redactWith: () => undefined },
      ...{
        mask: (text: string) => text,
        interactive: false,
        colour: false,
        width: 80,
        confirm: async () => false,
      },
    };
    // Neither a manifest nor a state is where this runs.
    const options = { file: ["/nowhere/graphform.yaml"], var: [], varFile: [], json };
    expect(await show({ options, settings: settingsOf({}), terminal }, join(folder, file))).toBe(0);
    return out.join("");
  }

  it("is there for each format", () => {
    expect(files).toContain("format-1.plan");
  });

  it.each(files)("%s is shown whole, without manifest, state and profile", async (file) => {
    const text = await shown(file, false);
    await expect(text).toMatchFileSnapshot(join(folder, `${file}.txt`));
    const changes = readPlan(await shown(file, true)).resource_changes;
    for (const { address, change } of changes)
      if (change.actions[0] !== "no-op") expect(text).toContain(address);
    expect(readFileSync(join(folder, file), "utf8")).toContain('"madeBy"');
  });
});

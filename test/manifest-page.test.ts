import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { validate } from "../src/index.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const page = readFileSync(join(import.meta.dirname, "..", "docs", "manifest.md"), "utf8");

describe("the examples of docs/manifest.md", () => {
  it("are one manifest together, each a layer of it, without an error", async () => {
    const folder = temporaryFolder("page");
    const examples = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = ""]) => text);
    examples.forEach((text, index) => {
      writeFileSync(join(folder, `${String(index).padStart(2, "0")}.yaml`), text);
    });
    expect(examples.length).toBeGreaterThan(10);
    const problems = await validate({ files: [folder] });
    expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  });

  it("show every section that the schema has", () => {
    const schema: { properties: object } = JSON.parse(
      readFileSync(join(import.meta.dirname, "..", "schemas", "manifest.schema.json"), "utf8"),
    );
    const sections = Object.keys(schema.properties).filter(
      (name) => !["$schema", "apiVersion", "name"].includes(name),
    );
    expect(sections.filter((name) => !page.includes(`# \`${name}\``))).toEqual([]);
  });

  it("stand beside tables with every key of an output", () => {
    const [, part = ""] = page.split("\n## `outputs`\n");
    for (const key of ["value", "sensitive", "description"])
      expect(part).toMatch(new RegExp(`^\\| \`${key}\` \\|`, "m"));
  });
});

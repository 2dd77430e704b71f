import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { array, assert, constantFrom, property } from "fast-check";
import { expect, it } from "vitest";
import { quietYaml } from "../scripts/quiet-yaml.ts";
import { runs } from "./support/runs.ts";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "graphform-yaml-"));
const outfile = join(folder, "yaml.cjs");
try {
  await build({
    stdin: { contents: 'export * from "yaml";', resolveDir: root },
    ...{ bundle: true, format: "cjs", platform: "node", plugins: [quietYaml], outfile },
  });
} catch (error) {
  rmSync(folder, { recursive: true });
  throw error;
}
const published = await import("yaml");
const bundled: typeof published = createRequire(import.meta.url)(outfile);
rmSync(folder, { recursive: true });

/** Everything that a manifest's reader takes of a text: nodes with their places, errors, values. */
function read({ parseAllDocuments, visit }: typeof published, text: string): unknown {
  try {
    return [...parseAllDocuments(text, { prettyErrors: false, stringKeys: true, uniqueKeys: false })].map(
      (document) => {
        const nodes: unknown[] = [];
        visit(document, { Node: (_, node) => void nodes.push([node.range, node.comment, node.toString()]) });
        const faults = [...document.errors, ...document.warnings];
        return [nodes, faults.map(({ code, pos, message }) => [code, pos, message])];
      },
    );
  } catch (error) {
    return String(error);
  }
}

const texts = globSync("{examples,templates,profiles,test}/**/*.{yaml,yml}", { cwd: root })
  .map((path) => readFileSync(join(root, path), "utf8"))
  .filter((text) => text.length < 20_000);

it("reads every file of ours as the published package does", () => {
  expect(texts.length).toBeGreaterThan(20);
  for (const text of texts) expect(read(bundled, text)).toEqual(read(published, text));
});

const pieces = [
  "\n",
  "\t",
  " ",
  "  ",
  "- ",
  ": ",
  "? ",
  "{",
  "}",
  "[",
  "]",
  ",",
  "'",
  '"',
  "|",
  "> ",
  "|2-\n",
  "#",
];
const words = ["true", "Null", "nul", "~", ".inf", "-.5", "0x1F", "1e3", "+1", "no", "z"];
const others = ["&a ", "*a", "!t ", "%YAML 1.2\n", "---", "...", "\r", "\r\n", "é", "\\", "a", "1"];

it("reads any text as the published package does", () => {
  assert(
    property(array(constantFrom(...pieces, ...words, ...others), { maxLength: 40 }), (some) => {
      expect(read(bundled, some.join(""))).toEqual(read(published, some.join("")));
    }),
    { numRuns: runs(2000) },
  );
});

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { argumentNames } from "../../src/platform/arguments.ts";
import { faultKeys, parseFaultRules, ruleKeys } from "../../src/platform/control/faults.ts";

const page = readFileSync(new URL("../../docs/local-platform.md", import.meta.url), "utf8");

/** Names in the first column of the table with a heading. */
function firstColumn(heading: string): readonly string[] {
  const at = page.indexOf(`| ${heading} | means |`);
  const [table = ""] = page.slice(at).split("\n\n");
  const cells = table
    .split("\n")
    .slice(2)
    .map((row) => row.split(" | ")[0] ?? "");
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)).toSorted();
}

it.each<readonly [string, readonly string[]]>([
  ["key of a rule", Object.keys(ruleKeys)],
  ["key of a fault", Object.keys(faultKeys)],
  ["option", argumentNames.map((name) => `--${name}`)],
])("the documented table %s lists exactly those of the code", (heading, known) => {
  expect(firstColumn(heading)).toEqual(known.toSorted());
});

it("the documented example of a file with faults is valid", () => {
  const [, example = ""] = /```yaml\n(- \{ operation[\s\S]*?)```/.exec(page) ?? [];
  expect(parseFaultRules(parse(example))).toHaveLength(3);
});

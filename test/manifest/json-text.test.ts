import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isNode, parse, visit } from "yaml";
import { parseManifest } from "../../src/manifest/parse.ts";
import { jsonMap } from "../../src/manifest/plain-value.ts";
import { runs } from "../support/runs.ts";
import { check } from "./check.ts";

const root = join(import.meta.dirname, "..", "..");

/** The same text for the reader of YAML: JSON has no comments, and no position changes. */
const asYaml = (text: string): string => `${text}\n# JSON ends above.\n`;

/** Everything that a manifest's reader takes of a text: its value, its nodes with their places, and its faults. */
function read(text: string): unknown {
  const { value, layers, findings } = parseManifest([{ path: "m.yaml", text }]);
  const nodes: unknown[] = [];
  const tree = layers[0]?.written().root ?? null;
  if (isNode(tree))
    visit(tree, {
      Map: (_, { range, flow, items }) => void nodes.push(["map", range?.slice(0, 2), flow, items.length]),
      Seq: (_, { range, flow, items }) => void nodes.push(["list", range?.slice(0, 2), flow, items.length]),
      Scalar: (_, { range, type, value: is }) => void nodes.push([is, range?.slice(0, 2), type]),
    });
  return { value, nodes, findings };
}

/** What is made of a text, with the places of its resources. */
async function placed(text: string): Promise<unknown> {
  const { manifest, ...said } = await check(text);
  const desired = manifest?.desired.map((one) => ({ ...one, where: one.where() }));
  return { ...said, manifest: manifest && { ...manifest, desired } };
}

const word = fc.constantFrom(
  ...["apiVersion", "name", "instances", "users", "defaults", "config", "tier", "forEach", "graphdbPassword"],
  ...[
    "",
    "<<",
    "__proto__",
    "constructor",
    "$secret",
    "1",
    "a: b",
    "#",
    "é",
    "\u2028",
    '"',
    "\\",
    "\ud83d\ude00",
  ],
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(word, fc.string({ maxLength: 8 }), fc.string({ unit: "binary", maxLength: 8 })),
    fc.constantFrom("${var.x}", "${secret.x}", "graphform/v1", "free", "https://a:b@c"),
    fc.constantFrom(null, true, false, 0, -0, 1, -1.5, 1e21, 1e-7, 123_456_789_012_345_680_000),
    fc.array(tie("tree"), { maxLength: 3 }),
    tie("map"),
    tie("map"),
  ),
  map: fc.dictionary(fc.oneof(word, fc.string({ maxLength: 4 })), tie("tree"), { maxKeys: 4 }),
}));
const indent = fc.constantFrom(undefined, 1, 2, "\t");

describe("JSON", () => {
  it("gives the values, nodes and faults that the same text gives as YAML", () => {
    fc.assert(
      fc.property(fc.record({ name: tree, instances: tree, other: tree }), indent, (map, space) => {
        const text = JSON.stringify(map, null, space);
        expect(read(text)).toEqual(read(asYaml(text)));
      }),
      { numRuns: runs(1000) },
    );
  });

  it("gives the problems with places and excerpts that the same text gives as YAML", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(word, tree), indent, async (sections, space) => {
        const text = JSON.stringify({ apiVersion: "graphform/v1", name: "shop", ...sections }, null, space);
        expect(await placed(text)).toEqual(await placed(asYaml(text)));
      }),
      { numRuns: runs(500) },
    );
  });

  const files = globSync("{examples,test/{golden,manifest,e2e}}/**/*.yaml", { cwd: root });

  it.each(files)("of %s gives what the YAML gives", async (file) => {
    const text = readFileSync(join(root, file), "utf8");
    const json = JSON.stringify(parse(text, { uniqueKeys: false, logLevel: "error" }), null, 2);
    expect(await placed(json)).toEqual(await placed(asYaml(json)));
    const { manifest: fromJson, problems } = await check(json);
    const { manifest: fromYaml, problems: inYaml } = await check(text);
    const said = (all: typeof problems): readonly string[] =>
      all.map(({ code, message, address }) => `${code} ${message} ${address}`).sort();
    expect(said(problems)).toEqual(said(inYaml));
    expect(fromJson?.desired.map(({ where: _, ...rest }) => rest)).toEqual(
      fromYaml?.desired.map(({ where: _, ...rest }) => rest),
    );
  });

  it.each([
    ["a key that stands twice", '{ "name": "a", "name": "b" }', "duplicate-key"],
    ["a key that stands twice in another spelling", '{ "name": "a", "n\\u0061me": "b" }', "duplicate-key"],
    [
      "a key that stands twice, deep down",
      '{ "a": [{ "b": { "c": 1, "d": ":", "c": 2 } }] }',
      "duplicate-key",
    ],
    ["__proto__", '{ "a": { "__proto__": { "b": 1 } } }', "reserved-key"],
    ["__proto__ in another spelling", '{ "a": { "\\u005f_proto__": 1 } }', "reserved-key"],
    ["a sealed secret", '{ "a": { "$secret": "x" } }', "reserved-key"],
    ["a merge key", '{ "<<": { "a": 1 } }', "merge-key"],
    ["a number without end", '{ "a": 1e999 }', "bad-number"],
    ["sixty-five levels", `{ "a": ${"[".repeat(65)}${"]".repeat(65)} }`, "too-deep"],
    ["two hundred levels", `{ "a": ${"[".repeat(200)}${"]".repeat(200)} }`, "too-deep"],
    ["a comma too many", '{ "a": 1,, }', "yaml"],
    ["two documents", '{ "a": 1 }\n{ "b": 2 }', "yaml"],
    ["a text", '"a"', "not-a-map"],
  ])("reports %s", (_, text, code) => {
    const { findings } = parseManifest([{ path: "m.json", text }]);
    expect(findings.map((finding) => finding.code)).toContain(code);
    expect(findings).toEqual(parseManifest([{ path: "m.json", text: asYaml(text) }]).findings);
  });

  it("keeps keys with backslashes apart, which JSON.parse of V8 takes for each other", () => {
    for (const key of ["\\", '"', "\\", "a\\", 'a"', "a\\"]) {
      const text = JSON.stringify({ list: [], map: { list: [], [key]: 0 } });
      expect(parseManifest([{ path: "m.json", text }]).value).toEqual({
        list: [],
        map: { list: [], [key]: 0 },
      });
    }
  });

  it("is read as such, in whatever way it is set", () => {
    for (const space of [undefined, 2, "\t"]) {
      const text = JSON.stringify({ name: 'a:{}[]\\"', list: [1, { b: null }], map: {} }, null, space);
      expect(jsonMap(`\n ${text}\n`)).toEqual(JSON.parse(text));
    }
    expect(jsonMap("{ a: 1 }")).toBeUndefined();
  });
});

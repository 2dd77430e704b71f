import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readHeader } from "../../src/manifest/header.ts";
import { decode } from "../../src/manifest/load.ts";
import { parseManifest } from "../../src/manifest/parse.ts";
import type { Resolution } from "../../src/manifest/resolve.ts";
import type { Problem } from "../../src/model/errors.ts";
import { runs } from "../support/runs.ts";
import { check, testInputs } from "./check.ts";

const word = fc.constantFrom(
  ...[
    "apiVersion",
    "name",
    "service",
    "state",
    "variables",
    "secrets",
    "defaults",
    "cloudAccounts",
    "networks",
  ],
  ...[
    "instances",
    "users",
    "imports",
    "moved",
    "removed",
    "guards",
    "outputs",
    "orders",
    "config",
    "tier",
    "component",
  ],
  ...[
    "lifecycle",
    "timeouts",
    "forEach",
    "dependsOn",
    "ignoreChanges",
    "graphdbPassword",
    "instance",
    "network",
    "value",
  ],
  ...[
    "type",
    "default",
    "allowed",
    "env",
    "address",
    "id",
    "from",
    "to",
    "__proto__",
    "$secret",
    "<<",
    "constructor",
    "",
  ],
);
const text = fc.oneof(
  word,
  fc.string({ maxLength: 12 }),
  fc.constantFrom(
    "graphform/v1",
    "free",
    "pro",
    "aws",
    "${var.orders}",
    "${secret.orders}",
    "${env.X}",
    "${each.key}",
    "a${each.value.x}",
  ),
  fc.constantFrom(
    "${instances.orders.host}",
    '${instances.orders["a"].id}',
    "${",
    "$${x}",
    "${}",
    "orders",
    'orders["a"]',
    "instances.orders",
  ),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    text,
    fc.constantFrom(null, true, 0, 1, -1.5, 1e21),
    tie("list"),
    tie("map"),
    tie("map"),
  ),
  list: fc.array(tie("tree"), { maxLength: 3 }),
  map: fc.array(fc.tuple(fc.oneof(word, fc.string({ maxLength: 4 })), tie("tree")), { maxLength: 4 }),
}));

/** Writes a tree as flow YAML, duplicate keys and all; a list of pairs is a map. */
function write(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  const pairs =
    value.length > 0 &&
    value.every((item) => Array.isArray(item) && item.length === 2 && typeof item[0] === "string");
  if (!pairs) return `[${value.map(write).join(", ")}]`;
  return `{ ${value.map(([key, inner]) => `${JSON.stringify(key)}: ${write(inner)}`).join(", ")} }`;
}

/** What is wrong with the problems themselves: each must stand inside the file and say what to do. */
function misplaced({ problems, warnings, manifest }: Resolution, source: string): readonly string[] {
  const lines = source.split("\n");
  const both = (manifest === undefined) === problems.length > 0 ? [] : ["a manifest, or problems: not both"];
  const wrong = [...problems, ...warnings].filter(({ range, hint, message }) => {
    const { start, end } = range;
    const width = (lines[start.line - 1] ?? "").length;
    const inside =
      start.line >= 1 && start.line <= lines.length && start.column >= 1 && start.column <= width + 1;
    const forward = end.line > start.line || (end.line === start.line && end.column >= start.column);
    return !(inside && forward && range.file === "m.yaml" && message !== "" && (hint ?? "") !== "");
  });
  return [...both, ...wrong.map((problem) => JSON.stringify(problem))];
}

describe("nothing that is written makes it throw", () => {
  it("random trees in the manifest's own words", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(word, tree), { maxLength: 8 }), async (sections) => {
        const source = write([["apiVersion", "graphform/v1"], ["name", "shop"], ...sections]);
        expect(misplaced(await check(source), source)).toEqual([]);
      }),
      { numRuns: runs(1000) },
    );
  });

  it("random bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const decoded = decode(bytes);
        if ("fault" in decoded) expect(decoded.position.column).toBeGreaterThanOrEqual(1);
        else expect(misplaced(await check(decoded.text), decoded.text)).toEqual([]);
      }),
      { numRuns: runs(1000) },
    );
  });

  it("random YAML punctuation", async () => {
    const piece = fc.constantFrom(
      ..." \n\t:-?[]{},#&*!|>'\"%@`ab1".split(""),
      "\n  ",
      ": ",
      "- ",
      "&a ",
      "*a ",
      "!!str ",
      "<<: ",
      "---\n",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
        const source = pieces.join("");
        expect(misplaced(await check(source), source)).toEqual([]);
        readHeader(parseManifest([{ path: "m.yaml", text: source }]), testInputs);
      }),
      { numRuns: runs(1500) },
    );
  });
});

it("a fault after a line that the parser skips stands where it is", async () => {
  const source = "*&a ---\nb\n  : ";
  expect(misplaced(await check(source), source)).toEqual([]);
});

describe("no secret is shown", () => {
  const secret = "hunter2-SECRET";
  const good = `apiVersion: graphform/v1
name: shop
secrets:
  a: { env: A }
instances:
  orders:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config:
      graphdbUser: app
      graphdbPassword: ${secret}
      graphDBCacheSize: 100
`;
  const shown = async (source: string): Promise<string> => {
    const { problems, warnings } = await check(source);
    const header = readHeader(parseManifest([{ path: "m.yaml", text: source }]), testInputs);
    return JSON.stringify([problems, warnings, header.problems] satisfies readonly (readonly Problem[])[]);
  };

  it("however the manifest around it is broken", async () => {
    const at = good.indexOf("graphdbPassword");
    const after = good.indexOf(secret) + secret.length;
    const around = fc.oneof(fc.nat(at), fc.integer({ min: after, max: good.length }));
    const noise = fc.constantFrom(
      "",
      " ",
      "\n",
      "\t",
      "'",
      '"',
      ":",
      "{",
      "}",
      "[",
      "#",
      "- ",
      "&x ",
      "*x",
      "!t ",
      "x",
      "|\n",
      "\n   ",
    );
    await fc.assert(
      fc.asyncProperty(around, noise, fc.nat(1), async (position, inserted, removed) => {
        const kept = position < at ? Math.min(position + removed, at) : position + removed;
        const source = good.slice(0, position) + inserted + good.slice(kept);
        expect(await shown(source)).not.toContain(secret);
      }),
      { numRuns: runs(1500) },
    );
  });

  it.each([
    [
      "in a flow map, with a mistake beside it",
      good.replace(/config:\n[\s\S]*/, `config: { graphdbPassword: ${secret}, graphDBCacheSize: 999 }\n`),
    ],
    [
      "in a flow map, after the mistake",
      good.replace(/config:\n[\s\S]*/, `config: { graphDBCacheSize: 999, "graphdbPassword": "${secret}" }\n`),
    ],
    ["behind a misspelt key", good.replace("graphdbPassword", "graphdbPasword")],
    ["behind a key of another kind", good.replace("graphdbPassword", "password")],
    ["behind a quote in the key", good.replace("graphdbPassword", "graphdbP'assword")],
    ["without a space", good.replace("graphdbPassword: ", '"graphdbPassword":')],
    ["in a block", good.replace(secret, `|\n        ${secret}\n  bad`)],
    ["in an unclosed quote", good.replace(secret, `"${secret}`)],
    ["in a text with a reference", good.replace(secret, `"\${var.none} ${secret}"`)],
    ["twice", good.replace("      graphDBCacheSize: 100", `      graphdbPassword: ${secret}`)],
    ["as a number", good.replace(secret, "12345678")],
    ["where its source belongs", good.replace("{ env: A }", secret)],
    ["in the command that prints it", good.replace("{ env: A }", `{ command: "echo ${secret}" }`)],
    ["where its source belongs, in a map", good.replace("{ env: A }", `{ value: ${secret} }`)],
    ["on a line of its own", good.replace(secret, `\n        ${secret}\n      graphdbUser: twice`)],
    ["as an alias, if it begins with *", good.replace(`: ${secret}`, `: *${secret}`)],
    ["as an anchor, if it begins with &", good.replace(`: ${secret}`, `: &${secret}`)],
    ["as an anchor of another value", good.replace(`: ${secret}`, `: &${secret} [x]`)],
    [
      "as an anchor for another place",
      good.replace("app\n", `&p ${secret}\n`).replace(`: ${secret}`, ": *p"),
    ],
  ])("%s", async (_, source) => {
    const said = await shown(source);
    expect(said).not.toBe("[[],[],[]]");
    expect(said).not.toContain(secret);
    expect(said).not.toContain("12345678");
  });
});

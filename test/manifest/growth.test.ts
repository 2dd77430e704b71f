import { describe, expect, it } from "vitest";
import { growth } from "../support/work.ts";
import { check } from "./check.ts";

const head = "apiVersion: graphform/v1\nname: long\n";

/** As many of them as fit into so many characters. */
function filled(length: number, one: (at: number) => string): string {
  return Array.from({ length: Math.ceil(length / one(0).length) }, (_, at) => one(at)).join("");
}

const instances = (length: number, rest: (at: number) => string): string =>
  `${head}instances:\n${filled(length, (at) => `  i${at}: { tier: free, ${rest(at)} }\n`)}`;

function jsonOf(length: number, one: (at: number) => object): string {
  const count = Math.ceil(length / JSON.stringify(one(0), null, 2).length);
  const all = Array.from({ length: count }, (_, at) => [`i${at}`, one(at)]);
  return JSON.stringify(
    { apiVersion: "graphform/v1", name: "long", instances: Object.fromEntries(all) },
    null,
    2,
  );
}

/** A manifest of about so many characters. */
type Shape = (length: number) => string;

const lines: readonly (readonly [why: string, shape: Shape])[] = [
  ["one word", (length) => `${head}guards: { maxDeletes: -1, note: ${"a".repeat(length)} }\n`],
  ["nothing but a word", (length) => "a".repeat(length)],
  ["colons", (length) => `${head}guards: { x: '${":".repeat(length)}' }\n`],
  ["colons and spaces", (length) => `${head}guards: { x: '${": ".repeat(length / 2)}' }\n`],
  ["an expression that is never closed", (length) => `${head}guards: { x: '\${${"a".repeat(length)}' }\n`],
  ["a quote that is never closed", (length) => `${head}x: "${"a".repeat(length)}\n`],
  ["spaces", (length) => `${head}x: ${" ".repeat(length)}#\n`],
];

const structures: readonly (readonly [why: string, shape: Shape])[] = [
  [
    "passwords in one line",
    (length) => `${head}guards: { ${filled(length, () => "passw: ${secret.a}, ")} }\n`,
  ],
  ["commas in one line", (length) => `${head}x: [${",".repeat(length)}]\n`],
  ["escapes that are none", (length) => `${head}x: "${"\\q".repeat(length / 2)}"\n`],
  ["expressions in one line", (length) => `${head}outputs: { o: '${filled(length, () => "${var.x}")}' }\n`],
  ["problems in as many lines", (length) => instances(length, () => "region: 1")],
  [
    "problems in one line",
    (length) =>
      instances(length, () => "region: 1")
        .replaceAll("\n", "\n ")
        .replace(/\n +i/g, " i"),
  ],
  ["unknown keys", (length) => head + filled(length, (at) => `key${at}: 1\n`)],
  ["keys that stand twice", (length) => head + filled(length, () => "key: 1\n")],
  ["unknown variables", (length) => instances(length, (at) => `region: '\${var.x${at}}'`)],
  [
    "unknown secrets",
    (length) => instances(length, (at) => `config: { graphdbPassword: '\${secret.x${at}}' }`),
  ],
  ["literal secrets", (length) => instances(length, (at) => `config: { graphdbPassword: hunter${at} }`)],
  [
    "problems in as many instances, in JSON",
    (length) => jsonOf(length, (at) => ({ tier: "free", config: { graphDBCacheSize: -at } })),
  ],
  [
    "instances in JSON in one line",
    (length) => JSON.stringify(JSON.parse(jsonOf(length, () => ({ region: 1 })))),
  ],
  [
    "users with passwords in their rules",
    (length) =>
      `${head}users:\n${filled(length, (at) => `  u${at}: { instance: a, username: u, acl: '>p${at}' }\n`)}`,
  ],
  [
    "one user with many rules",
    (length) => `${head}users: { u: { acl: "${"+NO >p ".repeat(length / 7)}" } }\n`,
  ],
  [
    "lines of a secret",
    (length) => `${head}users:\n  u:\n    password: |\n${"      line\n".repeat(length / 11)}`,
  ],
  [
    "unknown keys of a forEach",
    (length) =>
      `${instances(1, () => "forEach: [a]")}outputs:\n${filled(length, (at) => `  o${at}: '\${instances.i0["b${at}"].id}'\n`)}`,
  ],
];

describe("a manifest ten times as long takes at most sixteen times the work: ", () => {
  it.each([...lines, ...structures])("%s", async (_, shape) => {
    expect(await growth(check, shape(5000), shape(50_000))).toBeLessThan(16);
  });
});

describe("a manifest three times as long takes at most five times the work: ", () => {
  // An unknown name is compared with at most a thousand.
  it("unknown resources", async () => {
    const shape: Shape = (length) =>
      instances(length, (at) => `lifecycle: { dependsOn: [instances.j${at}] }`);
    expect(await growth(check, shape(50_000), shape(150_000))).toBeLessThan(5);
  });
});

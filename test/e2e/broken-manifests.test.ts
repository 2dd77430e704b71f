import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorkspace, type Ran, type Workspace } from "../support/workspace.ts";

let user: Workspace;
beforeAll(() => {
  user = openWorkspace();
});
afterAll(() => user.close());

const head = "apiVersion: graphform/v1\nname: broken\n";
const place = "tier: pro, component: standalone, cloudProvider: aws, region: us-east-1";
const instance = (config: string): string => `${head}instances:\n  a: { ${place}, config: ${config} }\n`;
const bomb = [
  "a0: &a0 [x,x,x,x,x,x,x,x,x,x]",
  ...Array.from(
    { length: 9 },
    (_, n) => `a${n + 1}: &a${n + 1} [${Array.from({ length: 10 }, () => `*a${n}`).join(",")}]`,
  ),
];

/** What a manifest can be broken by, and what is said about it: a place, and words. */
const cases: readonly (readonly [why: string, text: string, words: RegExp])[] = [
  ["an empty file", "", /:1:1: error: .*empty/],
  ["nothing but comments", "# later\n", /:1:1: error: .*empty/],
  ["a text", "just words\n", /:1:1: error: /],
  ["a list", "- a\n- b\n", /:1:1: error: /],
  ["binary", "\u0000\u0001\u0002ELF\u0000", /:1:1: error: /],
  ["a tab", "apiVersion: graphform/v1\nname: broken\ninstances:\n\ta: {}\n", /:4:1: error: .*tab/],
  ["a key that stands twice", `${head}name: again\n`, /:3:1: error: .*name/],
  ["a bracket that is never closed", `${head}instances: { a: {\n`, /:\d+:\d+: error: /],
  ["an alias bomb", `${head}${bomb.join("\n")}\n`, /:\d+:\d+: error: .*alias/],
  ["an alias of nothing", `${head}instances: *nowhere\n`, /:3:\d+: error: this alias has no anchor/],
  ["a merge key", `${head}instances:\n  a: { <<: {} }\n`, /:4:\d+: error: /],
  ["__proto__", `${head}__proto__: { polluted: true }\n`, /:3:1: error: .*__proto__/],
  ["two documents", `${head}---\n${head}`, /:\d+:\d+: error: .*document/],
  ["an unknown key, nearly right", `${head}instnaces: {}\n`, /:3:1: error: .*instnaces[\s\S]*instances/],
  ["a wrong type", instance('{ graphDBCacheSize: "100" }'), /:4:\d+: error: .*graphDBCacheSize/],
  ["an unknown field", instance("{ graphDBCachesize: 100 }"), /:4:\d+: error: [\s\S]*graphDBCacheSize/],
  ["a reference to nothing", instance('{ name: "${var.nothing}" }'), /:4:\d+: error: .*nothing/],
  [
    "a circle",
    `${head}instances:\n  a: { ${place}, lifecycle: { dependsOn: [instances.b] }, config: {} }\n  b: { ${place}, lifecycle: { dependsOn: [instances.a] }, config: {} }\n`,
    /:\d+:\d+: error: [\s\S]*instances\.a[\s\S]*instances\.b/,
  ],
  ["a number beyond reason", instance("{ graphDBCacheSize: 1e999 }"), /:4:\d+: error: /],
  ["a bottomless pit", `${head}instances: ${"[".repeat(20_000)}\n`, /:\d+:\d+: error: /],
  ["a name with a bell and a colour in it", `${head.replace("broken", '"\\e[31m\\a"')}`, /:2:7: error: /],
];

/** Exit 3, a place in the file, a hint, nothing on standard output, and never the inside of the program. */
function expectProblem({ code, out, err }: Ran, words: RegExp): void {
  expect({ code, out }).toEqual({ code: 3, out: "" });
  expect(err).toMatch(words);
  expect(err).toMatch(/^graphform\.yaml:\d+:\d+: error: /m);
  expect(err).toMatch(/^\s+hint: /m);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  expect(err).not.toMatch(/\bat .*\.js:\d+|node:internal|RangeError|TypeError|[\u0000-\u0008\u001b]/);
}

describe("a broken manifest", () => {
  it.each(cases)("%s", async (_, text, words) => {
    user.write("graphform.yaml", text);
    expectProblem(await user.run("validate"), words);
  });

  it("20 MB of it", async () => {
    user.write("graphform.yaml", `${head}description: ${"x".repeat(20 * 1024 * 1024)}\n`);
    const ran = await user.run("validate");
    expectProblem(ran, /graphform\.yaml/);
    expect(ran.err.length).toBeLessThan(2000);
  });

  it("20 MB of instances are read all the same, or refused in words", async () => {
    const one = `, config: { description: "${"y".repeat(1000)}" } }\n`;
    const many = Array.from({ length: 20_000 }, (_, n) => `  a${n}: { ${place}${one}`).join("");
    user.write("graphform.yaml", `${head}instances:\n${many}`);
    const ran = await user.run("validate");
    expect([0, 3]).toContain(ran.code);
    expect(ran.err).not.toMatch(/\bat .*\.js:\d+|node:internal|heap/);
  });

  it("is told the same way by plan and apply, before anything is sent or written", async () => {
    user.write("graphform.yaml", instance("{ graphDBCacheSize: 0 }"));
    for (const command of [["plan"], ["apply", "--auto-approve"], ["destroy", "--auto-approve"]]) {
      expectProblem(await user.run(...command), /:4:\d+: error: .*graphDBCacheSize/);
    }
    // With --json the plan that could not be made is a document too; people are told the same as ever.
    const { code, out, err } = await user.run("plan", "--json");
    expectProblem({ code, out: "", err }, /:4:\d+: error: .*graphDBCacheSize/);
    expect(JSON.parse(out)).toMatchObject({
      format_version: "1.2",
      errored: true,
      applyable: false,
      complete: false,
      resource_changes: [],
      x_graphform: {
        problems: expect.arrayContaining([
          expect.objectContaining({
            severity: "error",
            summary: expect.stringContaining("graphDBCacheSize"),
            range: expect.objectContaining({ filename: "graphform.yaml" }),
          }),
        ]),
      },
    });
    expect(user.files()).toEqual([".graphform/.gitignore", "graphform.yaml"]);
  });

  it.each([
    ["plan", ["--platform-url", "http://127.0.0.1:1"], 1, /cannot be reached|no credentials/],
    ["plan", ["--profile", "no-such-profile"], 3, /cannot read the profile/],
    ["plan", ["--var", "novalue"], 3, /name=value/],
    ["validate", ["--profile", "no-such-profile"], 3, /cannot read the profile/],
    ["validate", ["--var", "novalue"], 3, /name=value/],
  ])("%s --json %j prints a document whatever is wrong", async (command, options, exit, words) => {
    user.write("graphform.yaml", instance("{ graphDBCacheSize: 10 }"));
    const { code, out } = await user.run(command, "--json", ...options);
    expect(code).toBe(exit);
    const document: { errored?: boolean; valid?: boolean } = JSON.parse(out);
    expect(command === "plan" ? document.errored : document.valid).toBe(command === "plan");
    expect(out).toMatch(words);
  });

  it("shows every problem at once, in the order of the lines", async () => {
    user.write(
      "graphform.yaml",
      `${head}instances:\n  a:\n    tier: pro\n    component: standalone\n    cloudProvider: awz\n    region: 7\n    config: { graphDBCacheSize: 0, nmae: x }\n`,
    );
    const { err } = await user.run("validate");
    const lines = [...err.matchAll(/^graphform\.yaml:(\d+):\d+: error: /gm)].map((match) => Number(match[1]));
    expect(lines).toEqual([7, 8, 9, 9]);
    expect(err).toContain("4 problems");
  });
});

import { describe, expect, it } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { check } from "./check.ts";

const head = "apiVersion: graphform/v1\nname: shop\n";

/** The value of a variable that is declared so and given so, or the codes of what is wrong. */
async function valueIn(declaration: string, given?: string): Promise<Json | undefined | readonly string[]> {
  const text = `${head}variables:\n  v: ${declaration}\noutputs: { x: { value: "\${var.v}" } }\n`;
  const { manifest, problems } = await check(text, { variables: given === undefined ? {} : { v: given } });
  return manifest?.outputs["x"]?.value ?? problems.map(({ code }) => code);
}

describe("variables", () => {
  it.each<[string, string, string | undefined, Json]>([
    ["the default", "{ type: string, default: a }", undefined, "a"],
    ["what is given instead", "{ type: string, default: a }", "b", "b"],
    ["nothing is something", "{ type: string, default: a }", "", ""],
    ["text that looks like a number", "{ type: string }", "25", "25"],
    ["a number", "{ type: number }", "25", 25],
    ["a number with a fraction", "{ type: number }", "2.5", 2.5],
    ["a truth", "{ type: boolean }", "true", true],
    ["a list", "{ type: list }", '["a", 1]', ["a", 1]],
    ["a map", "{ type: map }", '{"a": {"b": 1}}', { a: { b: 1 } }],
    ["the type of the default, where none is said", "{ default: 5 }", "7", 7],
    ["text, where neither is said", "{ description: x }", "7", "7"],
    ["one of the allowed", "{ type: number, allowed: [1, 2] }", "2", 2],
    ["no reference is seen in what is given", "{ type: string }", "${secret.x}", "${secret.x}"],
  ])("%s", async (_, declaration, given, value) => {
    expect(await valueIn(declaration, given)).toEqual(value);
  });

  it.each<[string, string, string | undefined, string]>([
    ["no value", "{ type: string }", undefined, "missing-variable"],
    ["no number", "{ type: number }", "many", "wrong-type"],
    ["no number at all", "{ type: number }", " ", "wrong-type"],
    ["infinity", "{ type: number }", "Infinity", "wrong-type"],
    ["yes for true", "{ type: boolean }", "yes", "wrong-type"],
    ["no JSON", "{ type: list }", "a,b", "wrong-type"],
    ["a map for a list", "{ type: list }", "{}", "wrong-type"],
    ["a forged secret", "{ type: map }", '{"$secret": "x"}', "wrong-type"],
    ["a prototype", "{ type: map }", '{"__proto__": {"x": 1}}', "wrong-type"],
    ["not allowed", "{ type: string, allowed: [a, b] }", "c", "not-allowed"],
  ])("%s", async (_, declaration, given, code) => {
    expect(await valueIn(declaration, given)).toEqual([code]);
  });

  it("a value for one that nobody declared", async () => {
    const { problems } = await check(`${head}variables:\n  region: { default: eu }\n`, {
      variables: { regoin: "us" },
    });
    expect(problems).toMatchObject([
      {
        code: "unknown-variable",
        range: { start: { line: 3, column: 1 } },
        hint: 'did you mean "region"? declared: region',
      },
    ]);
  });

  it("one value that is missing is one problem, however often it is used", async () => {
    const uses = Array.from({ length: 5 }, (_, index) => `  o${index}: "x \${var.v}"\n`).join("");
    const { problems } = await check(`${head}variables: { v: { type: string } }\noutputs:\n${uses}`);
    expect(problems.map(({ code }) => code)).toEqual(["missing-variable"]);
  });

  it.each<[string, string, Json]>([
    ["a whole value keeps its type", "${var.n}", 5],
    ["inside text it is text", "n=${var.n}", "n=5"],
    ["several of them", "${var.n}-${ var.s }", "5-a"],
    ["an escape", "$${var.n}", "${var.n}"],
    ["an escape beside a reference", "$${x} ${var.s}", "${x} a"],
    ["a dollar is a dollar", "$5 and $ and }", "$5 and $ and }"],
    ["truths in text", "${var.b}!", "true!"],
    ["a list as a whole", "${var.l}", ["x", "y"]],
  ])("%s", async (_, text, value) => {
    const variables =
      "variables: { n: { default: 5 }, s: { default: a }, b: { default: true }, l: { default: [x, y] } }\n";
    const { manifest, problems } = await check(
      `${head}${variables}outputs: { x: { value: ${JSON.stringify(text)} } }\n`,
    );
    expect(problems).toEqual([]);
    expect(manifest?.outputs["x"]?.value).toEqual(value);
  });

  it("types and bounds are checked on the value, not on the reference", async () => {
    const text = `${head}variables: { size: { default: 999 } }
instances:
  x:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config: { graphDBCacheSize: "\${var.size}" }
`;
    const { problems } = await check(text);
    expect(problems).toMatchObject([{ code: "too-large", range: { start: { line: 10, column: 33 } } }]);
    expect((await check(text, { variables: { size: "200" } })).problems).toEqual([]);
  });
});

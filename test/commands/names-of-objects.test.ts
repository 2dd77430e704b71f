import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, startBench } from "./harness.ts";

/** What every object has: names like any other, for whoever writes a manifest or a command line. */
const inherited = ["constructor", "toString", "hasOwnProperty", "valueOf", "__proto__"];
const legal = inherited.filter((name) => name !== "__proto__");

const place = "component: free, cloudProvider: aws, region: us-east-1";
const config = 'config: { graphdbUser: app, graphdbPassword: "${env.PW}" }';

function manifest(more: string): string {
  return `apiVersion: graphform/v1\nname: names\n${more}`;
}

let bench: Bench;

beforeAll(async () => {
  const lines = (line: (name: string) => string): string => legal.map((name) => `  ${line(name)}\n`).join("");
  bench = await startBench(
    manifest(
      [
        `variables:\n${lines((name) => `${name}: { default: of-${name} }`)}`,
        `secrets:\n${lines((name) => `${name}: { env: PW }`)}`,
        `instances:\n${lines((name) => `${name}: { tier: free, ${place}, config: { name: "\${var.${name}}", graphdbUser: app, graphdbPassword: "\${secret.${name}}" } }`)}`,
        `outputs:\n${lines((name) => `${name}: "\${instances.${name}.id}"`)}`,
      ].join(""),
    ),
  );
});
afterAll(() => bench.close());

describe("names that every object has", () => {
  it("are names of variables, secrets, resources and outputs like any other", async () => {
    expect(await bench.gf("apply", "--auto-approve")).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${legal.length} added`),
    });
    expect(await bench.gf("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    for (const name of legal) {
      const { code, out } = await bench.gf("output", name, "--raw");
      expect([name, code, out]).toEqual([name, 0, expect.stringMatching(/^instance-/)]);
    }
    for (const name of legal) {
      const spec = (await bench.gf("state", "show", `instances.${name}`)).out;
      expect(spec).toContain(`"of-${name}"`);
    }
  });

  it.each(inherited)("%s is nothing where nobody gave it", async (name) => {
    const empty = await bench.write("empty.yaml", manifest(""));
    const state = ["-f", empty, "--state", `${bench.folder}/empty.json`];
    for (const more of [[], ["--json"], ["--raw"]])
      expect(await bench.bare("output", name, ...more, ...state)).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringContaining(`there is no output "${name}"`),
      });
    for (const command of [
      ["explain", name],
      ["schema", name],
      ["profile", "show", name],
      ["state", "show", name, ...state],
      ["state", "mv", `instances.${legal[0]}`, name, "-f", `${bench.folder}/graphform.yaml`],
      ["instance", "stop", `instances.${name}`, ...state],
    ]) {
      const ran = await bench.bare(...command);
      expect(ran.code, `${command.join(" ")}: ${ran.out}`).not.toBe(0);
      expect(ran.err, command.join(" ")).toMatch(/^error: /);
      expect(ran.err).not.toContain("did not expect");
    }
  });

  it.each(inherited)("%s is refused where a manifest cannot mean it", async (name) => {
    const of = (words: string): string => `instances:\n  a: { ${words} }\n`;
    for (const words of [
      of(`tier: ${name}, ${place}, ${config}`),
      of(`tier: free, component: ${name}, cloudProvider: aws, region: us-east-1, ${config}`),
      of(
        `tier: pro, component: standalone, cloudProvider: ${name}, region: us-east-1, config: { nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${env.PW}" }`,
      ),
      of(
        `tier: pro, component: standalone, cloudProvider: aws, region: us-east-1, config: { nodeInstanceType: ${name}, graphdbUser: app, graphdbPassword: "\${env.PW}" }`,
      ),
      of(`tier: free, ${place}, ${name}: 1, ${config}`),
      of(`tier: free, component: free, cloudProvider: aws, region: "\${var.${name}}", ${config}`),
      of(`tier: free, ${place}, config: { graphdbUser: app, graphdbPassword: "\${secret.${name}}" }`),
      of(
        `forEach: [x], tier: free, component: free, cloudProvider: aws, region: "\${each.${name}}", ${config}`,
      ),
      `variables: { v: { type: ${name}, default: x } }\n`,
      `outputs: { o: "\${instances.${name}.id}" }\n`,
      `${of(`tier: free, ${place}, ${config}`)}outputs: { o: "\${instances.a.${name}}" }\n`,
      `defaults: { ${name}: {} }\n`,
      `${name}: {}\n`,
      `cloudAccounts: { c: { cloudProvider: ${name}, config: { account_configuration_method: CloudFormation } } }\n`,
    ]) {
      const file = await bench.write("wrong.yaml", manifest(words));
      const ran = await bench.bare("validate", "-f", file);
      expect([words, ran.code]).toEqual([words, 3]);
      expect(ran.err).not.toMatch(/native code|did not expect|\[object/);
    }
  });

  it.each(inherited)("--var %s=x is said not to be declared", async (name) => {
    const empty = await bench.write("empty.yaml", manifest(""));
    const ran = await bench.bare("validate", "-f", empty, "--var", `${name}=x`);
    expect(ran).toMatchObject({ code: 3, err: expect.stringContaining(name) });
  });

  it.each(inherited)("a profile that names %s gets nothing from it", async (name) => {
    const file = await bench.write(
      "odd.yaml",
      `name: odd\nextends: default\noperations: { plans.list: "GET <${name}>/x" }\n`,
    );
    expect(await bench.bare("profile", "show", file)).toMatchObject({ code: 3 });
  });
});

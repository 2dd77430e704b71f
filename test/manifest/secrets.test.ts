import { describe, expect, it } from "vitest";
import { noSecrets } from "../../src/manifest/read-secret.ts";
import { GraphformError } from "../../src/model/errors.ts";
import type { Json } from "../../src/model/json.ts";
import type { SecretSource } from "../../src/model/manifest.ts";
import { check } from "./check.ts";

const head = `apiVersion: graphform/v1
name: shop
secrets:
  a: { env: A }
  b: { file: b.txt }
  c: { command: { run: [op, read, "\${var.vault}/c"], env: [VAULT_ADDR] } }
  unused: { env: UNUSED }
variables: { vault: { default: team } }
`;
const instance = (name: string, password: string): string => `  ${name}:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { graphdbUser: app, graphdbPassword: ${JSON.stringify(password)} }
`;

describe("secrets", () => {
  it("are read once, only where they are used, with their source", async () => {
    const asked: (readonly [string, SecretSource])[] = [];
    const text = `${head}instances:\n${instance("x", "${secret.a}")}${instance("y", "${secret.a}")}${instance("z", "${env.E}${secret.c}")}`;
    const { problems } = await check(text, {
      secretText: (name, source) => {
        asked.push([name, source]);
        return Promise.resolve("text");
      },
    });
    expect(problems).toEqual([]);
    expect(asked.toSorted()).toEqual([
      ["env.E", { env: "E" }],
      ["secret.a", { env: "A" }],
      ["secret.c", { command: ["op", "read", "team/c"], variables: ["VAULT_ADDR"] }],
    ]);
  });

  it.each<[string, string, Json]>([
    ["a whole secret", "${secret.a}", { $secret: "sealed A" }],
    ["the environment", "${env.E}", { $secret: "sealed E" }],
    ["text around it is sealed with it", "pre-${secret.a}-post", { $secret: "sealed pre-A-post" }],
    ["two of them", "${secret.a}${env.E}", { $secret: "sealed AE" }],
    ["a variable inside", "${var.vault}:${secret.a}", { $secret: "sealed team:A" }],
    ["a literal is sealed too", "hunter2", { $secret: "sealed hunter2" }],
    [
      "with an output it waits",
      "${secret.a}@${instances.y.host}",
      { $template: [{ $secret: "sealed A@" }, { $ref: "instances.y.host" }] },
    ],
    [
      "a literal beside an output is sealed too",
      "ab${instances.y.host}c",
      { $template: [{ $secret: "sealed ab" }, { $ref: "instances.y.host" }, { $secret: "sealed c" }] },
    ],
  ])("%s", async (_, password, value) => {
    const { manifest } = await check(
      `${head}instances:\n${instance("x", password)}${instance("y", "${secret.a}")}`,
      {
        secretText: (name) => name.slice(name.indexOf(".") + 1).toUpperCase(),
      },
    );
    expect(manifest?.desired[0]?.spec["config.graphdbPassword"]).toEqual(value);
  });

  it("that are unavailable are no literals", async () => {
    const { problems } = await check(`${head}instances:\n${instance("x", "${secret.a}")}`, {
      secretText: () => {
        throw new GraphformError("secret-unavailable", "secret.a: it is not set");
      },
    });
    expect(problems.map(({ code }) => code)).not.toContain("secret-literal");
    expect(problems).toHaveLength(1);
  });

  it("warn of a literal, and of a variable that stands for one", async () => {
    const { warnings } = await check(
      `${head}instances:\n${instance("x", "hunter2")}${instance("y", "${var.vault}")}${instance("z", "${secret.a}")}`,
    );
    expect(warnings.map(({ code, address }) => [code, address])).toEqual([
      ["secret-literal", "instances.x"],
      ["secret-literal", "instances.y"],
    ]);
    expect(JSON.stringify(warnings)).not.toContain("hunter2");
  });

  it("that cannot be had are one problem each, with the way out", async () => {
    const text = `${head}instances:\n${instance("x", "${secret.a}")}${instance("y", "${secret.a}")}${instance("z", "${env.E}")}`;
    const { problems } = await check(text, {
      secretText: (name) => {
        throw new GraphformError("secret-unavailable", `${name} is not set`, { hint: `export ${name}` });
      },
    });
    expect(problems.map(({ code, message, hint, range }) => [code, message, hint, range.start.line])).toEqual(
      [
        ["secret-unavailable", "secret.a is not set", "export secret.a", 15],
        ["secret-unavailable", "env.E is not set", "export env.E", 27],
      ],
    );
  });

  it("that are empty are a problem", async () => {
    const { problems } = await check(`${head}instances:\n${instance("x", "${secret.a}")}`, {
      secretText: () => "",
    });
    expect(problems).toMatchObject([{ code: "empty-secret", message: "secret.a is empty" }]);
  });

  it("need not be had to check a manifest", async () => {
    const text = `${head}instances:\n${instance("x", "a${secret.a}")}outputs: { o: { value: "\${secret.b}", sensitive: true } }\n`;
    const { problems, manifest } = await check(text, { secretText: noSecrets });
    expect(problems).toEqual([]);
    expect(manifest?.desired[0]?.spec["config.graphdbPassword"]).toEqual({ $secret: "" });
  });

  it("may be an output that is marked sensitive", async () => {
    const { manifest } = await check(`${head}outputs: { o: { value: "x \${secret.a}", sensitive: true } }\n`);
    expect(manifest?.outputs["o"]).toMatchObject({
      value: { $secret: "sealed x text of secret.a" },
      sensitive: true,
    });
  });

  it("stand in no field that is shown: on no other field of any kind", async () => {
    const shown = [
      "region",
      "network",
      "config.name",
      "config.description",
      "config.graphdbUser",
      "config.nodeInstanceType",
      "config.graphDBCacheSize",
    ];
    for (const path of shown) {
      const [first = "", second] = path.split(".");
      const value = "${secret.a}";
      const spec = { tier: "enterprise", component: "standalone", cloudProvider: "aws", region: "us-east-1" };
      const x =
        second === undefined ? { ...spec, [first]: value } : { ...spec, [first]: { [second]: value } };
      const { problems } = await check(
        JSON.stringify({
          apiVersion: "graphform/v1",
          name: "s",
          secrets: { a: { env: "A" } },
          instances: { x },
        }),
      );
      expect([path, problems.map(({ code }) => code)]).toEqual([path, ["secret-in-clear"]]);
    }
  });
});

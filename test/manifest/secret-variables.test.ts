import { describe, expect, it } from "vitest";
import type { ManifestInputs } from "../../src/manifest/resolve.ts";
import type { Problem } from "../../src/model/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { check } from "./check.ts";

const place = { tier: "free", component: "free", cloudProvider: "aws", region: "us-east-1" };

function instance(password: string, over: JsonObject = {}, name = "x"): JsonObject {
  return { ...place, config: { name, graphdbUser: "app", graphdbPassword: password }, ...over };
}

/** Everything is sealed as the label of where it comes from. */
const labels: Partial<ManifestInputs> = { seal: (_, label) => ({ $secret: label }) };

async function resolved(parts: JsonObject, inputs: Partial<ManifestInputs> = {}): ReturnType<typeof check> {
  const frame = { apiVersion: "graphform/v1", name: "s", secrets: { a: { env: "A" } } };
  return check(JSON.stringify({ ...frame, ...parts }), { ...labels, ...inputs });
}

const short = { variables: { pw: "abc" } };
const declared = { pw: { type: "string" }, plain: { default: "us" } };

function codes(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ code, message }) => `${code} ${message}`);
}

describe("a secret field's label", () => {
  it.each<[string, string, string]>([
    ["is the secret's name", "${secret.a}", "secret.a"],
    ["is the environment's", "${env.E}", "env.E"],
    ["is the variable's", "${var.pw}", "var.pw"],
    ["is its place for a literal", "hunter2", "instances.x config.graphdbPassword"],
    ["is its place where text stands around it", "a-${secret.a}", "instances.x config.graphdbPassword"],
    ["is its place for several", "${var.pw}${var.plain}", "instances.x config.graphdbPassword"],
  ])("%s", async (_, password, label) => {
    const { manifest } = await resolved({ variables: declared, instances: { x: instance(password) } }, short);
    expect(manifest?.desired[0]?.spec["config.graphdbPassword"]).toEqual({ $secret: label });
  });

  it("tells the members of a forEach apart, and the outputs", async () => {
    const { manifest } = await resolved({
      instances: { x: instance("${each.value.pw}", { forEach: { k: { pw: "ab" }, l: { pw: "cd" } } }) },
      outputs: { o: { value: "x-${secret.a}", sensitive: true } },
    });
    const found = manifest?.desired.map(({ spec }) => spec["config.graphdbPassword"]);
    expect(found).toEqual([
      { $secret: 'instances.x["k"] config.graphdbPassword' },
      { $secret: 'instances.x["l"] config.graphdbPassword' },
    ]);
    expect(manifest?.outputs["o"]?.value).toEqual({ $secret: "outputs.o.value" });
  });
});

describe("a variable that a secret field is", () => {
  const both = (elsewhere: JsonObject): JsonObject => ({
    variables: declared,
    instances: { x: instance("${var.pw}"), y: instance("${secret.a}", elsewhere, "y") },
  });

  it.each<[string, JsonObject]>([
    ["another field", both({ region: "${var.pw}" })],
    ["part of another field", both({ region: "eu-${var.pw}" })],
    ["an address", both({ forEach: ["${var.pw}"] })],
    ["an output", { ...both({}), outputs: { o: "${var.pw}" } }],
    ["the manifest's own name", { ...both({}), name: "n-${var.pw}" }],
    ["the arguments of a command", { ...both({}), secrets: { a: { command: ["op", "${var.pw}"] } } }],
  ])("stands in no other place: %s", async (_, parts) => {
    const { problems } = await resolved(parts, { ...short, secretText: () => "text" });
    expect(problems.map(({ code, hint }) => [code, hint])).toEqual([
      ["secret-in-clear", expect.stringContaining("a secret field is made of it")],
    ]);
    expect(JSON.stringify(problems)).not.toContain("abc");
  });

  it("may be an output that is marked sensitive, sealed, and warns", async () => {
    const { manifest, warnings } = await resolved(
      { ...both({}), outputs: { o: { value: "${var.pw}", sensitive: true } } },
      short,
    );
    expect(manifest?.outputs["o"]?.value).toEqual({ $secret: "var.pw" });
    expect(warnings.map(({ code, address }) => [code, address])).toEqual([["secret-literal", "instances.x"]]);
  });

  it("is not told where it is not allowed, or of another type", async () => {
    const parts = (declaration: JsonObject): JsonObject => ({
      variables: { pw: declaration },
      instances: { x: instance("${var.pw}") },
    });
    const refused = await resolved(parts({ type: "string", allowed: ["abd", "xyz"] }), short);
    expect(codes(refused.problems)).toEqual(["not-allowed variable pw cannot be this value"]);
    const mistyped = await resolved(parts({ type: "number" }), short);
    expect(codes(mistyped.problems)).toEqual([
      'wrong-type the variable "pw" is a number, and the value given is not one',
    ]);
    for (const { problems } of [refused, mistyped])
      expect(JSON.stringify(problems.map(({ message, hint }) => [message, hint]))).not.toMatch(/ab[cd]|xyz/);
  });

  it("comes into no spec in clear, also from a map of a forEach or of the settings", async () => {
    const { manifest, problems } = await resolved(
      {
        variables: { all: { type: "map" }, settings: { type: "map" } },
        instances: {
          x: instance("${each.value.pw}", { forEach: "${var.all}" }),
          y: { ...place, config: "${var.settings}" },
        },
      },
      {
        variables: {
          all: '{"k":{"pw":"abc"}}',
          settings: '{"name":"y","graphdbUser":"app","graphdbPassword":"abc"}',
        },
      },
    );
    expect(problems).toEqual([]);
    const values = manifest?.desired.flatMap(({ spec }) => Object.values(spec));
    expect(values?.filter((value) => JSON.stringify(value).includes("abc"))).toEqual([]);
    expect(values).toContainEqual({ $secret: "instances.y config.graphdbPassword" });
  });
});

describe("what stands in clear elsewhere is no secret", () => {
  it.each<[string, JsonObject, string]>([
    [
      "the key of a forEach",
      { instances: { x: instance("${each.key}", { forEach: ["abc"] }) } },
      "secret-in-clear config.graphdbPassword is ${each.key}, which is part of the address",
    ],
    [
      "the value of a list, which is its key",
      { instances: { x: instance("${each.value}", { forEach: ["abc"] }) } },
      "secret-in-clear config.graphdbPassword is ${each.value}, which is part of the address",
    ],
    [
      "a part of a turn that another field shows",
      {
        instances: {
          x: instance("${each.value.pw}", { region: "${each.value.pw}", forEach: { k: { pw: "abc" } } }),
        },
      },
      "secret-in-clear ${each.value.pw} would be stored and shown in clear in region",
    ],
    [
      "an output",
      { instances: { x: instance("${instances.y.host}"), y: instance("${secret.a}", {}, "y") } },
      "secret-in-clear config.graphdbPassword is an output, which is stored and shown",
    ],
  ])("%s", async (_, parts, message) => {
    const { problems } = await resolved(parts);
    expect(codes(problems)).toEqual([message]);
  });

  it("an output beside a text is sealed in part, and warns", async () => {
    const { warnings } = await resolved({
      instances: { x: instance("ab-${instances.y.host}"), y: instance("${secret.a}", {}, "y") },
    });
    expect(warnings.map(({ code, address }) => [code, address])).toEqual([["secret-literal", "instances.x"]]);
  });
});

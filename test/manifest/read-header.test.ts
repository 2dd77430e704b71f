import { describe, expect, it } from "vitest";
import { readHeader } from "../../src/manifest/header.ts";
import { parseManifest } from "../../src/manifest/parse.ts";
import { check, testInputs } from "./check.ts";

const head = "apiVersion: graphform/v1\nname: shop\n";

const read = (text: string, variables = {}): ReturnType<typeof readHeader> =>
  readHeader(parseManifest([{ path: "m.yaml", text }]), { ...testInputs, variables });

describe("the header", () => {
  it("is the name, and nothing more where nothing more is said", () => {
    expect(read(head)).toEqual({ header: { name: "shop", state: {} }, problems: [] });
  });

  it("has the service and the state, with variables filled in", () => {
    const text = `${head}variables: { env: { default: test } }
service: { profile: "profiles/\${var.env}.yaml", subscriptionId: "sub-\${var.env}" }
state: { backend: file, path: "kept/\${var.env}.json" }
`;
    expect(read(text, { env: "prod" }).header).toEqual({
      name: "shop",
      service: { profile: "profiles/prod.yaml", subscriptionId: "sub-prod" },
      state: { backend: "file", path: "kept/prod.json" },
    });
  });

  it.each([
    ["a guard is wrong", "guards: { maxDeletes: -1 }\n"],
    ["a key is unknown", "instence: {}\n"],
    ["a variable nobody needs here has no value", "variables: { x: { type: string } }\n"],
    ["a key stands twice", "guards: {}\nguards: {}\n"],
  ])("is there although %s", (_, more) => {
    const { header, problems } = read(head + more);
    expect(header?.name).toBe("shop");
    expect(problems).toHaveLength(1);
  });

  it.each([
    ["the version is unknown", "apiVersion: v2\nname: shop\n"],
    ["the name is wrong", "apiVersion: graphform/v1\nname: Shop\n"],
    ["the name is missing", "apiVersion: graphform/v1\n"],
    ["the service is wrong", `${head}service: { profil: x }\n`],
    [
      "the service needs a variable without a value",
      `${head}variables: { x: { type: string } }\nservice: { profile: "\${var.x}" }\n`,
    ],
    ["the service holds a number that is none", `${head}service: { profile: .nan }\n`],
    ["the state is wrong", `${head}state: file\n`],
    ["it is no YAML", `${head}a: [\n`],
    ["it is empty", ""],
  ])("is not there when %s", (_, text) => {
    const { header, problems } = read(text);
    expect(header).toBeUndefined();
    expect(problems).toHaveLength(1);
  });

  it("tells the profile whatever else is wrong, and never that of an author who is not trusted", () => {
    const text = "apiVersion: graphform/v1\nname: Shop\nservice: { profile: mine, subscriptionld: x }\n";
    const parsed = parseManifest([{ path: "m.yaml", text }]);
    const inputs = { ...testInputs, variables: {} };
    const limits = { folder: ".", reserved: [], commands: {} };
    expect(readHeader(parsed, inputs)).toMatchObject({ profile: "mine" });
    expect(readHeader(parsed, { ...inputs, limits })).not.toHaveProperty("profile");
  });

  it("reports nothing that resolving does not report as well", async () => {
    const text = `${head}service: { profil: x }\nguards: { maxDeletes: -1 }\nvariables: { x: { type: strin } }\n`;
    const { problems } = await check(text);
    expect(problems).toEqual(expect.arrayContaining([...read(text).problems]));
  });
});

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { layerSchema, manifestSchema, suggestionsOf } from "../../scripts/editor-schema.ts";
import { fieldFacts } from "../../src/commands/explain.ts";
import { builtInProfiles, loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { kinds } from "../../src/kinds/index.ts";
import { validators } from "../../src/manifest/validators.generated.js";
import type { FieldSchema } from "../../src/model/field-schema.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { compileValidators } from "../support/compile-validators.ts";
import { brokenManifests } from "./broken/all.ts";
import { allKinds } from "./check.ts";

const root = join(import.meta.dirname, "../..");
const emit = "run `npm run emit`";

describe("what is emitted", () => {
  it.each([
    ["manifest", manifestSchema],
    ["layer", layerSchema],
  ])("the schema of a %s is fresh", async (name, make) => {
    const suggestions = suggestionsOf(await Promise.all(builtInProfiles.map(loadProfile)));
    const written = readFileSync(join(root, `schemas/${name}.schema.json`), "utf8");
    expect(written === `${JSON.stringify(make(kinds.all, suggestions), null, 2)}\n`, emit).toBe(true);
  });

  it("the validators are fresh: they find what those find that are compiled now", () => {
    const now = compileValidators(kinds.all);
    expect(Object.keys(validators.resources), emit).toEqual(Object.keys(now.resources));
    const tried = brokenManifests.flatMap(({ text }) => documentsOf(text));
    expect(tried.length).toBeGreaterThan(60);
    for (const document of tried) {
      expect(validators.document(document), emit).toEqual(now.document(document));
      for (const [section, validate] of Object.entries(now.resources)) {
        for (const resource of Object.values(document[section] ?? {})) {
          expect(validators.resources[section]?.(resource), emit).toEqual(validate(resource));
        }
      }
    }
  });

  it("the validators load nothing", () => {
    const written = readFileSync(join(root, "src/manifest/validators.generated.js"), "utf8");
    expect(written.match(/^import .*|= (?:__)?require\(.*|\bfrom ".*/gm)).toBeNull();
  });
});

function documentsOf(text: string): readonly JsonObject[] {
  try {
    const document: unknown = parse(text, { logLevel: "silent" });
    return typeof document === "object" && document !== null && !Array.isArray(document)
      ? [{ ...document }]
      : [];
  } catch {
    return [];
  }
}

describe("the schema of a layer", () => {
  const published = (name: string): JsonObject =>
    JSON.parse(readFileSync(join(root, `schemas/${name}.schema.json`), "utf8"));
  const ajv = new Ajv({ strict: false, allErrors: true });
  const [whole, layer] = [ajv.compile(published("manifest")), ajv.compile(published("layer"))];
  const layers = globSync("examples/gitops/**/*.yaml", { cwd: root });

  it.each(layers)("has nothing against %s, of which a whole manifest would lack keys", (path) => {
    const text = readFileSync(join(root, path), "utf8");
    layer(parse(text));
    expect(layer.errors ?? []).toEqual([]);
    expect(whole(parse(text))).toBe(false);
    expect(text).toMatch(/^# yaml-language-server: \$schema=\S+\/layer\.schema\.json\n/);
  });

  it.each([
    ["an unknown key", "instances: { orders: { confg: {} } }"],
    ["a wrong type", "guards: { maxDeletes: many }"],
    ["a field that its tier lacks", "instances: { orders: { tier: pro, network: core } }"],
  ])("finds %s", (_, text) => {
    expect(layer(parse(text))).toBe(false);
  });
});

describe("what editors show", () => {
  const { properties }: { properties: Record<string, { additionalProperties: { properties: object } }> } =
    JSON.parse(readFileSync(join(root, "schemas/manifest.schema.json"), "utf8"));
  const fields = JSON.parse(JSON.stringify(properties["instances"]?.additionalProperties.properties ?? {}));

  it.each([
    ["component", fields.component, "standalone"],
    ["region", fields.region, "eu-west-1"],
    ["nodeInstanceType", fields.config.properties.nodeInstanceType, "m7g.large"],
  ])("suggests values of %s and takes others: a profile of the user's may have them", (_, field, value) => {
    expect(field.anyOf[1].enum).toContain(value);
    const isTaken = new Ajv({ strict: false }).compile(field);
    expect([isTaken(value), isTaken("of-another-profile"), isTaken(1)]).toEqual([true, true, false]);
  });

  it.each([
    ["config.nodeInstanceType", fields.config.properties.nodeInstanceType],
    ["region", fields.region],
    ["config.graphDBCacheSize", fields.config.properties.graphDBCacheSize],
  ])("is, hovering over %s, what explain says", (path, field) => {
    const row = path
      .split(".")
      .reduce<FieldSchema | undefined>(
        (found, name) => found?.properties?.[name],
        kinds.all.find(({ name }) => name === "instances")?.schema,
      );
    expect(row).toBeDefined();
    for (const [name, value] of fieldFacts(row ?? {}))
      if (["description", "default", "tiers", "change", "disruption", "parameter"].includes(name))
        expect(field.description).toContain([value].flat().join(", "));
  });
});

describe("the schema for editors", () => {
  const ajv = new Ajv({ strict: false, allErrors: true });
  const validate = ajv.compile(manifestSchema(allKinds));
  const complaints = (text: string): readonly string[] => {
    validate(parse(text));
    return (validate.errors ?? [])
      .filter(({ keyword }) => keyword !== "if" && keyword !== "anyOf")
      .map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
  };
  const one = (fields: string): string =>
    `apiVersion: graphform/v1\nname: shop\ninstances:\n  x: { component: standalone, cloudProvider: aws, region: eu, ${fields} }\n`;

  it("has nothing against the example of the contract", () => {
    expect(complaints(readFileSync(join(import.meta.dirname, "example.yaml"), "utf8"))).toEqual([]);
  });

  it.each([
    ["a number", "tier: pro, config: { graphDBCacheSize: 257 }", true],
    ["a reference where a number is wanted", 'tier: pro, config: { graphDBCacheSize: "${var.size}" }', false],
    ["a reference where a choice is wanted", 'tier: "${var.tier}"', false],
    ["a reference where a pattern is wanted", 'tier: pro, config: { graphdbUser: "${var.user}" }', false],
    ["a reference for a truth", 'tier: pro, lifecycle: { protect: "${var.protect}" }', false],
    ["an unknown key", "tier: pro, confg: {}", true],
    ["a field that the tier has", "tier: enterprise, config: { maxMemory: 6GB }", false],
    ["a field that the tier lacks", "tier: pro, config: { maxMemory: 6GB }", true],
    ["a deployment field that the tier lacks", "tier: pro, network: core", true],
    ["a duration", "tier: pro, timeouts: { create: 40 minutes }", true],
    ["forEach over a list", "tier: pro, forEach: [a, b]", false],
    ["a required field that is missing", "config: {}", true],
  ])("%s", (_, fields, wrong) => {
    expect(complaints(one(fields)).length > 0).toBe(wrong);
  });

  it("asks for no field that defaults may supply", () => {
    expect(complaints(`${one("config: {}")}defaults: { instances: { tier: pro } }\n`)).toEqual([]);
  });

  it("allows a section without a value", () => {
    expect(complaints("apiVersion: graphform/v1\nname: shop\ninstances:\nimports:\nusers:\n")).toEqual([]);
  });
});

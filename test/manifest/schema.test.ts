import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { kinds } from "../../src/kinds/index.ts";
import { manifestSchema } from "../../src/manifest/schema/manifest-schema.ts";
import { validators } from "../../src/manifest/validators.generated.js";
import type { JsonObject } from "../../src/model/json.ts";
import { compileValidators } from "../support/compile-validators.ts";
import { brokenManifests } from "./broken/all.ts";
import { allKinds } from "./check.ts";

const root = join(import.meta.dirname, "../..");
const emit = "run `npm run emit`";

describe("what is emitted", () => {
  it("the manifest's schema is fresh", () => {
    const written = readFileSync(join(root, "schemas/manifest.schema.json"), "utf8");
    expect(written === `${JSON.stringify(manifestSchema(kinds.all), null, 2)}\n`, emit).toBe(true);
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

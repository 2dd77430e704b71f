import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { isObject, type Json } from "../../src/model/json.ts";
import { driftViolations, eventViolations, planViolations } from "../support/published-schemas.ts";
import { sarifSchema } from "../support/sarif-schema.ts";
import { terraformViolations } from "../support/terraform-rules.ts";
import { documentsOf, type Given, type Made, madeOf, reportsOf } from "./any-secret.ts";
import { runsOf } from "./any-secret-run.ts";

const neutral: Given = { password: "Nq7-neutral", plain: "https://Nq7-neutral@db.example/x" };

const schemas = join(import.meta.dirname, "..", "..", "schemas");

/** Every key, and every word that a value may be, of every published schema. */
const keys = readdirSync(schemas).flatMap((file) =>
  wordsIn(JSON.parse(readFileSync(join(schemas, file), "utf8"))),
);

function wordsIn(schema: Json): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(wordsIn);
  if (!isObject(schema)) return [];
  const { properties, enum: choices, const: only, default: usual } = schema;
  return [
    ...(isObject(properties) ? Object.keys(properties) : []),
    ...[choices, only, usual].flat().flatMap((word) => (word === undefined ? [] : [String(word)])),
    ...Object.values(schema).flatMap(wordsIn),
  ];
}

/** Every word that a report has, whatever it reports: actions, headings, statuses, elements. */
const own = Object.values(reportsOf(madeOf([neutral]))).flatMap((text) => text.split(/[^\p{L}\p{N}-]+/u));

const random = fc.sample(fc.string({ unit: "grapheme", minLength: 1, maxLength: 16 }), {
  numRuns: 500,
  seed: 31,
});

const all = [...new Set([...keys, ...own, ...random])].filter((word) => word !== "");

/** So many in one report that none is left out of it for its length. */
const size = 25;
const batches = Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
  all.slice(Math.min(index * size, all.length - size)).slice(0, size),
).filter((_, index) => inject("whole") || index % 8 === 0);

const ajv = new Ajv({ strict: false });
const isSarif = ajv.compile(sarifSchema);

/** What is wrong with the JSON of the reports. */
function faultsOf(made: Made): readonly string[] {
  const documents = documentsOf(made);
  const { plan, drift, events, sarif }: typeof documents = JSON.parse(JSON.stringify(documents));
  return [
    ...planViolations(plan),
    ...terraformViolations(plan),
    ...driftViolations(drift),
    ...events.flatMap((event) => eventViolations(event)),
    ...sarif.flatMap((log) => (isSarif(log) ? [] : [ajv.errorsText(isSarif.errors)])),
  ];
}

const login = (word: string): string => {
  const written = encodeURIComponent(word.toWellFormed());
  return `https://${written}:${written}@db.example/x`;
};

describe("a report", { timeout: 600_000 }, () => {
  it("is about as many words as there are", () => {
    for (const word of ["delete", "resource_changes", "no-op", "graphdbPassword", "sensitive"])
      expect(all).toContain(word);
    expect(all.length).toBeGreaterThan(1500);
  });

  it("is the same, byte for byte, whichever word is the password, or the login of an address", () => {
    const expected = reportsOf(madeOf(Array.from({ length: size }, () => neutral)));
    for (const batch of batches) {
      const reports = reportsOf(madeOf(batch.map((word) => ({ password: word, plain: login(word) }))));
      for (const [name, text] of Object.entries(expected))
        expect([name, reports[name]]).toEqual([name, text]);
    }
  });

  it("is followed by the same log, summary and outputs of a step, and telemetry, whichever word that is", async () => {
    const expected = await runsOf(madeOf(Array.from({ length: size }, () => neutral)));
    expect(expected["telemetry"]).toContain("graphform.apply.steps");
    expect(expected["summary"]).toContain("## Plan for");
    expect(expected["summary"]).toContain("## Drift");
    expect(expected["outputs"]).toContain("drifted=");
    expect(expected["log"]).toContain("apply_complete");
    for (const batch of batches)
      expect(await runsOf(madeOf(batch.map((word) => ({ password: word, plain: login(word) }))))).toEqual(
        expected,
      );
  });

  it("is followed by a log that is valid by its schema, and by the same outputs and telemetry, whichever word is the description", async () => {
    const expected = await runsOf(madeOf(Array.from({ length: size }, () => described)));
    for (const batch of batches) {
      const runs = await runsOf(madeOf(batch.map((word) => ({ password: word, plain: word }))));
      const events = (runs["log"] ?? "")
        .trim()
        .split("\n")
        .map((line): Json => JSON.parse(line));
      expect(
        events.flatMap((event) =>
          isObject(event) && event["type"] === "request" ? [] : eventViolations(event),
        ),
      ).toEqual([]);
      for (const name of ["outputs", "telemetry"]) expect([name, runs[name]]).toEqual([name, expected[name]]);
      for (const name of ["summary", "terminal"])
        expect([name, fixedParts(runs[name] ?? "")]).toEqual([name, fixedParts(expected[name] ?? "")]);
    }
  });

  it("is valid by its schema and of the same structure, whichever word is the description beside the password", () => {
    const expected = madeOf(Array.from({ length: size }, () => described));
    const fixed = Object.entries(reportsOf(expected)).map(
      ([name, text]) => [name, fixedParts(text)] as const,
    );
    for (const batch of batches) {
      const made = madeOf(batch.map((word) => ({ password: word, plain: word })));
      expect(faultsOf(made)).toEqual([]);
      const plain = new Set<unknown>(["d", ...batch]);
      expect(structureOf(made, plain)).toEqual(structureOf(expected, plain));
      const reports = reportsOf(made);
      for (const [name, parts] of fixed)
        expect([name, fixedParts(reports[name] ?? "")]).toEqual([name, parts]);
    }
  });
});

const described: Given = { ...neutral, plain: "d" };

/** The JSON of the reports with one word for each of these where a value stands. */
function structureOf(made: Made, plain: ReadonlySet<unknown>): Json {
  const { plan, drift, others } = documentsOf(made);
  const positions = new Set([
    "description",
    "config.description",
    "constant_value",
    "before",
    "after",
    "value",
    "applied",
    "seen",
    "declared",
  ]);
  const text = JSON.stringify([plan, drift, others], (key, value: unknown) =>
    positions.has(key) && plain.has(value) ? "(plain)" : value,
  );
  return JSON.parse(text);
}

/** The parts of a report that no value may change: its scripts, and the lines that scripts read. */
function fixedParts(report: string): readonly string[] {
  return report.match(/<script>[\s\S]*?<\/script>|^(?:Plan|Apply|Destroy)\b.*$/gm) ?? [];
}

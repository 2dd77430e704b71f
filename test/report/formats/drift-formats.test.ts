import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { validateXML } from "xmllint-wasm";
import type { DriftReport } from "../../../src/model/drift.ts";
import { GraphformError, ManifestError } from "../../../src/model/errors.ts";
import { driftAnnotations, workflowCommand } from "../../../src/report/annotations.ts";
import { failedDriftSuite, type JunitSuite, junitText } from "../../../src/report/junit.ts";
import { sarifLog } from "../../../src/report/sarif/sarif-log.ts";
import { sarifSchema } from "../../support/sarif-schema.ts";
import { text } from "../arbitraries.ts";
import { at, name, orders, saying, whole } from "../drift-parts.ts";
import { driftFindings, driftSuite } from "../rendered.ts";
import { words } from "../words.ts";

const xsd = readFileSync(join(import.meta.dirname, "..", "..", "support", "junit.xsd"), "utf8");
const same = (file: string): string => file;
const hostile = [
  "<script>EVIL",
  "\u001b[2J\u202e",
  "a\n::error::EVIL",
  "\ud800",
  '"/><x',
  "](http://EVIL)",
  "",
];
const evil = [...hostile, ...fc.sample(text, { numRuns: 40, seed: 3 })].map(saying);

const secretive: DriftReport = {
  ...whole,
  resources: [
    { ...orders, fields: [{ ...name, path: "config.graphdbPassword", applied: "hunter2", seen: "hunter3" }] },
  ],
};

async function errorsOf(documents: readonly string[]): Promise<readonly string[]> {
  const xml = documents.map((contents, at) => ({ fileName: `${at}.xml`, contents }));
  const { errors } = await validateXML({ xml, schema: xsd });
  return errors.map(({ rawMessage }) => rawMessage);
}

const resultsOf = ({ cases }: JunitSuite): readonly string[] =>
  cases.map(({ name: called, result }) => `${called} ${result.is}`);

describe("JUnit of drift", () => {
  it("has one case for each resource: failed, passed, or skipped with its reason", async () => {
    const suite = driftSuite(whole, words, same);
    expect(resultsOf(suite)).toEqual([
      'instances.cache["eu"] failed',
      "instances.orders failed",
      "users.reader passed",
      "instances.still passed",
      "instances.new skipped",
      "instance-9 somebody's failed",
    ]);
    const written = junitText([suite]);
    expect(await errorsOf([written])).toEqual([]);
    expect(written).toContain('<skipped message="does not exist yet"/>');
    expect(written).toContain('file="graphform.yaml" line="7"');
    expect(written).toContain('config.name: "orders" → "orders-2" (echoed back)'.replaceAll('"', "&quot;"));
  });

  it("does not let pass what did not answer", () => {
    const notProbed: DriftReport["census"]["notProbed"] = [
      {
        address: "instances.still",
        reason: "its port refuses connections",
        wayOut: "check that it is up",
        failed: true,
      },
      {
        address: "instances.orders",
        reason: "the database refuses the declared password",
        failed: true,
        login: true,
      },
      { address: "users.reader", reason: "not running" },
    ];
    const silent = { ...whole, complete: false, census: { ...whole.census, probed: 1, notProbed } };
    const results = resultsOf(driftSuite(silent, words, same));
    expect(results).toContain("instances.still skipped");
    expect(results).toContain("instances.orders failed");
    expect(results).toContain("users.reader passed");
    const unseen = driftFindings(silent, words).filter(({ rule }) => rule === "drift-unseen");
    expect(unseen.map(({ level, message }) => `${level} ${message}`)).toEqual([
      "note instances.orders: its login could not be checked: the database refuses the declared password",
      "note instances.still: its database gave no answer: its port refuses connections (check that it is up)",
    ]);
  });

  it("skips what is not at rest, unless it was changed outside for all that", () => {
    const slow = { ...whole.census, unfinished: [{ address: "instances.still", reason: "still DEPLOYING" }] };
    expect(resultsOf(driftSuite({ ...whole, census: slow }, words, same))).toContain(
      "instances.still skipped",
    );
    const both = {
      ...whole.census,
      unfinished: [{ address: "instances.orders", reason: "still DEPLOYING" }],
    };
    expect(resultsOf(driftSuite({ ...whole, census: both }, words, same))).toContain(
      "instances.orders failed",
    );
  });

  it("of a look that failed has an error, or one for each problem of the manifest", async () => {
    const gone = failedDriftSuite(new GraphformError("x", "nobody there", { hint: "wait" }), "shop", same);
    expect(gone.cases.map(({ result }) => result)).toEqual([
      { is: "error", message: "nobody there", detail: "wait" },
    ]);
    const problem = { code: "unknown-key", severity: "error", message: "no key x", range: at(3) } as const;
    const invalid = failedDriftSuite(new ManifestError([problem]), "", same);
    expect(resultsOf(invalid)).toEqual(["graphform.yaml:3 unknown-key error"]);
    expect(await errorsOf([junitText([gone]), junitText([invalid])])).toEqual([]);
  });

  it("is valid whatever the words, and has no secret", async () => {
    expect(
      await errorsOf(
        evil.map((report) => junitText([driftSuite({ ...report, timestamp: whole.timestamp }, words, same)])),
      ),
    ).toEqual([]);
    expect(junitText([driftSuite(secretive, words, same)])).not.toContain("hunter");
  });
});

describe("SARIF of drift", () => {
  const valid = new Ajv({ allErrors: true }).compile(sarifSchema);
  const logOf = (report: DriftReport): string => {
    const { log } = sarifLog(driftFindings(report, words), {
      version: "1.2.3",
      projectUrl: "https://forge.example/graphform",
      fallbackFile: "graphform.yaml",
      uriOf: (file) => encodeURIComponent(file.toWellFormed()),
      digest: (part) => createHash("sha256").update(part).digest("hex"),
    });
    expect(valid(log) ? [] : valid.errors).toEqual([]);
    return JSON.stringify(log);
  };

  it("has a result for each field at its own line, worst first, the level by class", () => {
    const found = driftFindings(whole, words);
    expect(
      found.map(({ rule, level, where }) => `${rule} ${level} ${where?.file}:${where?.start.line}`),
    ).toEqual([
      "drift-gone error graphform.yaml:7",
      "drift-outside warning upper.yaml:3",
      "drift-outside warning graphform.yaml:11",
      "drift-unmanaged warning undefined:undefined",
      "drift-ours note graphform.yaml:11",
      "drift-cosmetic note graphform.yaml:11",
    ]);
    expect(found[2]?.message).toBe('instances.orders: config.name: "orders" → "orders-2" (echoed back)');
    expect(logOf(whole)).toContain('"tags":["drift"]');
  });

  it("keeps its fingerprints when lines move, and tells fields and classes apart", () => {
    const of = (report: DriftReport): readonly string[] =>
      driftFindings(report, words).map(({ fingerprint }) => fingerprint.parts.join(" "));
    const moved = { ...whole, resources: whole.resources.map((one) => ({ ...one, where: at(400) })) };
    expect(of(moved)).toEqual(of(whole));
    expect(new Set(of(whole)).size).toBe(of(whole).length);
  });

  it("says of a failed resource that it failed, beside its fields", () => {
    const failed = { ...whole, resources: [{ ...orders, what: "failed" as const, fields: [] }] };
    expect(driftFindings(failed, words)[0]).toMatchObject({ rule: "drift-failed", level: "error" });
  });

  it("is valid whatever the words, and has no secret", () => {
    for (const report of evil) expect(logOf(report)).not.toMatch(/[\p{Cc}\p{Cf}]|\]\(http/u);
    expect(logOf(secretive)).not.toContain("hunter");
  });
});

describe("annotations of drift", () => {
  it("are warnings at the line of the first field, and none where nothing matters", () => {
    const lines = driftAnnotations(whole, same).map(workflowCommand);
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(
      /^::warning file=upper\.yaml,line=3,.*title=graphform%3A drift%2C changed::instances\.orders: 2 fields were changed outside: config\.description, config\.name$/,
    );
    const quiet = {
      ...whole,
      unmanaged: [],
      resources: whole.resources.filter((one) => one.class === "ours"),
    };
    expect(driftAnnotations(quiet, same)).toEqual([]);
  });

  it("are one line each, whatever the words, and have no value", () => {
    const commands = evil.flatMap((report) => driftAnnotations(report, same).map(workflowCommand));
    for (const line of commands) expect(line).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    expect(driftAnnotations(secretive, same).map(workflowCommand).join()).not.toContain("hunter");
  });
});

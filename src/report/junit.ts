/** @module Formats drift reports as JUnit XML: a suite for each manifest, a case for each resource. */
import XMLBuilder from "fast-xml-builder";
import { parseAddress } from "../model/address.ts";
import type { ResourceDrift } from "../model/drift.ts";
import { type GraphformError, isManifestError, type SourceRange } from "../model/errors.ts";
import { defined, type JsonObject } from "../model/json.ts";
import type { PathOf } from "./annotations.ts";
import type { RedactedDrift, RedactedValue } from "./redact.ts";
import { escapeLines, escapeText } from "./typeset.ts";
import { partialListsIn, probeFigures, unseenIn } from "./view/census-view.ts";
import { driftField, fieldText } from "./view/change-block.ts";

/** Result of a check. `failed` is a difference, `error` means that the check itself could not be made. */
type JunitResult =
  | { readonly is: "passed" }
  | { readonly is: "skipped"; readonly message: string }
  | { readonly is: "failed" | "error"; readonly message: string; readonly detail?: string };

export interface JunitCase {
  readonly name: string;
  /** Group in which test reports show it: the kind of the resource. */
  readonly classname: string;
  readonly file?: string;
  readonly line?: number;
  readonly result: JunitResult;
}

export interface JunitSuite {
  readonly name: string;
  /** ISO 8601. */
  readonly timestamp?: string;
  /** Figures of the whole check, by name. */
  readonly properties?: { readonly [name: string]: number };
  readonly cases: readonly JunitCase[];
}

/** Characters that XML 1.0 forbids and that are not escaped as control characters. */
const noncharacters = /[\ufffe\uffff]/g;

/** Longest message of one case, in characters; `detail` has the rest. */
const longest = 1000;

/** The document `testsuites`. Ends with a line break. Characters that XML 1.0 forbids are made visible. */
export function junitText(suites: readonly JunitSuite[]): string {
  const builder = new XMLBuilder({
    attributeNamePrefix: "@",
    ignoreAttributes: false,
    suppressBooleanAttributes: false,
    suppressEmptyNode: true,
    format: true,
  });
  const document = {
    "?xml": { "@version": "1.0", "@encoding": "UTF-8" },
    testsuites: {
      "@name": "graphform",
      ...totals(suites.flatMap(({ cases }) => cases)),
      testsuite: suites.map(suiteOf),
    },
  };
  return `${builder.build(document).trimEnd()}\n`;
}

function suiteOf({ name, timestamp, properties = {}, cases }: JunitSuite): JsonObject {
  const property = Object.entries(properties).map(([figure, value]) => ({
    "@name": attribute(figure),
    "@value": String(value),
  }));
  return {
    "@name": attribute(name),
    ...totals(cases),
    // Readers know the form without milliseconds and zone alone.
    ...(timestamp === undefined ? {} : { "@timestamp": attribute(timestamp.replace(/(\.\d+)?Z$/, "")) }),
    ...(property.length === 0 ? {} : { properties: { property } }),
    testcase: cases.map(caseOf),
  };
}

function totals(cases: readonly JunitCase[]): JsonObject {
  const count = (is: JunitResult["is"]): number => cases.filter(({ result }) => result.is === is).length;
  return {
    "@tests": cases.length,
    "@failures": count("failed"),
    "@errors": count("error"),
    "@skipped": count("skipped"),
  };
}

function caseOf({ name, classname, file, line, result }: JunitCase): JsonObject {
  return {
    "@name": attribute(name),
    "@classname": attribute(classname),
    // Readers ask for a time, and none is measured.
    "@time": "0.000",
    ...(file === undefined ? {} : { "@file": attribute(file) }),
    ...(line === undefined ? {} : { "@line": line }),
    ...resultOf(result),
  };
}

function resultOf(result: JunitResult): JsonObject {
  if (result.is === "passed") return {};
  const message = { "@message": attribute(result.message) };
  if (result.is === "skipped") return { skipped: message };
  const [element, type] = result.is === "failed" ? ["failure", "drift"] : ["error", "error"];
  const text = result.detail && escapeLines(result.detail).replace(noncharacters, "\ufffd");
  return { [element]: { ...message, "@type": type, ...defined({ "#text": text }) } };
}

function attribute(text: string): string {
  return escapeText(text, longest).replace(noncharacters, "\ufffd");
}

/**
 * The suite of a report. A case fails if its resource was changed outside or is not declared, is an error if it could not be read, and is skipped if it was not
 * checked, is not at rest, its database gave no answer, or its list is partial. A change of the manifest alone passes: it is not drift.
 */
export function driftSuite(report: RedactedDrift, pathOf: PathOf): JunitSuite {
  const { name, timestamp, resources, unchanged, unmanaged = [], census } = report;
  const unsure = new Map([
    ...unseenIn(report).map(({ address, reason }) => [address, reason] as const),
    ...census.notChecked.map(({ address, reason }) => [address, reason] as const),
    ...census.unfinished.map(
      ({ address, reason }) => [address, `${reason}: what it shows may not last`] as const,
    ),
  ]);
  const looked = new Set<string>([...resources, ...unchanged].map(({ address }) => address));
  const outside = resources.filter((resource) => resource.class === "outside");
  const failures = new Map<string, JunitResult>(outside.map((one) => [one.address, failureOf(one)]));
  const resultOf = (address: string): JunitResult => {
    const message = unsure.get(address);
    return failures.get(address) ?? (message === undefined ? { is: "passed" } : { is: "skipped", message });
  };
  const cases: readonly JunitCase[] = [
    ...[...resources, ...unchanged].map(({ address, kind, where }) => ({
      ...{ name: address, classname: kind, ...placeOf(where, pathOf) },
      result: resultOf(address),
    })),
    ...census.notChecked
      .filter(({ address }) => !looked.has(address))
      .map(({ address, reason, failed }) => ({
        ...{ name: address, classname: parseAddress(address)?.section ?? "" },
        result: failed === true ? ({ is: "error", message: reason } as const) : resultOf(address),
      })),
    ...partialListsIn(report).map(({ address, reason: message }) => ({
      ...{ name: address, classname: address.split(" ")[0] ?? "" },
      result: { is: "skipped", message } as const,
    })),
    ...unmanaged.map(({ kind, id, name: called }) => ({
      ...{ name: called === undefined ? id : `${id} ${called}`, classname: kind },
      result: { is: "failed", message: "it is not declared" } as const,
    })),
  ];
  return { name, timestamp, properties: probeFigures(census), cases };
}

/** The suite of a look that failed: one error for each problem of the manifest, or one. */
export function failedDriftSuite(error: GraphformError, name: string, pathOf: PathOf): JunitSuite {
  const problems = isManifestError(error)
    ? error.problems.filter(({ severity }) => severity === "error")
    : [];
  const { message, hint } = error;
  const whole: JunitCase = {
    name: "drift",
    classname: "graphform",
    result: { is: "error", message, ...defined({ detail: hint }) },
  };
  const cases = problems.map(
    (problem): JunitCase => ({
      name: `${problem.range.file}:${problem.range.start.line} ${problem.code}`,
      classname: "graphform",
      ...placeOf(problem.range, pathOf),
      result: { is: "error", message: problem.message, ...defined({ detail: problem.hint }) },
    }),
  );
  return { name, cases: cases.length === 0 ? [whole] : cases };
}

function failureOf(resource: ResourceDrift<RedactedValue>): JunitResult {
  const lines = resource.fields
    .filter((field) => field.class === "outside")
    .map((field) => fieldText(driftField(field)));
  const detail = lines.length === 0 ? {} : { detail: lines.join("\n") };
  return { is: "failed", message: resource.reason, ...detail };
}

function placeOf(where: SourceRange | undefined, pathOf: PathOf): Pick<JunitCase, "file" | "line"> {
  return where === undefined ? {} : { file: pathOf(where.file), line: where.start.line };
}

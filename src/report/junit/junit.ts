/** @module Formats suites of checked resources as JUnit XML. */
import XMLBuilder from "fast-xml-builder";
import type { Json, JsonObject } from "../../model/json.ts";
import { escapeLines, escapeText } from "../escape.ts";

/** Result of a check. `failed` is a difference, `error` means that the check itself could not be made. */
export type JunitResult =
  | { readonly is: "passed" }
  | { readonly is: "skipped"; readonly message: string }
  | { readonly is: "failed" | "error"; readonly message: string; readonly detail?: string };

/** One checked resource. */
export interface JunitCase {
  /** Address of the resource. */
  readonly name: string;
  /** Group in which test reports show it: the kind of the resource. */
  readonly classname: string;
  readonly file?: string;
  readonly line?: number;
  readonly seconds?: number;
  readonly result: JunitResult;
}

/** The checked resources of one manifest. */
export interface JunitSuite {
  readonly name: string;
  /** ISO 8601. */
  readonly timestamp?: string;
  readonly seconds?: number;
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

function suiteOf({ name, timestamp, seconds, properties = {}, cases }: JunitSuite): JsonObject {
  return {
    "@name": attribute(name),
    ...totals(cases),
    ...(seconds === undefined ? {} : { "@time": seconds.toFixed(3) }),
    // Readers know the form without milliseconds and zone alone.
    ...(timestamp === undefined ? {} : { "@timestamp": attribute(timestamp.replace(/(\.\d+)?Z$/, "")) }),
    ...propertiesOf(properties),
    testcase: cases.map(caseOf),
  };
}

function propertiesOf(properties: { readonly [name: string]: number }): JsonObject {
  const property = Object.entries(properties).map(([name, value]) => ({
    "@name": attribute(name),
    "@value": String(value),
  }));
  return property.length === 0 ? {} : { properties: { property } };
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

function caseOf({ name, classname, file, line, seconds, result }: JunitCase): JsonObject {
  return {
    "@name": attribute(name),
    "@classname": attribute(classname),
    "@time": (seconds ?? 0).toFixed(3),
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
  const text: { readonly [key: string]: Json } =
    result.detail === undefined ? {} : { "#text": content(result.detail) };
  return { [element]: { ...message, "@type": type, ...text } };
}

function attribute(text: string): string {
  return escapeText(text, longest).replace(noncharacters, "\ufffd");
}

function content(text: string): string {
  return escapeLines(text).replace(noncharacters, "\ufffd");
}

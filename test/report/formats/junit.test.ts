import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { validateXML } from "xmllint-wasm";
import { type JunitCase, type JunitSuite, junitText } from "../../../src/report/junit.ts";
import { text } from "../arbitraries.ts";

const schema = readFileSync(join(import.meta.dirname, "..", "..", "support", "junit.xsd"), "utf8");

const suite: JunitSuite = {
  name: "shop-prod",
  timestamp: "2026-03-02T08:30:00.000Z",
  cases: [
    { name: "instances.orders", classname: "instances", result: { is: "passed" } },
    {
      name: 'instances.cache["eu"]',
      classname: "instances",
      file: "graphform.yaml",
      line: 12,
      result: {
        is: "failed",
        message: "1 field differs",
        detail: 'maxMemory: "6GB" → "8GB"\nname: "a" → "b"',
      },
    },
    { name: "users.reader", classname: "users", result: { is: "skipped", message: "no endpoint is known" } },
    {
      name: "networks.core",
      classname: "networks",
      result: { is: "error", message: "the service is not reached" },
    },
  ],
};

async function errorsOf(...documents: readonly string[]): Promise<readonly string[]> {
  const xml = documents.map((contents, at) => ({ fileName: `${at}.xml`, contents }));
  const { errors } = await validateXML({ xml, schema });
  return errors.map(({ rawMessage }) => rawMessage);
}

describe("JUnit", () => {
  it("has a suite for a manifest and a case for each resource, and is valid by the schema", async () => {
    const written = junitText([suite]);
    expect(await errorsOf(written)).toEqual([]);
    expect(written).toContain('<testsuite name="shop-prod" tests="4" failures="1" errors="1" skipped="1"');
    expect(written).toContain('timestamp="2026-03-02T08:30:00"');
    expect(written).toContain('<failure message="1 field differs" type="drift">');
    expect(written).toContain('<skipped message="no endpoint is known"/>');
    expect(written.endsWith("</testsuites>\n")).toBe(true);
  });

  it("is valid without suites and without cases", async () => {
    expect(await errorsOf(junitText([]), junitText([{ name: "empty", cases: [] }]))).toEqual([]);
  });

  it("is refused by the schema where a count is missing", async () => {
    const [error] = await errorsOf(junitText([suite]).replace(/ skipped="1"/g, ""));
    expect(error).toContain("skipped");
  });

  it("is well-formed and valid, whatever the words", async () => {
    const words = fc.sample(fc.oneof(text, fc.constantFrom(...hostile)), { numRuns: 300, seed: 7 });
    const cases = [...words, ...hostile].map(
      (word): JunitCase => ({
        name: word,
        classname: word,
        file: word,
        line: 1,
        result: { is: "failed", message: word, detail: word },
      }),
    );
    expect(await errorsOf(junitText([{ name: hostile.join(), cases }]))).toEqual([]);
  });

  it("keeps elements and attributes apart from the words in them", () => {
    const word = '"/><testcase name="x"/><![CDATA[ ]]> &amp; \u0000';
    const written = junitText([
      {
        name: word,
        cases: [{ name: word, classname: "x", result: { is: "failed", message: word, detail: word } }],
      },
    ]);
    expect(written.match(/<testcase/g)).toHaveLength(1);
    expect(written).not.toContain("<![CDATA[");
    expect(written).toContain("&amp;amp; \\u0000");
  });
});

const hostile = [
  "<script>alert(1)</script>",
  "]]>",
  '" onload="x',
  "&bogus;",
  "<!-- -- -->",
  "\u0000\u0008\u001b",
  "\ufffe\uffff",
  "\ud800",
  "a\r\nb\tc",
  "<?xml?>",
];

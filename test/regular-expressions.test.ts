import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expressionsOf, type SourceExpression } from "./support/expressions-of.ts";
import { hostileShapes } from "./support/hostile-texts.ts";

const root = join(import.meta.dirname, "..");
const all = globSync("{src,bin}/**/*.{ts,js}", { cwd: root })
  .sort()
  .flatMap((path) => expressionsOf(path.replaceAll("\\", "/"), readFileSync(join(root, path), "utf8")));

/** Those that are put together while the program runs, and why their time is bounded. */
const made: { readonly [place: string]: string } = {
  "src/hosting/wire/service-error.ts profile.session.missingToken": "reads the beginning of a message",
  "src/hosting/profile/expand-profile.ts text": "is made to see whether it can be, and reads nothing",
  "src/manifest/problems/explain.ts pattern":
    "a pattern of the field table, walked where validators are compiled",
  "src/report/text-width.ts `${String.fromCharCode(27)}\\\\[[0-9;]*m`":
    "reads our own colours, which are short",
  "src/report/text/report-text.ts `\\\\b${word}\\\\b`": "a word of our own",
  "src/hosting/wire/service-error.ts source":
    "a pattern of the service, which is ended after a tenth of a second",
  "src/kinds/instance-endpoint.ts pattern": "reads the beginning of a value",
  "src/platform/engine/setup/fetch.ts `^${name}:(.*(?:\\\\n[ \\\\t].*)*)`": "reads the machine's own files",
  "src/platform/engine/setup/fetch.ts `^(Suites:.*[ \\\\t]${codename})(?=\\\\s)`":
    "reads the machine's own files",
  "src/platform/engine/setup/fetch.ts `^(deb\\\\s+(?:\\\\[[^\\\\]]*\\\\]\\\\s+)?\\\\S+\\\\s+)${codename}(\\\\s.*)$`":
    "reads the machine's own files",
  "src/platform/control/faults.ts path": "a pattern that somebody gives the local platform for themselves",
  "src/platform/control/faults.ts `^${escaped}$`": "the same",
  "src/platform/model/field-rules.ts row.pattern": "a pattern of the field table",
};

/** How long a text is that shows how the work grows, and one that ends even where it doubles with each character. */
const [shortest, usual] = [24, 4000];

/** Characters of the longest answer of a service (16 MB), and of what is sent to the local platform. */
const [longestAnswer, longestBody] = [16 * 1024 * 1024, 1024 * 1024];

/** The time of one search, in ms: the least of a few. */
function timeOf(expression: RegExp, text: string, tries = 1): number {
  const times = Array.from({ length: tries }, () => {
    expression.lastIndex = 0;
    const started = process.cpuUsage();
    if (expression.global) text.replace(expression, "");
    else expression.exec(text);
    return process.cpuUsage(started).user / 1000;
  });
  return Math.min(...times);
}

/** True where a search over texts of that length does not use up what the engine remembers it by. */
function bears({ source, flags }: Pick<SourceExpression, "source" | "flags">, length: number): boolean {
  const shapes = [...hostileShapes(source)].slice(0, 12);
  try {
    for (const shape of shapes) new RegExp(source, flags).exec(shape(length));
    return true;
  } catch {
    return false;
  }
}

/** A text over which the expression takes much longer than it has characters; undefined where there is none. */
function slowText({ source, flags }: Pick<SourceExpression, "source" | "flags">): string | undefined {
  const expression = new RegExp(source, flags);
  for (const shape of hostileShapes(source))
    if (timeOf(expression, shape(shortest)) > 50) return shape(shortest);
  for (const shape of hostileShapes(source)) {
    const text = shape(usual);
    if (timeOf(expression, text) < 2) continue;
    const time = timeOf(expression, text, 3);
    if (time < 2) continue;
    // Nothing that is in proportion takes a twentieth of a second for so few characters.
    if (time > 50 || timeOf(expression, shape(4 * usual), 2) / time > 9) return text;
  }
  return undefined;
}

describe("every regular expression of the source", () => {
  it("is a constant, or its text is bounded", () => {
    expect(all.length).toBeGreaterThan(100);
    const places = all.filter(({ isConstant }) => !isConstant).map(({ path, source }) => `${path} ${source}`);
    expect(places.sort()).toEqual(Object.keys(made).sort());
  });

  it("bears the longest text that it can meet", { timeout: 120_000 }, () => {
    // Only the repetitions of a group are remembered one by one.
    const repeating = all.filter(({ source, isConstant }) => isConstant && /\)[*+]/.test(source));
    expect(repeating.length).toBeGreaterThan(0);
    const broken = repeating.filter((entry) => {
      const longest = entry.path.startsWith("src/platform") ? longestBody : longestAnswer;
      return !bears(entry, longest);
    });
    expect(broken.map(({ path, source }) => `${path} /${source}/`)).toEqual([]);
  });

  it("takes time in proportion to its text, whatever stands there", { timeout: 300_000 }, () => {
    const each = new Map(
      all.filter(({ isConstant }) => isConstant).map((entry) => [`/${entry.source}/${entry.flags}`, entry]),
    );
    const slow: string[] = [];
    for (const [written, entry] of each) {
      const text = slowText(entry);
      if (text !== undefined) slow.push(`${entry.path} ${written} ${JSON.stringify(text.slice(0, 40))}`);
    }
    expect(slow).toEqual([]);
  });
});

describe("the walk finds", () => {
  it.each([
    ["white space at the end", "\\s+$", ""],
    ["a key and its colon", `([^\\s{},[\\]"']+)(?:["']\\s*[:=]\\s*|\\s*[:=](?:\\s+|$))`, "g"],
    ["white space around a word", "^\\s*[\\w .!]{1,40}\\s*$", ""],
    ["a part that is looked for from each beginning", "offboard.*(command|url)$", "i"],
    ["what comes after a beginning", "^https?://[^\\s/]+[^\\s]*$", "u"],
    ["what doubles with each character", "^(a+)+$", ""],
    ["tokens", "eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}", "g"],
    ["a quote that is never closed", "version `(GLIBC_[^']+)' not found", ""],
  ])("%s", { timeout: 60_000 }, (_, source, flags) => {
    expect(slowText({ source, flags })).toEqual(expect.any(String));
  });

  it("what remembers each character of a long text", () => {
    const source = '\\$\\{((?:[^{}"]|"(?:[^"\\\\]|\\\\.)*")*)\\}';
    expect([
      bears({ source, flags: "y" }, longestAnswer),
      bears({ source: "x+", flags: "" }, longestAnswer),
    ]).toEqual([false, true]);
  });

  it("nothing where the work is in proportion", () => {
    for (const source of ["^[a-z]+$", "[^a-z]+", "\\{([^{}]*)\\}", "^\\s+|x"])
      expect(slowText({ source, flags: "g" })).toBeUndefined();
  });
});

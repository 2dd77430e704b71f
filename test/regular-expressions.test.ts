import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check } from "recheck";
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
  "src/manifest/problems/explain-violation.ts pattern":
    "a pattern of the field table, walked where validators are compiled",
  "src/report/typeset.ts `${String.fromCharCode(27)}\\\\[[0-9;]*m`": "reads our own colours, which are short",
  "src/report/text/report-text.ts `\\\\b${word}\\\\b`": "a word of our own",
  "src/hosting/wire/service-error.ts source":
    "a pattern of the service, which is ended after a tenth of a second",
  "src/commands/init/pipelines.ts `\\\\$\\\\[\\\\[ ${scope}\\\\.([\\\\w.-]+) \\\\]\\\\]`":
    "reads a template of the package",
  "src/kinds/instance-operations.ts pattern": "reads the beginning of a value",
  "src/platform/engine/setup/fetch.ts `^${name}:(.*(?:\\\\n[ \\\\t].*)*)`": "reads the machine's own files",
  "src/platform/engine/setup/fetch.ts `^(Suites:.*[ \\\\t]${codename})(?=\\\\s)`":
    "reads the machine's own files",
  "src/platform/engine/setup/fetch.ts `^(deb\\\\s+(?:\\\\[[^\\\\]]*\\\\]\\\\s+)?\\\\S+\\\\s+)${codename}(\\\\s.*)$`":
    "reads the machine's own files",
  "src/platform/control/faults.ts path": "a pattern that somebody gives the local platform for themselves",
  "src/platform/control/faults.ts `^${escaped}$`": "the same",
  "src/platform/model/field-rules.ts row.pattern": "a pattern of the field table",
};

/** Expressions that the analysis does not vouch for, and why their work is bounded. */
const excused: { readonly [written: string]: string } = {
  "/^deb\\s+(?:\\[[^\\]]*\\]\\s+)?\\S+\\s+(\\S+)\\s+(.*)$/": "reads lines of the machine's own files",
  "/no such database|database .* does not exist/i": "reads one message of a pooler",
  "/^\\s*(?:[a-z][a-z0-9+.-]*:)*?([a-z][a-z0-9+.-]*:[/\\\\]*)(?![a-z][a-z0-9+.-]*:[/\\\\]{2})/i":
    "looks ahead; each scheme ends at its colon",
  "/:(?!\\$\\{[^}]*\\}$)./": "looks ahead, to the end of one login",
  "/(?<=\\S): [\\s\\S]*$/": "looks back by one character; the rest matches anything",
};

/** Characters of the longest answer of a service (16 MB), and of what is sent to the local platform. */
const [longestAnswer, longestBody] = [16 * 1024 * 1024, 1024 * 1024];

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

/**
 * The regular expressions whose work may grow faster than the text that they read. The work of alternatives is the sum of the
 * work of each, because nothing comes after them: each is analysed by itself, which takes a tenth of the time.
 */
async function superlinear(
  entries: readonly Pick<SourceExpression, "source" | "flags">[],
): Promise<string[]> {
  const safe = new Map<string, boolean>();
  const found: string[] = [];
  for (const { source, flags } of entries) {
    for (const part of alternativesOf(source)) {
      const key = `/${part}/${flags}`;
      if (!safe.has(key)) {
        const { status } = await check(part, flags, { checker: "automaton", timeout: null });
        safe.set(key, status === "safe");
      }
      if (safe.get(key) === true) continue;
      found.push(`/${source}/${flags}`);
      break;
    }
  }
  return found;
}

/** The alternatives of an expression that stand in no group. They stay together if one may refer to another. */
function alternativesOf(source: string): readonly string[] {
  if (/\\[1-9k]/.test(source)) return [source];
  const tokens = source.match(/\\.|\[(?:[^\]\\]|\\.)*\]|[^\\[]/gs) ?? [];
  const parts = [""];
  let depth = 0;
  for (const token of tokens) {
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    if (token === "|" && depth === 0) parts.push("");
    else parts.push(`${parts.pop() ?? ""}${token}`);
  }
  return parts;
}

describe("every regular expression of the source", () => {
  it("is a constant, or its text is bounded", () => {
    expect(all.length).toBeGreaterThan(100);
    const places = all.filter(({ isConstant }) => !isConstant).map(({ path, source }) => `${path} ${source}`);
    expect(places.sort()).toEqual(Object.keys(made).sort());
  });

  it("bears the longest text that it can meet", () => {
    // Only the repetitions of a group are remembered one by one.
    const outsideClasses = (source: string): string => source.replace(/\\.|\[(?:[^\]\\]|\\.)*\]/gs, "");
    const repeating = all.filter(
      ({ source, isConstant }) => isConstant && /\)[*+]/.test(outsideClasses(source)),
    );
    expect(repeating.length).toBeGreaterThan(0);
    const broken = repeating.filter((entry) => {
      const longest = entry.path.startsWith("src/platform") ? longestBody : longestAnswer;
      return !bears(entry, longest);
    });
    expect(broken.map(({ path, source }) => `${path} /${source}/`)).toEqual([]);
  });

  it("takes work in proportion to its text, whatever stands there", async () => {
    const constant = all.filter(({ isConstant }) => isConstant);
    const each = new Map(constant.map((entry) => [`/${entry.source}/${entry.flags}`, entry]));
    expect((await superlinear([...each.values()])).sort()).toEqual(Object.keys(excused).sort());
  });
});

describe("the analysis finds", () => {
  it.each([
    ["a key and its colon", `([^\\s{},[\\]"']+)(?:["']\\s*[:=]\\s*|\\s*[:=](?:\\s+|$))`, "g"],
    ["a part that is looked for from each beginning", "offboard.*(command|url)$", "i"],
    ["what doubles with each character", "^(a+)+$", ""],
    ["tokens", "eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}", "g"],
    ["a quote that is never closed", "version `(GLIBC_[^']+)' not found", ""],
    ["white space at the end", "\\s+$", ""],
    ["white space around a word", "^\\s*[\\w .!]{1,40}\\s*$", ""],
    ["what comes after a beginning", "^https?://[^\\s/]+[^\\s]*$", "u"],
  ])("%s", async (_, source, flags) => {
    expect(await superlinear([{ source, flags }])).toHaveLength(1);
  });

  it("what remembers each character of a long text", () => {
    const source = '\\$\\{((?:[^{}"]|"(?:[^"\\\\]|\\\\.)*")*)\\}';
    expect([
      bears({ source, flags: "y" }, longestAnswer),
      bears({ source: "x+", flags: "" }, longestAnswer),
    ]).toEqual([false, true]);
  });

  it("nothing where the work is in proportion", async () => {
    const sources = ["^[a-z]+$", "[^a-z]+", "\\{([^{}]*)\\}", "^\\s+|x"];
    expect(await superlinear(sources.map((source) => ({ source, flags: "g" })))).toEqual([]);
  });
});

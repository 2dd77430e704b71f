import { describe, expect, it } from "vitest";
import { parseManifest } from "../../src/manifest/parse.ts";
import { excerptsOf } from "../../src/manifest/problems/excerpt.ts";
import type { Problem } from "../../src/model/errors.ts";
import { problemsJson, problemsText } from "../../src/report/problems.ts";
import { makePalette } from "../../src/report/typeset.ts";

const page = { palette: makePalette(false), width: 80 };

function problem(line: number, columns: readonly [number, number], rest: Partial<Problem>): Problem {
  const range = {
    file: "graphform.yaml",
    start: { line, column: columns[0] },
    end: { line, column: columns[1] },
  };
  return { code: "unknown-key", severity: "error", message: 'there is no key "regoin" here', range, ...rest };
}

const key = problem(12, [5, 11], {
  excerpt: "    regoin: us-east-1",
  hint: "did you mean region?",
  address: "instances.orders",
});

describe("problemsText", () => {
  it("shows place, message, source line, mark and hint", () => {
    const warning = problem(104, [1, 6], {
      severity: "warning",
      message: "0 means no rows",
      excerpt: "count: 0",
    });
    expect(problemsText([key, warning], page)).toMatchInlineSnapshot(`
      "graphform.yaml:12:5: error: there is no key "regoin" here
        12 |     regoin: us-east-1
           |     ^^^^^^
        hint: did you mean region?

      graphform.yaml:104:1: warning: 0 means no rows
        104 | count: 0
            | ^^^^^

      1 problem, 1 warning
      "
    `);
  });

  it.each<[string, readonly Problem[], string]>([
    ["one", [key], "1 problem"],
    ["three", [key, key, key], "3 problems"],
    ["a warning", [{ ...key, severity: "warning" }], "1 warning"],
  ])("counts %s", (_, problems, last) => {
    expect(problemsText(problems, page).split("\n").at(-2)).toBe(last);
  });

  it("is empty where there are none", () => {
    expect(problemsText([], page)).toBe("");
  });

  it.each<[string, Problem, string]>([
    ["one column", problem(1, [3, 3], { excerpt: "a: b" }), "  ^"],
    [
      "a range that runs on",
      {
        ...problem(1, [4, 4], { excerpt: "a: [1," }),
        range: { ...key.range, start: { line: 1, column: 4 }, end: { line: 3, column: 1 } },
      },
      "   ^^^",
    ],
    ["past the end", problem(1, [5, 90], { excerpt: "a: b" }), "    ^"],
    ["wide characters before it", problem(1, [4, 6], { excerpt: "日本:xy" }), "     ^^"],
    ["escapes before it", problem(1, [2, 4], { excerpt: "\u001bxy" }), "      ^^"],
  ])("marks %s", (_, found, mark) => {
    const lines = problemsText([found], page).split("\n");
    expect(lines[2]).toBe(`${" ".repeat(lines[1]?.indexOf("|") ?? 0)}| ${mark}`);
  });

  it.each([1, 61, 62, 250, 480, 497])(
    "marks the place in a long line of a manifest, at column %i",
    (column) => {
      const line = Array.from({ length: 500 }, (_, at) =>
        at >= column - 1 && at < column + 2 ? "o" : "x",
      ).join("");
      const { layers } = parseManifest([{ path: "graphform.yaml", text: line }]);
      const found = problem(1, [column, column + 3], {});
      const excerpt = excerptsOf(layers, (_, value) => String(value))(found.range) ?? "";
      const [, source, marks] = problemsText([{ ...found, excerpt }], page).split("\n");
      expect(marks?.indexOf("^^^")).toBe(source?.indexOf("ooo"));
      expect(source).toContain("ooo");
    },
  );

  it.each([
    ["at the start", 1, 7, 500],
    ["in the middle", 250, 260, 500],
    ["at the end", 490, 500, 500],
    ["all of it", 1, 500, 500],
    ["in a line that is just too long", 60, 75, 76],
  ])("fits the columns of the terminal, with the place in view: %s", (_, from, to, length) => {
    const line = Array.from({ length }, (_, at) => (at >= from - 1 && at < to - 1 ? "o" : "x")).join("");
    const { layers } = parseManifest([{ path: "graphform.yaml", text: line }]);
    const found = problem(1234, [from, to], {});
    const at = { ...found.range, start: { line: 1, column: from }, end: { line: 1, column: to } };
    const excerpt = excerptsOf(layers, (_, value) => String(value))(at) ?? "";
    for (const width of [40, 80, 120]) {
      const [, source = "", marks = ""] = problemsText([{ ...found, excerpt }], { ...page, width }).split(
        "\n",
      );
      expect(Math.max(source.length, marks.length)).toBeLessThanOrEqual(width);
      expect(source.slice(marks.indexOf("^"), marks.lastIndexOf("^"))).toMatch(/^o+$/);
    }
  });

  it("marks nothing where the place is beyond the excerpt", () => {
    const end = problem(1, [301, 304], { excerpt: "x" });
    expect(problemsText([end], page)).not.toContain("^");
  });

  it("prints foreign text as data", () => {
    const text = problemsText([problem(1, [1, 2], { message: "a\nb\u001b[2J", hint: "\u202e" })], page);
    expect(text).toContain("error: a\\nb\\u001b[2J");
    expect(text).toContain("hint: \\u202e");
  });
});

describe("problemsJson", () => {
  it("is what Terraform's readers expect", () => {
    expect(problemsJson([key, { ...key, severity: "warning" }])).toEqual({
      format_version: "1.0",
      valid: false,
      error_count: 1,
      warning_count: 1,
      diagnostics: [
        {
          severity: "error",
          summary: 'there is no key "regoin" here',
          detail: "did you mean region?",
          address: "instances.orders",
          range: {
            filename: "graphform.yaml",
            start: { line: 12, column: 5 },
            end: { line: 12, column: 11 },
          },
          snippet: {
            context: "instances.orders",
            code: "    regoin: us-east-1",
            start_line: 12,
            highlight_start_offset: 4,
            highlight_end_offset: 10,
            values: [],
          },
          x_graphform: { code: "unknown-key" },
        },
        expect.objectContaining({ severity: "warning" }),
      ],
    });
  });

  it("counts offsets in bytes", () => {
    expect(problemsJson([problem(1, [4, 6], { excerpt: "日本:xy" })])).toMatchObject({
      diagnostics: [{ snippet: { highlight_start_offset: 7, highlight_end_offset: 9 } }],
    });
  });

  it("is valid with warnings alone", () => {
    expect(problemsJson([{ ...key, severity: "warning" }])).toMatchObject({
      valid: true,
      error_count: 0,
      warning_count: 1,
    });
  });
});

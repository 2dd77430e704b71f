import { describe, expect, it } from "vitest";
import { textWidth, wrapLines } from "../../src/report/typeset.ts";

it.each([
  ["plain letters", "orders", 6],
  ["accents in one character", "é", 1],
  ["accents that combine", "e\u0301", 1],
  ["East Asian letters", "注文", 4],
  ["full-width letters", "ＤＢ", 4],
  ["half-width katakana", "ｶ", 1],
  ["an emoji", "🚀", 2],
  ["a flag, of two letters", "🇩🇪", 2],
  ["the arrow of a change", "→", 1],
])("the columns of %s", (_, text, expected) => {
  expect(textWidth(text)).toBe(expected);
});

describe("prose for a terminal", () => {
  const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;

  it.each([
    ["goes elsewhere as it is", "a ".repeat(80), undefined, "a ".repeat(80)],
    ["is left alone where it fits", "error: no\nhint: yes\n", 20, "error: no\nhint: yes\n"],
    [
      "goes on two columns further in",
      "error: one two three four five",
      24,
      "error: one two three\n  four five",
    ],
    ["keeps its indent", "  hint: one two three four five", 26, "  hint: one two three\n    four five"],
    ["counts no colours", `${red("error:")} one two three four`, 25, `${red("error:")} one two three four`],
    [
      "leaves excerpts whole",
      "  47 |     config: { name: orders, tier: pro }",
      24,
      "  47 |     config: { name: orders, tier: pro }",
    ],
  ])("%s", (_, text, columns, expected) => {
    expect(wrapLines(text, columns)).toBe(expected);
  });
});

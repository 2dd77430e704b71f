import { expect, it } from "vitest";
import { textWidth } from "../../src/report/text-width.ts";

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

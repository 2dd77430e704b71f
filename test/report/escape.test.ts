import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeJson, escapeLines, escapeText, quoteText } from "../../src/report/typeset.ts";

describe("escapeText", () => {
  it.each([
    ["an escape sequence", "\u001b[31mred", "\\u001b[31mred"],
    ["its one-byte form", "\u009b31m", "\\u009b31m"],
    ["line breaks", "a\r\nb\tc", "a\\r\\nb\\tc"],
    ["NUL and DEL", "\u0000\u007f", "\\u0000\\u007f"],
    ["bidi overrides", "\u202a\u202e\u2066\u2069", "\\u202a\\u202e\\u2066\\u2069"],
    ["bidi marks", "\u200e\u200f\u061c", "\\u200e\\u200f\\u061c"],
    ["zero-width characters", "a\u200b\u200d\u2060\ufeffb", "a\\u200b\\u200d\\u2060\\ufeffb"],
    ["line and paragraph separators", "\u2028\u2029", "\\u2028\\u2029"],
    ["fillers that look like nothing", "\u3164\u115f\u00ad", "\\u3164\\u115f\\u00ad"],
    ["tag characters", "\u{e0041}", "\\udb40\\udc41"],
    ["half a pair", "a\ud800b\udfff", "a\\ud800b\\udfff"],
    ["what is harmless", 'naïve "日本" 🎈 \\ <b>', 'naïve "日本" 🎈 \\ <b>'],
  ])("%s", (_, text, shown) => {
    expect(escapeText(text)).toBe(shown);
  });

  it("cuts the middle of a long text and says how long it was", () => {
    const shown = escapeText(`start${"x".repeat(100_000)}end`, 60);
    expect(shown).toMatch(/^startx{35} … x{17}end \(100008 characters\)$/);
  });

  it("never makes half a pair by cutting", () => {
    for (let most = 10; most < 20; most += 1) expect(escapeText("🎈".repeat(50), most)).not.toContain("\\u");
  });
});

describe("quoteText", () => {
  it.each([
    ["a number in text", "25", '"25"'],
    ["quotation marks and backslashes", 'a"b\\', '"a\\"b\\\\"'],
    ["what steers", "\u202e\n\u001b", '"\\u202e\\n\\u001b"'],
    ["nothing", "", '""'],
  ])("%s", (_, text, shown) => {
    expect(quoteText(text)).toBe(shown);
  });

  it("keeps the marks at both ends of a long text", () => {
    expect(quoteText("x".repeat(1000))).toMatch(/^"x+ … x+" \(1000 characters\)$/);
  });
});

describe("the others", () => {
  it("lines keep their breaks and lose the rest", () => {
    expect(escapeLines("a\n\tb\u001b\r")).toBe("a\n\tb\\u001b\\r");
  });

  it("JSON means the same after it was made safe", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const json = escapeJson(JSON.stringify({ [text]: text }));
        expect(JSON.parse(json)).toEqual({ [text]: text });
        expect(json).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
    );
  });
});

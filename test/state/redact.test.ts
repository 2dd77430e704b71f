import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mask, redactor } from "../../src/state/redact.ts";
import { createVault, newKey } from "../../src/state/vault.ts";

function redactorOf(...texts: readonly string[]): (text: string) => string {
  const vault = createVault(newKey());
  for (const text of texts) vault.seal(text, "secret.text");
  return redactor(vault);
}

const awkward = 'p"a/s\\s w+ö&r<d>=%\n\tÿ\u{1F600}?';

describe("redactor", () => {
  const escapes: { readonly [char: string]: string } = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
  };
  const forms: readonly [where: string, form: (text: string) => string][] = [
    ["as it is", (text) => text],
    ["in JSON", (text) => JSON.stringify({ text })],
    ["in JSON within JSON", (text) => JSON.stringify(JSON.stringify({ text }))],
    ["in a query", (text) => `https://x.example/?p=${encodeURIComponent(text)}&q=1`],
    ["in a URL", (text) => encodeURI(`https://x.example/${text}/y`)],
    ["in a form", (text) => new URLSearchParams({ p: text }).toString()],
    [
      "in a URL with small escapes",
      (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
    ],
    ["in HTML", (text) => `<b>${text.replace(/[&<>"]/g, (char) => escapes[char] ?? char)}</b>`],
    ["in hex", (text) => Buffer.from(text).toString("hex")],
  ];
  it.each(forms)("masks a secret %s, and nothing else", (_, form) => {
    expect(redactorOf(awkward)(form(awkward))).toBe(form("SECRET").replace(/SECRET|534543524554/, mask));
  });

  it.each([
    ["base64", "base64", ""],
    ["base64 at offset 1", "base64", "abc:"],
    ["base64 at offset 2", "base64", "user:"],
    ["base64 for URLs", "base64url", ""],
    ["base64 for URLs at offset 1", "base64url", "abc:"],
    ["base64 for URLs at offset 2", "base64url", "user:"],
  ] as const)("masks a secret in %s", (_, encoding, before) => {
    const encoded = Buffer.from(`${before}${awkward}:after`).toString(encoding);
    const around = Math.ceil((before.length * 4) / 3) + Math.ceil(":after".length * (4 / 3)) + 4;
    const shown = redactorOf(awkward)(encoded);
    expect(shown).toContain(mask);
    expect(shown.length).toBeLessThanOrEqual(around + mask.length);
  });

  it("masks each line of a secret of several lines", () => {
    const key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----";
    expect(redactorOf(key)("  | MIIEvQIBADANBgkq\n  | hkiG9w0BAQEFAASC")).toBe("  | ***\n  | ***");
  });

  it("masks the longer of two secrets that start alike", () => {
    expect(redactorOf("hunter", "hunter2")("hunter2 hunter")).toBe("*** ***");
  });

  it("masks what was sealed after it was made", () => {
    const vault = createVault(newKey());
    const redact = redactor(vault);
    expect(redact("late-secret")).toBe("late-secret");
    vault.seal("late-secret", "secret.late");
    expect(redact("late-secret")).toBe("***");
  });

  it.each([
    ["without secrets", [], "a (b) [c] *"],
    ["with secrets of at most 3 characters, which stand everywhere", ["", "a", "ab", "abc"], "abc abc"],
    ["that holds no secret", ["hunter2"], "nothing here"],
  ])("leaves a text alone %s", (_, texts, text) => {
    expect(redactorOf(...texts)(text)).toBe(text);
  });

  it("lets no secret through, whatever it is made of and stands in", () => {
    const secret = fc.string({ minLength: 8, maxLength: 30, unit: "grapheme" });
    const around = fc.string({ maxLength: 5 });
    fc.assert(
      fc.property(secret, around, around, (text, before, after) => {
        const redact = redactorOf(text);
        const whole = `${before}${text}${after}`;
        expect(redact(whole)).toContain(mask);
        expect(redact(JSON.stringify(whole))).toContain(mask);
        expect(redact(encodeURIComponent(whole))).toContain(mask);
        expect(redact(Buffer.from(whole).toString("base64"))).toContain(mask);
      }),
      { numRuns: 300 },
    );
  });
});

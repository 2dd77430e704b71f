import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Masker, mask, maskerOf } from "../../src/model/mask.ts";

function maskerWith(...texts: readonly string[]): Masker {
  return maskerOf(() => new Set(texts));
}

function redactorOf(...texts: readonly string[]): (text: string) => string {
  return maskerWith(...texts).text;
}

const awkward = 'p"a/s\\s w+ö&r<d>=%\n\tÿ\u{1F600}?';

describe("our own words", () => {
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

  it("masks what was added after it was made", () => {
    const texts = new Set<string>();
    const { text: redact } = maskerOf(() => texts);
    expect(redact("late-secret")).toBe("late-secret");
    texts.add("late-secret");
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

describe("the words of others", () => {
  it.each([
    ["a longer secret is masked", ["hunter2"], "it is hunter2", "it is ***"],
    [
      "a short one is withheld with everything around it",
      ["ab"],
      "it is ab!",
      "(withheld: it repeats a secret)",
    ],
    ["also as JSON writes it", ['"'], 'it is \\"', "(withheld: it repeats a secret)"],
    ["also as a URL writes it", ["/"], "it is %2F", "(withheld: it repeats a secret)"],
    ["nothing is withheld without one", ["", "xyz"], "it is ab", "it is ab"],
  ])("%s", (_, texts, said, shown) => {
    expect(maskerWith(...texts).foreign(said)).toBe(shown);
  });
});

describe("the time that masking takes", () => {
  /** How long `work` takes at its fastest, in ms. */
  function fastest(work: () => void): number {
    const times = Array.from({ length: 5 }, () => {
      const started = performance.now();
      work();
      return performance.now() - started;
    });
    return Math.min(...times);
  }

  it("does not grow with the number of secrets, also of such that begin alike", () => {
    const text = "prod-pass- what people read, line by line, with prod-pass in it\n".repeat(2000);
    const secrets = (count: number): readonly string[] =>
      Array.from({ length: count }, (_, at) => `prod-pass-${String(at).padStart(6, "0")}`);
    const [few, many] = [maskerWith(...secrets(5)), maskerWith(...secrets(5000))];
    expect([few.text(text), many.text(text)]).toEqual([text, text]);
    expect(fastest(() => many.text(text)) / fastest(() => few.text(text))).toBeLessThan(5);
  });
});

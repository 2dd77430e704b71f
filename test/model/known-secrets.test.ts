import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Hide, knownSecrets } from "../../src/model/known-secrets.ts";
import { sensitive } from "../../src/model/sealed.ts";
import { growth } from "../support/work.ts";

function hiding(...texts: readonly string[]): Hide {
  const secrets = knownSecrets();
  secrets.add(texts);
  return secrets.hide;
}

const withheld = "(withheld: it repeats a secret)";
const awkward = 'p"a/s\\s w+ö&r<d>=%\n\tÿ\u{1F600}?';

describe("a secret in the words of others", () => {
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
  it.each(forms)("is hidden %s, and nothing else", (_, form) => {
    expect(hiding(awkward)(form(awkward))).toBe(form("SECRET").replace(/SECRET|534543524554/, sensitive));
  });

  const spelling = (text: string, chars: RegExp, spell: (char: string) => string): string =>
    text.replace(chars, spell);
  const code = (char: string, base = 16): string => (char.codePointAt(0) ?? 0).toString(base);
  const inJson = (text: string, chars: RegExp): string =>
    spelling(JSON.stringify(text), chars, (char) => `\\u${code(char).padStart(4, "0")}`);
  const inBytes = (text: string, spell: (byte: number) => string): string =>
    [...Buffer.from(text)].map(spell).join("");
  const spellings: readonly [where: string, spell: (text: string) => string][] = [
    ["JSON of Go", (text) => inJson(text, /[&<>]/g)],
    ["JSON of Python", (text) => inJson(text, /[\u0080-\uffff]/g)],
    ["JSON of PHP", (text) => JSON.stringify(text).replaceAll("/", "\\/")],
    ["HTML with numbers", (text) => spelling(text, /[^a-z]/giu, (char) => `&#${code(char, 10)};`)],
    ["HTML with numbers in hex", (text) => spelling(text, /[&<>"']/g, (char) => `&#x${code(char)};`)],
    ["XML", (text) => spelling(text, /[&<>"']/g, (char) => escapes[char] ?? "&apos;")],
    ["a literal of Python", (text) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`],
    ["SQL", (text) => `'${text.replaceAll("'", "''")}'`],
    ["a shell", (text) => `'${text.replaceAll("'", "'\\''")}'`],
    ["CSV", (text) => `a,"${text.replaceAll('"', '""')}",b`],
    ["a URL within a URL", (text) => encodeURIComponent(encodeURIComponent(text))],
    [
      "a URL in Latin-1",
      (text) => spelling(text, /[^a-z\u0100-\u{10ffff}]/giu, (char) => `%${code(char).padStart(2, "0")}`),
    ],
    ["letters and their accents", (text) => text.normalize("NFD")],
    ["JavaScript", (text) => spelling(text, /./gsu, (char) => `\\u{${code(char)}}`)],
    ["bytes of Python", (text) => inBytes(text, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`)],
    ["bytes of C", (text) => inBytes(text, (byte) => `\\${byte.toString(8).padStart(3, "0")}`)],
    [
      "HTML in JSON in a URL",
      (text) => encodeURIComponent(JSON.stringify(spelling(text, /</g, () => "&lt;"))),
    ],
  ];
  it.each(spellings)("is hidden in the spelling of %s, whatever stands around it", (_, spell) => {
    for (const secret of [
      `${awkward}it's`,
      'd\'accord, "100%"',
      "C:\\new\\temp%41&amp;",
      "Ünïcödé+1",
      "it\ufffd is",
    ]) {
      const hidden = hiding(secret)(`it is ${spell(secret)}, and no other`);
      expect(hidden).toMatch(/^it is \S{0,5}\(sensitive\)\S{0,5} and no other$/);
    }
  });

  it.each([
    ["base64", "base64", ""],
    ["base64 at offset 1", "base64", "abc:"],
    ["base64 at offset 2", "base64", "user:"],
    ["base64 for URLs", "base64url", ""],
    ["base64 for URLs at offset 1", "base64url", "abc:"],
    ["base64 for URLs at offset 2", "base64url", "user:"],
  ] as const)("is hidden in %s", (_, encoding, before) => {
    const encoded = Buffer.from(`${before}${awkward}:after`).toString(encoding);
    const around = Math.ceil((before.length * 4) / 3) + Math.ceil(":after".length * (4 / 3)) + 4;
    const shown = hiding(awkward)(encoded);
    expect(shown).toContain(sensitive);
    expect(shown.length).toBeLessThanOrEqual(around + sensitive.length);
  });

  const wrapped = (text: string, width: number, end: string): string =>
    text.replaceAll(new RegExp(`.{${width}}`, "g"), (line) => line + end);
  const body = (text: string): string =>
    JSON.stringify({ name: "db", requestParams: { password: text, size: 1 } });
  const encodings: readonly [reason: string, encode: (text: string) => string][] = [
    ["a service logs the body of a request", (text) => Buffer.from(body(text)).toString("base64")],
    [
      "a service in Go logs the body",
      (text) =>
        Buffer.from(
          body(text).replaceAll("&", "\\u0026").replaceAll("<", "\\u003c").replaceAll(">", "\\u003e"),
        ).toString("base64"),
    ],
    [
      "it is in a token, whose parts are base64 for URLs",
      (text) => Buffer.from(body(text)).toString("base64url"),
    ],
    [
      "it logs a form",
      (text) => Buffer.from(new URLSearchParams({ a: "b", p: text, c: "d" }).toString()).toString("base64"),
    ],
    ["it logs an address", (text) => Buffer.from(`/x?p=${encodeURIComponent(text)}&q=1`).toString("base64")],
    ["mails and PEM wrap it", (text) => wrapped(Buffer.from(body(text)).toString("base64"), 76, "\r\n")],
    ["a tool wraps it at 64", (text) => wrapped(Buffer.from(text.repeat(3)).toString("base64"), 64, "\n")],
    [
      "YAML wraps and indents it",
      (text) => wrapped(Buffer.from(body(text)).toString("base64"), 30, "\n    "),
    ],
    [
      "JSON holds what is wrapped",
      (text) => JSON.stringify({ data: wrapped(Buffer.from(body(text)).toString("base64"), 76, "\n") }),
    ],
    ["hex is wrapped", (text) => wrapped(Buffer.from(body(text)).toString("hex"), 60, "\n")],
    ["a terminal wraps it as it is", (text) => wrapped(text, 5, "\n")],
  ];
  it.each(encodings)("is hidden in what is encoded as a whole, where %s", (_, encode) => {
    for (const secret of [
      'S3cr"t-pass-One',
      "back\\slash-pass-1",
      "a&b<c>d/e+f=g h%i",
      "Ünïcödé-\u{1F600}-1",
      "plain-Pass-1",
    ]) {
      const said = `bad body ${encode(secret)} of db`;
      const shown = hiding(secret)(said);
      expect(shown).toMatch(/^bad body .*\(sensitive\).* of db$/s);
      // Few characters at its edges depend on what stands beside it: those of the secret alone are at least as many as itself.
      expect(said.length - shown.replaceAll(sensitive, "").length).toBeGreaterThanOrEqual(secret.length);
    }
  });

  it.each([
    [
      "base64 of base64",
      (text: string) => Buffer.from(Buffer.from(text).toString("base64")).toString("base64"),
    ],
    ["base64 of UTF-16", (text: string) => Buffer.from(text, "utf16le").toString("base64")],
    ["a list of bytes", (text: string) => JSON.stringify([...Buffer.from(text)])],
    ["quoted-printable", (text: string) => text.replaceAll("!", "=21")],
  ])("is not looked for in %s, as the page says", (_, encode) => {
    const said = `got ${encode("Secret!pass!word!1")}`;
    expect(hiding("Secret!pass!word!1")(said)).toBe(said);
  });

  it("withholds no text whose lines, joined, hold a short secret by chance", () => {
    expect(hiding("abcd")("ab\ncd")).toBe("ab\ncd");
  });

  it("is hidden line by line, if it has several", () => {
    const key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----";
    expect(hiding(key)("  | MIIEvQIBADANBgkq\n  | hkiG9w0BAQEFAASC")).toBe(
      "  | (sensitive)\n  | (sensitive)",
    );
  });

  it("is hidden as the longer one of two that start alike", () => {
    expect(hiding("hunter", "hunter2")("hunter2 hunter")).toBe("(sensitive) (sensitive)");
  });

  it("is hidden from the moment at which it is known", () => {
    const secrets = knownSecrets();
    expect(secrets.hide("late-secret")).toBe("late-secret");
    secrets.add([undefined, "", "late-secret"]);
    expect(secrets.hide("late-secret")).toBe("(sensitive)");
  });

  it.each([
    ["in capitals", "Hunter2!", "it is HUNTER2!", "it is (sensitive)"],
    ["in capitals that are longer than small letters", "straße12", "STRAßE12 \u0130", "(sensitive) \u0130"],
    ["in a URL with capitals", "p/ss word", "x?p=P%2FSS%20WORD", "x?p=(sensitive)"],
  ])("is hidden without case: %s", (_, secret, said, shown) => {
    expect(hiding(secret)(said)).toBe(shown);
  });

  it.each([
    ["without secrets", [], "a (b) [c] *"],
    ["that holds no secret", ["hunter2"], "nothing here"],
  ])("leaves a text alone %s", (_, texts, text) => {
    expect(hiding(...texts)(text)).toBe(text);
  });

  it("is let through nowhere, whatever it is made of and stands in", () => {
    const secret = fc.string({ minLength: 8, maxLength: 30, unit: "grapheme" });
    const around = fc.string({ maxLength: 5 });
    fc.assert(
      fc.property(secret, around, around, (text, before, after) => {
        const hide = hiding(text);
        const whole = `${before}${text}${after}`;
        expect(hide(whole)).toContain(sensitive);
        expect(hide(JSON.stringify(whole))).toContain(sensitive);
        expect(hide(encodeURIComponent(whole))).toContain(sensitive);
        expect(hide(Buffer.from(whole).toString("base64"))).toContain(sensitive);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a secret of fewer than six characters", () => {
  it.each([
    ["a longer secret is hidden by itself", ["hunter"], "it is hunter", "it is (sensitive)"],
    ["a short one is withheld with everything around it", ["hunt"], "it is hunt!", withheld],
    ["also without case", ["hunt"], "it is HUNT!", withheld],
    ["also as JSON writes it", ['"'], 'it is "', withheld],
    ["also as a URL writes it", ["/"], "it is %2F", withheld],
    ["nothing is withheld without one", ["", "xyz"], "it is ab", "it is ab"],
  ])("%s", (_, texts, said, shown) => {
    expect(hiding(...texts)(said)).toBe(shown);
  });
});

describe("a secret that a service shows, and nobody declared", () => {
  const seeing = (...texts: readonly string[]): Hide => {
    const secrets = knownSecrets();
    secrets.see(texts);
    return secrets.hide;
  };
  it.each([
    ["is hidden like any other", "L1ve-pass", "set to l1VE-pASS", "set to (sensitive)"],
    ["is hidden like any other, in any spelling", "L1ve/pass", "p=L1ve%2Fpass", "p=(sensitive)"],
    ["withholds a text in which it is a word, if it is short", "abc1", "it is 'ABC1'.", withheld],
    ["withholds it also at its end", "abc1", "falkordbPassword=abc1", withheld],
    ["withholds it in the spelling of JSON too", "ab/1", "it is ab\\/1.", withheld],
    ["withholds it whatever it is made of", "Ä+b1", "it is %C3%84%2Bb1", withheld],
    ["is a part of other words by chance, if it is short", "abc1", "abc12 xabc1", "abc12 xabc1"],
    ["is none of fewer than three characters", "a", "a database", "a database"],
    ["is none if the service shows stars", "********", "******** -> ****", "******** -> ****"],
  ])("%s", (_, secret, said, shown) => {
    expect(seeing(secret)(said)).toBe(shown);
  });

  it("withholds every text that holds it, once it is declared", () => {
    const secrets = knownSecrets();
    secrets.see(["abc1"]);
    expect(secrets.hide("xabc1x")).toBe("xabc1x");
    secrets.add(["abc1"]);
    expect(secrets.hide("xabc1x")).toBe(withheld);
  });
});

describe("a login that nobody knew of", () => {
  it.each([
    ["in an address", "moved to redis://app:secret@h:1 now", "moved to (sensitive) now"],
    ["without a scheme", "cannot reach app:secret@h:1", "cannot reach (sensitive)"],
    ["no login", "ask dba@example.com: at 10:30", "ask dba@example.com: at 10:30"],
  ])("is hidden in the words of others: %s", (_, said, shown) => {
    expect(hiding()(said)).toBe(shown);
  });
});

describe("the work that it takes", () => {
  it("does not grow with the number of secrets, also of such that begin alike", async () => {
    const text = "prod-pass- what people read, line by line, with prod-pass in it\n".repeat(200);
    const secrets = (count: number): readonly string[] =>
      Array.from({ length: count }, (_, at) => `prod-pass-${String(at).padStart(6, "0")}`);
    const [few, many] = [hiding(...secrets(5)), hiding(...secrets(5000))];
    expect([few(text), many(text)]).toEqual([text, text]);
    expect(await growth((hide) => hide(text), few, many)).toBeLessThan(2);
  });
});

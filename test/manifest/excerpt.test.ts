import { describe, expect, it } from "vitest";
import { parseManifest } from "../../src/manifest/parse.ts";
import { excerptsOf } from "../../src/manifest/problems/excerpt.ts";
import { redactorFor } from "../../src/manifest/problems/redactor.ts";
import { check } from "./check.ts";

function excerpt(
  text: string,
  line: number,
  column: number,
  secrets: readonly string[] = [],
): string | undefined {
  const { layers } = parseManifest([{ path: "m.yaml", text }]);
  const position = { line, column };
  return excerptsOf(
    layers,
    redactorFor({ secret: ["password"], lists: ["acl"] }, secrets),
  )({ file: "m.yaml", start: position, end: position });
}

describe("an excerpt", () => {
  it.each([
    ["is the line", "a: 1\nb: 2\n", 2, "b: 2"],
    ["keeps its indentation", "a:\n    b: 2\n", 2, "    b: 2"],
    ["has no end of line", "a: 1\r\nb: 2\r\n", 1, "a: 1"],
    ["shows control characters", 'a: "\u001b[31m\u0007"', 1, 'a: "␛[31m␇"'],
    ["shows a tab as one character", "a:\tb", 1, "a:␉b"],
    ["shows what reorders text", "a: \u202eb\u2066", 1, "a: \ufffdb\ufffd"],
    ["is absent where the line is empty", "a: 1\n\n", 2, undefined],
    ["is absent where there is no such line", "a: 1", 9, undefined],
  ])("%s", (_, text, line, expected) => {
    expect(excerpt(text, line, 1)).toBe(expected);
  });

  it("of a long line is cut around the column", () => {
    const text = `a: [${Array.from({ length: 500 }, (_, index) => `n${index}`).join(", ")}]`;
    const column = text.indexOf("n250") + 1;
    const shown = excerpt(text, 1, column) ?? "";
    expect(shown.length).toBeLessThan(130);
    expect(shown).toMatch(/^….*n250.*…$/);
    expect(excerpt(text, 1, 1)).toMatch(/^a: \[n0.*[^…]…$/);
    expect(excerpt(text, 1, text.length)).toMatch(/^….*n499\]$/);
  });

  it.each([
    ["a secret field", "password: hunter2", "password: ***"],
    ["a secret field in a flow map", "{ a: 1, password: hunter2, b: 2 }", "{ a: 1, password: ***"],
    ["a known secret anywhere", "note: it is hunter2!", "note: it is ***!"],
    ["not a reference", "password: ${secret.a}", "password: ${secret.a}"],
    [
      "not a reference in a flow map",
      'u: { password: "${env.A}", b: 2 }',
      'u: { password: "${env.A}", b: 2 }',
    ],
    ["a reference with text", 'password: "${secret.a}hunter"', "password: ***"],
    [
      "the second of two",
      'u: { password: "${env.A}", password: x }',
      'u: { password: "${env.A}", password: ***',
    ],
    ["not where a secret is read", "ordersPassword: { env: ORDERS }", "ordersPassword: { env: ORDERS }"],
    ["not another field", "pass: x", "pass: x"],
    ["a field before an equals sign", "note: password=hunter3", "note: password=***"],
    ["a key in quotes", '{ "password":"hunter3" }', '{ "password":***'],
    [
      "a key that is far too long",
      `${"x".repeat(100)}password: hunter3`,
      `${"x".repeat(100)}password: ***`.slice(0, 120),
    ],
    ["not an access list of patterns and commands", 'acl: "~* -@all +PING"', 'acl: "~* -@all +PING"'],
    ["not an access list with references", 'acl: "~${var.x} ${var.y}"', 'acl: "~${var.x} ${var.y}"'],
    ["an access list with a password", 'acl: "~* >hunter3 +PING"', "acl: ***"],
    ["an access list with what nobody knows", "acl: ~* hunter3", "acl: ***"],
    ["what comes after an access list", "{ acl: +PING, b: 2 }", "{ acl: ***"],
  ])("hides %s", (_, text, expected) => {
    expect(excerpt(text, 1, 1, ["hunter2"])).toBe(expected);
  });

  it("hides the value on the line below a secret field", () => {
    expect(excerpt("password:\n  abc: [\n", 2, 1)).toBe("***");
    expect(excerpt("u: { password:\nhunter3 }\n", 2, 1)).toBe("***");
  });

  it.each([
    ["a block", "u:\n  password: |-\n    one\n\n    two\n  b: three\n", 5],
    ["a quoted text", 'u:\n  password: "one\n\n    two"\n  b: three\n', 4],
    ["a plain text", "password: one\n  more\n  two\nb: three\n", 3],
    ["an access list", "acl: >-\n  ~*\n  >two\nb: three\n", 3],
  ])("hides every line of %s of a secret field, and none after it", (_, text, line) => {
    expect(excerpt(text, line, 1)).toBe("***");
    expect(excerpt(text, line + 1, 1)).toMatch(/^ *b: three$/);
  });

  it("shows the lines of an access list that hold no password", () => {
    expect(excerpt("acl: >-\n  ~*\n  +PING\n", 3, 1)).toBe("  +PING");
  });
});

describe("problems with a hostile manifest", () => {
  it("carry no control character", async () => {
    const { problems } = await check('apiVersion: graphform/v1\nname: "a\u001b[2J"\n"k\u001b": 1\n');
    expect(problems).toHaveLength(2);
    expect(JSON.stringify(problems.map(({ excerpt: shown }) => shown))).not.toMatch(/\\u001b/);
  });
});

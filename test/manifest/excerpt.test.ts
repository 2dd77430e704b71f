import { describe, expect, it } from "vitest";
import { kinds } from "../../src/kinds/index.ts";
import { parseManifest } from "../../src/manifest/parse.ts";
import { excerptsOf } from "../../src/manifest/problems/excerpt.ts";
import { plainFields } from "../../src/manifest/problems/plain-fields.ts";
import { check } from "./check.ts";

/** The excerpt of a line, every value of which belongs to a plain field. */
function excerpt(text: string, line: number, column: number): string | undefined {
  return excerptWith((_, value) => String(value), text, line, column);
}

/** The excerpt of a line of a manifest. */
function excerptOf(text: string, line = 1, column = 1): string | undefined {
  const { value } = parseManifest([{ path: "m.yaml", text }]);
  return excerptWith(plainFields(value ?? {}, kinds.all), text, line, column);
}

function excerptWith(
  shown: ReturnType<typeof plainFields>,
  text: string,
  line: number,
  column: number,
): string | undefined {
  const { layers } = parseManifest([{ path: "m.yaml", text }]);
  const position = { line, column };
  return excerptsOf(layers, shown)({ file: "m.yaml", start: position, end: position });
}

describe("an excerpt", () => {
  it.each([
    ["is the line", "a: 1\nb: 2\n", 2, "b: 2"],
    ["keeps its indentation", "a:\n    b: 2\n", 2, "    b: 2"],
    ["has no end of line", "a: 1\r\nb: 2\r\n", 1, "a: 1"],
    ["shows control characters", 'a: "\u0007"', 1, 'a: "␇"'],
    ["shows a tab as one character", "a:\tb", 1, "a:␉b"],
    ["shows what reorders text", "a: \u202eb\u2066", 1, "a: \ufffdb\ufffd"],
    ["has no comment", "a: 1 # hunter2", 1, "a: 1"],
    ["has no line of comment", "# hunter2\na: 1", 1, undefined],
    ["keeps a # that belongs to a text", 'a: "b #c" # hunter2', 1, 'a: "b #c"'],
    ["is absent if the line is empty", "a: 1\n\n", 2, undefined],
    ["is absent if there is no such line", "a: 1", 9, undefined],
    ["is absent if the file does not parse", "a: [hunter2", 1, undefined],
  ])("%s", (_, text, line, expected) => {
    expect(excerpt(text, line, 1)).toBe(expected);
  });

  it.each([
    ["of an alias", "a: *hunter2", 1, "a: *…"],
    ["of an anchor", "a: &hunter2 b", 1, "a: &… b"],
    ["of an anchor of nothing", "a: &hunter2", 1, "a: &…"],
    ["of an anchor before a text in quotes", 'a: &hunter2 "b"', 1, 'a: &… "b"'],
    ["of an anchor of a map", "a: { b: &hunter2 { c: 1 }, d: *hunter2 }", 1, "a: { b: &… { c: 1 }, d: *… }"],
    ["of an anchor on a line of its own", "a:\n  &hunter2\n  b: 1", 2, "  &…"],
    ["in a list", "a: [&hunter2 b, *hunter2,*hunter2]", 1, "a: [&… b, *…,*…]"],
    ["of an anchor of a key", "&hunter2 a: 1", 1, "&… a: 1"],
    ["before a comment", "a: &hunter2 # &hunter2", 1, "a: &…"],
  ])("shows no name %s: a password may begin with * or &", (_, text, line, expected) => {
    expect(excerpt(`${text}\nz: 1`, line, 1)).toBe(expected);
  });

  it("shows a text that begins with * or & in quotes, and what follows a hidden name at its column alone", () => {
    expect(excerpt('a: "*b &c"', 1, 1)).toBe('a: "*b &c"');
    expect(excerpt("a: &hunter2 b", 1, 13)).toBe("a: &…");
    expect(excerpt("a: { b: *hunter2, c: d }", 1, 22)).toBe("a: { b: *…");
  });

  it("of a long line that is cut within a name shows nothing of the name", () => {
    const long = (sign: string): string => `a: { b: ${sign}${"hunter2-".repeat(40)}, c: d }`;
    for (const text of [long("*"), long("&")])
      for (let column = 1; column <= text.length; column += 1)
        expect(excerpt(text, 1, column)).not.toMatch(/hunt|nter2|ter2-/);
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

  const user = (fields: string): string => `users: { a: { ${fields} } }`;
  it.each([
    ["a plain field", "username: hunter2", "username: hunter2"],
    ["a secret field", "password: hunter2", "password: (sensitive)"],
    ["a secret field in quotes", '"password":"hunter2"', '"password":(sensitive)'],
    ["what follows a secret field", "password: hunter2, username: b", "password: (sensitive), username: b"],
    [
      "a map in a secret field",
      "password: { hunter2: 1 }, username: b",
      "password: (sensitive), username: b",
    ],
    ["a list in a secret field", "password: [&a hunter2, *a]", "password: (sensitive)"],
    ["a map in a plain field", "username: { b: hunter2 }", "username: { b: … }"],
    ["a reference in a secret field", 'password: "${secret.a}"', 'password: "${secret.a}"'],
    ["a reference with text", 'password: "${secret.a}hunter2"', "password: (sensitive)"],
    ["a key that no field has", "pasword: hunter2", "pasword: …"],
    ["an access list", 'acl: "~* -@all +PING"', 'acl: "~* -@all +PING"'],
    ["an access list with references", 'acl: "~${var.x} +GET"', 'acl: "~${var.x} +GET"'],
    ["an access list with a password", 'acl: "~* >hunter2 +PING"', "acl: (sensitive)"],
    ["an access list with what nobody knows", "acl: ~* hunter2", "acl: (sensitive)"],
    ["a login in a plain field", "username: https://u:hunter2@h/x", "username: https://(sensitive)@h/x"],
    [
      "prose",
      '"username": "https://wiki/x, ask dba@example.com"',
      '"username": "https://wiki/x, ask dba@example.com"',
    ],
    ["a key with a login", '"https://u:hunter2@h": 1', "…: …"],
  ])("of a resource shows %s", (_, fields, shown) => {
    expect(excerptOf(user(fields))).toBe(user(shown));
  });

  it.each([
    ["where a secret is read from", "secrets: { a: { env: ORDERS } }", "secrets: { a: { env: ORDERS } }"],
    ["no secret in place of its source", "secrets: { a: hunter2 }", "secrets: { a: (sensitive) }"],
    [
      "no command of a secret",
      "secrets: { a: { command: [get, hunter2] } }",
      "secrets: { a: { command: [(sensitive), (sensitive)] } }",
    ],
    ["a variable", "variables: { a: { default: b } }", "variables: { a: { default: b } }"],
    ["an output", "outputs: { a: { value: b } }", "outputs: { a: { value: b } }"],
    [
      "no output that is sensitive",
      "outputs: { a: { sensitive: true, value: b } }",
      "outputs: { a: { sensitive: (sensitive), value: (sensitive) } }",
    ],
    ["a key of the state", "state: { type: s3, bucket: b }", "state: { type: s3, bucket: b }"],
    [
      "no login in the state",
      'state: { type: postgres, host: "u:hunter2@h" }',
      "state: { type: postgres, host: (sensitive) }",
    ],
    ["no key that the state does not have", "state: { token: hunter2 }", "state: { token: … }"],
    ["a section that nobody knows by its keys", "sevice: { a: b }", "sevice: { a: … }"],
  ])("of a manifest shows %s", (_, text, shown) => {
    expect(excerptOf(text)).toBe(shown);
  });

  it("shows no variable that a secret field is made of", () => {
    const text = 'variables: { a: { default: hunter2 } }\nusers: { b: { password: "${var.a}" } }';
    expect(excerptOf(text)).toBe("variables: { a: { default: (sensitive) } }");
  });

  it.each([
    ["a block", "users:\n  a:\n    password: |-\n      one\n\n      two\n    acl: +PING\n", 6],
    ["a quoted text", 'users:\n  a:\n    password: "one\n\n      two"\n    acl: +PING\n', 5],
    ["a plain text", "users:\n  a:\n    password: one\n      more\n      two\n    acl: +PING\n", 5],
  ])("hides every line of %s of a secret field, and none after it", (_, text, line) => {
    expect(excerptOf(text, line)).toBe("(sensitive)");
    expect(excerptOf(text, line + 1)).toBe("    acl: +PING");
  });

  it("ends with a hidden value if the problem stands behind it: it would be marked elsewhere", () => {
    const text = user("password: hunter2, acl: 7");
    expect(excerptOf(text, 1, text.indexOf("acl") + 1)).toBe("users: { a: { password: (sensitive)");
  });
});

describe("a password in an address", () => {
  it("is a warning that names the path, and never the text", async () => {
    const { warnings } = await check(
      'apiVersion: graphform/v1\nname: shop\nvariables: { a: { default: "https://u:hunter2@h/x" } }\noutputs: { b: "https://u@h", c: "https://wiki/x, ask a:b@example.com", d: "https://u:${var.a}@h" }\n',
    );
    expect(warnings.map(({ code, message }) => [code, message])).toEqual([
      ["password-in-address", expect.stringMatching(/^variables\.a\.default is an address with a password/)],
    ]);
    expect(JSON.stringify(warnings)).not.toContain("hunter2");
  });

  it.each([
    ["a variable that is given", "${var.a}", "https://u:hunter2@h/x"],
    ["a variable that is its password alone", "https://u:${var.a}@h/x", "hunter2"],
  ])("is a warning at the field if %s puts it there", async (_, description, a) => {
    const config = `config: { name: db, graphdbUser: app, graphdbPassword: "\${secret.p}", description: "${description}" }`;
    const text = `apiVersion: graphform/v1\nname: shop\nsecrets: { p: { env: P } }\nvariables: { a: {} }\ninstances: { db: { tier: free, component: free, cloudProvider: aws, region: us-east-1, ${config} } }\n`;
    const { warnings } = await check(text, { variables: { a } });
    expect(
      warnings.filter(({ code }) => code === "password-in-address").map(({ message }) => message),
    ).toEqual([expect.stringMatching(/^instances\.db\.config\.description is an address with a password/)]);
    expect(JSON.stringify(warnings)).not.toContain("hunter2");
  });
});

describe("problems with a hostile manifest", () => {
  it("carry no control character", async () => {
    const { problems } = await check('apiVersion: graphform/v1\nname: "a\u001b[2J"\n"k\u001b": 1\n');
    expect(problems).toHaveLength(2);
    expect(JSON.stringify(problems.map(({ excerpt: shown }) => shown))).not.toMatch(/\\u001b/);
  });
});

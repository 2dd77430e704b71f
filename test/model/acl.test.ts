import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aclRules, shownAcl } from "../../src/model/acl.ts";

describe("an access list", () => {
  it.each<[string, string]>([
    ["~* +PING", "keys grant"],
    ["%R~a %rw~b -get -@all", "keys keys removal removal"],
    ["on ALLKEYS nopass", "word word word"],
    [">a <b #c !d", "credential credential credential credential"],
    ["&c what", "channel other"],
    ["'>a b' '~c d'", "credential keys"],
    ["'+PING", "grant"],
    ["", ""],
    ["  \t\n ", ""],
  ])("%j has the rules %s", (acl, kinds) => {
    expect(
      aclRules(acl)
        .map(({ is }) => is)
        .join(" "),
    ).toBe(kinds);
  });

  it.each([
    ["~*  +PING -@all on &c", "~*  +PING -@all on &c"],
    ["~* >hunter2 +PING", "~* *** +PING"],
    ["'>hunter2 hunter3' +PING", "*** +PING"],
    ["~* >hunter2 hunter3 +PING", "~* *** *** +PING"],
    ["#0a1b", "***"],
    ["(~x +get)", "*** ***"],
  ])("%j is shown as %j", (acl, shown) => {
    expect(shownAcl(acl)).toBe(shown);
  });

  it("is shown without its passwords, whatever they are made of", () => {
    const word = fc.string({ minLength: 6, maxLength: 12, unit: fc.constantFrom(..."hunter2#>(") });
    const rule = fc.constantFrom("~*", "+PING", "on", "-@all");
    const sign = fc.constantFrom(">", "<", "#", "!", "'>");
    fc.assert(
      fc.property(rule, sign, word, rule, (before, mark, password, after) => {
        const end = mark === "'>" ? "'" : "";
        expect(shownAcl(`${before} ${mark}${password}${end} ${after}`)).toBe(`${before} *** ${after}`);
      }),
    );
  });
});

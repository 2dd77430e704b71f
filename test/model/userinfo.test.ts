import { describe, expect, it } from "vitest";
import { hasUserinfo, withoutUserinfo } from "../../src/model/userinfo.ts";

describe("the login in an address", () => {
  it.each([
    ["user and password", "https://u:p@h/x", "https://(sensitive)@h/x"],
    ["a password alone", "redis://:p@h:6379/0", "redis://(sensitive)@h:6379/0"],
    ["a token in place of a user", "https://ghp_token@h/x", "https://(sensitive)@h/x"],
    ["a list of hosts", "postgres://u:p@h1:5432,h2:5432/d", "postgres://(sensitive)@h1:5432,h2:5432/d"],
    ["a password with a raw slash, which no parser takes", "https://u:a/b@h", "https://(sensitive)@h"],
    ["a port that is none", "https://u:p@h:99999/", "https://(sensitive)@h:99999/"],
    ["few slashes", "https:/u:p@h", "https:/(sensitive)@h"],
    ["backslashes, which a browser takes for slashes", "https:\\\\u:p@h", "https:\\\\(sensitive)@h"],
    ["a scheme before the scheme", "jdbc:postgresql://u:p@h/d", "jdbc:postgresql://(sensitive)@h/d"],
    ["an @ in the path behind it", "https://u:p@h/@someone", "https://(sensitive)@h/@someone"],
    [
      "an expression as its host",
      "https://u:p@${instances.a.host}/d",
      "https://(sensitive)@${instances.a.host}/d",
    ],
    ["prose behind it", "https://u:p@h/ ask me@example.com", "https://(sensitive)@h/ ask me@example.com"],
  ])("is hidden: %s", (_, text, shown) => {
    expect(withoutUserinfo(text)).toBe(shown);
    expect(hasUserinfo(text)).toBe(true);
  });

  it.each([
    ["prose with an address", "https://wiki/x never delete this, ask dba@example.com"],
    ["prose with a colon behind an address", "https://wiki: ask dba@example.com"],
    ["prose that names an address", "see https://u:p@h"],
    ["an address without a login", "https://h:8080/x?y=z#u:p@h"],
    ["an @ in a path", "https://medium.com/@someone"],
    ["an empty login", "https://:@h"],
    ["an address of mail", "mailto:ann@example.com"],
    ["a name", "ann@example.com"],
    ["two words", "a:b@c"],
  ])("is in none of these: %s", (_, text) => {
    expect(withoutUserinfo(text)).toBe(text);
    expect(hasUserinfo(text)).toBe(false);
  });
});

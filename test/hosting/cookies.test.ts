import { expect, it, vi } from "vitest";
import { parseCookies } from "../../src/hosting/session/session-tokens.ts";

it.each<[string, string | readonly string[] | undefined, Record<string, object>]>([
  ["no header", undefined, {}],
  ["a cookie without attributes", "svc_token=abc", { svc_token: { value: "abc" } }],
  ["one that ends", "t=abc; Path=/; MAX-AGE = 60; HttpOnly", { t: { value: "abc", maxAge: 60_000 } }],
  ["two headers", ["a=1; Max-Age=1", "b=2"], { a: { value: "1", maxAge: 1000 }, b: { value: "2" } }],
  ["a value with signs", "t=a=b%20c==", { t: { value: "a=b%20c==" } }],
  ["a value in quotes", 't="abc"', { t: { value: "abc" } }],
  ["a comma, as dates have one", "t=a; Expires=Wed, 09 Jun 2027 10:18:14 GMT", { t: { value: "a" } }],
  ["one that is taken away", "t=abc; Max-Age=0", {}],
  ["one that is taken away by an age below nothing", "t=abc; Max-Age=-1", {}],
  ["one without a value", "t=; Path=/", {}],
  ["what is no cookie", ["", ";", "abc", "=abc"], {}],
  ["an age that is no number", "t=abc; Max-Age=soon", { t: { value: "abc" } }],
  ["a name that every object has", "__proto__=x", {}],
])("reads %s", (_, header, expected) => {
  const printed = vi.spyOn(console, "warn").mockImplementation(() => {});
  expect(Object.fromEntries(parseCookies(header))).toEqual(expected);
  expect(printed).not.toHaveBeenCalled();
});

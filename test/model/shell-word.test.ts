import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { shellWord } from "../../src/model/errors.ts";

it.each([
  ["instances.orders"],
  ['instances.cache["eu"]'],
  ['instances.cache["it\'s"]'],
  ['$(touch x) `y` \\ \n "z" ;&|<>*?~#!'],
  [""],
])("a shell reads %j back as it was", (text) => {
  expect(execFileSync("/bin/sh", ["-c", `printf %s ${shellWord(text)}`], { encoding: "utf8" })).toBe(text);
});

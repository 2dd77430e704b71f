import { describe, expect, it } from "vitest";
import { GraphformError, ownError } from "../../src/model/errors.ts";
import { errorText } from "../../src/report/problems.ts";

describe("errorText", () => {
  it.each<[string, GraphformError, string]>([
    [
      "one of ours",
      new GraphformError("locked", "the state is locked by ada"),
      "error: the state is locked by ada\n",
    ],
    [
      "one of ours with a hint",
      new GraphformError("locked", "the state is locked", { hint: "wait, or unlock it" }),
      "error: the state is locked\nhint: wait, or unlock it\n",
    ],
    [
      "foreign words",
      new GraphformError("x", "the service said \u001b[2J\nok"),
      "error: the service said \\u001b[2J\\nok\n",
    ],
  ])("%s", (_, error, text) => {
    expect(errorText(error)).toBe(text);
  });

  it.each([
    [
      "EACCES: permission denied, mkdir '/srv/shop/.graphform'",
      "/srv/shop/.graphform cannot be used: permission denied",
    ],
    ["EROFS: read-only file system, open '/srv/a, b/x'", "/srv/a, b/x cannot be used: read-only file system"],
    ["ENOENT: process.cwd failed with error no such file or directory, uv_cwd", "the current folder is gone"],
  ])("of the file system names the file and the way out: %s", (text, message) => {
    const said = errorText(ownError(new Error(text), (same) => same));
    expect(said.split("\n")).toEqual([`error: ${message}`, expect.not.stringContaining("bug"), ""]);
  });

  it.each<[string, unknown, string]>([
    ["a mistake of ours", new TypeError("x is undefined"), "x is undefined"],
    ["text", "boom", "boom"],
    ["nothing", undefined, "undefined"],
    ["an object that only looks like an error", { message: "odd", stack: 7 }, "odd"],
    ["one that repeats a secret", new Error("cannot parse hunter2"), "cannot parse (sensitive)"],
  ])("%s asks to be reported, and shows neither a stack nor a secret", (_, thrown, message) => {
    const hide = (text: string): string => text.replaceAll("hunter2", "(sensitive)");
    expect(errorText(ownError(thrown, hide)).split("\n")).toEqual([
      `error: unexpected error: ${message}`,
      expect.stringMatching(/^hint: .*report it/),
      "",
    ]);
  });
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { givenVariables } from "../../src/project/project.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder = "";
beforeEach(async () => {
  folder = temporaryFolder("variables");
});

async function file(text: string): Promise<string> {
  const path = join(folder, "vars.yaml");
  await writeFile(path, text);
  return path;
}

describe("given variables", () => {
  it("come from files and options as text, later ones over earlier ones", async () => {
    const path = await file("a: 1\nb: [1, two]\nc: { d: true }\ne: from the file\n");
    expect(await givenVariables(["e=from=an option", "f="], [path])).toEqual({
      a: "1",
      b: '[1,"two"]',
      c: '{"d":true}',
      e: "from=an option",
      f: "",
    });
  });

  it.each([
    ["no map", "- hunter2\n", ":1:1: it must be a map of names to values"],
    ["nothing", "", ":1:1: it must be a map of names to values"],
    ["a stray text", 'pw: "a" hunter2\n', ":1:9: "],
    ["a key that stands twice", "pw: hunter2\npw: hunter3\n", ':2:1: the key "pw" is written twice'],
    ["a tag", "pw: !hunter2 x\n", ":1:5: this tag is not known"],
    ["an alias of nothing", "pw: *hunter2\n", ":1:5: "],
  ])("a file with %s is refused with the place", async (_, text, said) => {
    const path = await file(text);
    const reading = givenVariables([], [path]);
    await expect(reading).rejects.toMatchObject({ code: "variable-file", exitCode: 3 });
    await expect(reading).rejects.toThrow(`--var-file ${path}${said}`);
    await expect(reading).rejects.not.toThrow(/hunter[23]/);
  });

  it("a file that is not there is refused without the hint for manifests", async () => {
    const reading = givenVariables([], ["no-such-file.yaml"]);
    await expect(reading).rejects.toMatchObject({ code: "variable-file", hint: undefined });
    await expect(reading).rejects.toThrow("there is no such file");
  });

  it("that are no name=value are refused, and not repeated", async () => {
    const reading = givenVariables(["hunter2"], []);
    await expect(reading).rejects.toMatchObject({ code: "variable-form", exitCode: 3 });
    await expect(reading).rejects.not.toThrow("hunter2");
  });
});

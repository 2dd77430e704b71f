import { chmod, lstat, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { writeSources } from "../../src/commands/drift/edit-sources.ts";
import { behindLinks, replaceText } from "../../src/files/write-result.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder = "";
beforeEach(async () => {
  folder = temporaryFolder("replace");
  const made = folder;
  onTestFinished(() => rm(made, { recursive: true, force: true }));
});

async function file(name: string, text: string, mode = 0o640): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

describe("a file that is replaced", () => {
  it("keeps its permissions and its byte order mark, and leaves nothing else behind", async () => {
    const path = await file("a.yaml", "\uFEFFold\r\n");
    expect(await replaceText(path, "old\r\n", "new\r\n")).toBe(true);
    expect(await readFile(path, "utf8")).toBe("\uFEFFnew\r\n");
    expect((await stat(path)).mode & 0o777).toBe(0o640);
    expect(await readdir(folder)).toEqual(["a.yaml"]);
  });

  it("is reached through a link, which stays", async () => {
    const path = await file("a.yaml", "old");
    const link = join(folder, "link.yaml");
    await symlink(path, link);
    expect(await replaceText(link, "old", "new")).toBe(true);
    expect([await readFile(path, "utf8"), (await lstat(link)).isSymbolicLink()]).toEqual(["new", true]);
  });

  it("is left as it is where somebody has changed it meanwhile", async () => {
    const path = await file("a.yaml", "somebody's");
    expect(await replaceText(path, "old", "new")).toBe(false);
    expect(await readFile(path, "utf8")).toBe("somebody's");
  });
});

describe("the files of a manifest", () => {
  it("are all put back where one of them has changed meanwhile", async () => {
    const [a, b] = [await file("a.yaml", "a"), await file("b.yaml", "somebody's")];
    const before = [
      { path: a, text: "a" },
      { path: b, text: "b" },
    ];
    const after = before.map((source) => ({ ...source, text: `new ${source.text}` }));
    await expect(writeSources(before, after)).rejects.toMatchObject({ code: "file-changed", exitCode: 1 });
    expect([await readFile(a, "utf8"), await readFile(b, "utf8")]).toEqual(["a", "somebody's"]);
  });

  it("are not touched where nothing of them differs", async () => {
    const source = { path: await file("a.yaml", "a"), text: "something else" };
    expect(await writeSources([source], [source])).toBe(0);
  });
});

describe("the end of all links", () => {
  it("is found where nothing is yet", async () => {
    await symlink("b", join(folder, "a"));
    await symlink("new/c", join(folder, "b"));
    expect(await behindLinks(join(folder, "a"))).toBe(join(folder, "new", "c"));
  });

  it("is not looked for without end where a link leads back to itself over what is missing", async () => {
    await symlink("missing/../a", join(folder, "a"));
    await expect(behindLinks(join(folder, "a"))).rejects.toThrow("too many links");
  });
});

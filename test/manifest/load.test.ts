import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { loadManifest, manifestBytes } from "../../src/manifest/load.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder("load");
});

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);
const ascii = (text: string): readonly number[] => [...Buffer.from(text)];

describe("what is no manifest file", () => {
  it.each([
    ["NUL bytes", bytes(...ascii("name: a\nb: "), 0, 1, 2), "2:4 binary", "UTF-8"],
    ["UTF-16 with a mark", bytes(0xff, 0xfe, 0x61, 0), "1:1 not-utf8", "UTF-8"],
    ["UTF-16, big end first", bytes(0xfe, 0xff, 0, 0x61), "1:1 not-utf8", "UTF-8"],
    ["UTF-16 without a mark", bytes(0x61, 0, 0x3a, 0), "1:2 binary", "UTF-8"],
    ["Latin-1", bytes(...ascii("a: b\nname: caf"), 0xe9, ...ascii(" au lait\n")), "2:10 not-utf8", "UTF-8"],
    [
      "Latin-1 after a true replacement character",
      bytes(...ascii("# "), 0xef, 0xbf, 0xbd, ...ascii("\nx"), 0xff),
      "2:2 not-utf8",
      "UTF-8",
    ],
    ["half a character at the end", bytes(...ascii("a: "), 0xe2, 0x82), "1:4 not-utf8", "UTF-8"],
    ["a program", bytes(0x7f, ...ascii("ELF"), 2, 1, 1, 0), "1:8 binary", "NUL"],
  ])("%s", async (_, content, place, hint) => {
    const path = file("m.yaml", content);
    const { sources, problems } = await loadManifest([path]);
    expect(sources).toEqual([]);
    expect(problems.map(({ range, code }) => `${range.start.line}:${range.start.column} ${code}`)).toEqual([
      place,
    ]);
    expect(problems[0]?.hint).toContain(hint);
    expect(problems[0]?.range.file).toBe(path);
  });

  it("a file of 20 MB is refused without being read", async () => {
    const path = file("m.yaml", "");
    truncateSync(path, 20 * 1024 * 1024);
    const { problems } = await loadManifest([path]);
    expect(problems).toMatchObject([
      {
        code: "too-large",
        message: "the file is larger than 10 MB",
        range: { start: { line: 1, column: 1 } },
      },
    ]);
  });

  it.each([
    [0, 1],
    [1, 0],
  ])("a file of the limit plus %i bytes gives %i sources", async (more, count) => {
    const path = file("m.yaml", "#".repeat(manifestBytes + more));
    expect((await loadManifest([path])).sources).toHaveLength(count);
  });

  it("a device without an end is left at the limit", async () => {
    const { problems } = await loadManifest(["/dev/zero"]);
    expect(problems.map(({ code }) => code)).toEqual(["too-large"]);
  });

  it("a file that is not there", async () => {
    const path = join(folder, "absent.yaml");
    const { problems } = await loadManifest([path]);
    expect(problems).toMatchObject([{ code: "missing-file", range: { file: path } }]);
    expect(problems[0]?.hint).toContain("graphform init");
  });

  it("an empty directory", async () => {
    file("notes.txt", "x");
    const { problems } = await loadManifest([folder]);
    expect(problems).toMatchObject([
      { code: "missing-file", message: "the directory contains no *.yaml file" },
    ]);
  });

  it("all that is wrong with several, at once", async () => {
    const { sources, problems } = await loadManifest([
      join(folder, "a.yaml"),
      file("b.yaml", "x: 1"),
      join(folder, "c.yaml"),
    ]);
    expect(problems).toHaveLength(2);
    expect(sources).toHaveLength(1);
  });
});

describe("what is one", () => {
  it("a directory stands for its *.yaml in name order", async () => {
    file("20-b.yaml", "b");
    file("10-a.yaml", "a");
    file("README.md", "c");
    const { sources } = await loadManifest([folder, file("last.txt", "z")]);
    expect(sources.map(({ path, text }) => [path.slice(folder.length + 1), text])).toEqual([
      ["10-a.yaml", "a"],
      ["20-b.yaml", "b"],
      ["last.txt", "z"],
    ]);
  });

  it("a byte order mark is dropped, so that columns stay true", async () => {
    const { sources } = await loadManifest([file("m.yaml", bytes(0xef, 0xbb, 0xbf, ...ascii("name: a")))]);
    expect(sources[0]?.text).toBe("name: a");
  });
});

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
let folder: string;

/** A user's own folder: the package as the global set-up built it, installed from its tarball, nothing fetched. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "graphform-install-"));
  run(root, process.execPath, join(root, "scripts", "emit-types.ts"));
  const tarball = run(
    root,
    "npm",
    "pack",
    "--ignore-scripts",
    "--silent",
    "--pack-destination",
    folder,
  ).trim();
  writeFileSync(join(folder, "package.json"), '{ "name": "user", "private": true, "type": "module" }');
  run(folder, "npm", "install", "--offline", "--silent", `./${tarball}`);
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program with this process's Node first in the PATH, and gives what it printed. */
function run(cwd: string, program: string, ...args: readonly string[]): string {
  const bin = join(root, "node_modules", ".bin");
  const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}` };
  return execFileSync(program, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

describe("the installed package", () => {
  it("is one package", () => {
    const lock: { packages: object } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
    expect(Object.keys(lock.packages)).toEqual(["", "node_modules/graphform"]);
  });

  it("has its command", () => {
    expect(run(folder, "npx", "graphform", "--version")).toBe(`${version}\n`);
    expect(run(folder, "npx", "graphform", "--help")).toContain("platform");
  });

  it("can be imported, with schemas and profiles", () => {
    const code = `
      import * as graphform from "graphform";
      import { readFileSync } from "node:fs";
      const read = (path) => readFileSync(new URL(import.meta.resolve("graphform/" + path)), "utf8").length > 0;
      console.log(Object.keys(graphform).length > 0, read("schemas/manifest.schema.json"), read("profiles/default.yaml"));`;
    expect(run(folder, process.execPath, "--input-type=module", "-e", code)).toBe("true true true\n");
  });

  it("has types that a strict project takes", () => {
    writeFileSync(
      join(folder, "user.ts"),
      'import * as graphform from "graphform";\nexport const names: string[] = Object.keys(graphform);\n',
    );
    const options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2024", "--types", ""];
    expect(run(folder, "tsc", ...options, "user.ts")).toBe("");
  });

  it("says of itself what is true (publint)", async () => {
    const { messages } = await publint({ pkgDir: join(folder, "node_modules/graphform"), pack: false });
    expect(messages).toEqual([]);
  });

  it("carries the licences of what it bundles, and no sources", () => {
    const files = run(folder, "npm", "ls", "--parseable", "--silent").trim().split("\n");
    expect(files).toHaveLength(2);
    const notices = readFileSync(join(folder, "node_modules/graphform/dist/THIRD-PARTY-NOTICES.txt"), "utf8");
    for (const name of ["ajv", "commander", "yaml", "@redis/client"]) expect(notices).toContain(`\n${name} `);
  });
});

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { beforeEach, describe, expect, inject, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const program = join(inject("packaged"), "bin/graphform.js");
let root: string;

beforeEach(() => {
  root = temporaryFolder("init");
  write(".git/HEAD", "");
});

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

function manifest(file: string, state: string, name = "shop"): void {
  write(file, `apiVersion: graphform/v1\nname: ${name}\nstate: ${state}\n`);
}

/** Runs `init --ci github` in a folder of the repository. */
function init(
  folder: string,
  ...args: readonly string[]
): { readonly status: number | null; readonly err: string } {
  const command = [program, "init", "--ci", "github", ...args];
  const { status, stderr } = spawnSync(process.execPath, command, {
    cwd: join(root, folder),
    encoding: "utf8",
  });
  return { status, err: stderr };
}

describe("init --ci in a repository with several manifests", () => {
  it.each([
    [
      "one object of a bucket",
      "{ type: s3, bucket: states, key: shop.json }",
      "{ type: s3, bucket: states, key: shop.json }",
    ],
    ["one name in a database", "{ type: postgres }", "{ type: postgres, name: shop }"],
    ["one file", "{ type: file, path: ../../shop.json }", "{ type: file, path: ../../shop.json }"],
  ])("refuses two that keep their states in %s, and writes nothing", (_, one, other) => {
    manifest("envs/test/graphform.yaml", one);
    manifest("envs/prod/graphform.yaml", other);
    const { status, err } = init("envs/prod");
    expect(status).toBe(1);
    expect(err).toContain("../test/graphform.yaml and graphform.yaml keep their states in one place");
    expect(existsSync(join(root, ".github"))).toBe(false);
  });

  it("compares manifests of one folder as well", () => {
    manifest("test.yaml", "{ type: postgres, name: shop }");
    manifest("prod.yaml", "{ type: postgres, name: shop }", "shop-prod");
    expect(init(".", "-f", "prod.yaml")).toMatchObject({ status: 1 });
  });

  it.each([
    ["names of their own", "{ type: postgres, name: shop-test }", "{ type: postgres, name: shop-prod }"],
    ["files beside them", "{ type: file }", "{ type: file }"],
    ["places that a variable decides", "{ type: postgres, name: '${var.env}' }", "{ type: postgres }"],
  ])("takes %s", (_, one, other) => {
    manifest("envs/test/graphform.yaml", one);
    manifest("envs/prod/graphform.yaml", other);
    expect(init("envs/prod")).toMatchObject({ status: 0 });
  });
});

import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { createClient } from "@redis/client";
import { publint } from "publint";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "./support/temporary-folder.ts";

const root = join(import.meta.dirname, "..");
const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
let folder: string;

/** A user's own folder: the package as the global set-up built it, installed from its tarball, nothing fetched. */
beforeAll(() => {
  folder = temporaryFolder("install");
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
  // As pipelines install it: from the lock file, with no script of any package.
  run(folder, "npm", "ci", "--offline", "--silent", "--ignore-scripts");
});

/** This process's environment, with its Node first in the PATH. */
const environment = {
  ...process.env,
  PATH: `${join(root, "node_modules", ".bin")}:${process.env["PATH"]}`,
};

/** Runs a program and gives what it printed. */
function run(cwd: string, program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, {
    cwd,
    env: environment,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
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

  it("writes pipelines, and brings the action that they use", () => {
    mkdirSync(join(folder, "pipelines"));
    for (const ci of ["github", "gitlab"])
      run(
        folder,
        join(folder, "node_modules/.bin/graphform"),
        "--chdir",
        "pipelines",
        "init",
        "-f",
        `${ci}.yaml`,
        "--ci",
        ci,
      );
    const workflow = globSync("pipelines/.github/workflows/graphform-*-github.yaml", { cwd: folder });
    const [, used = ""] = /uses: \.\/(.*)/.exec(readFileSync(join(folder, workflow[0] ?? ""), "utf8")) ?? [];
    expect(readFileSync(join(folder, used, "action.yml"), "utf8")).toBe(
      readFileSync(join(root, "action.yml"), "utf8"),
    );
    expect(globSync("pipelines/.gitlab/*.yml", { cwd: folder })).toHaveLength(1);
  });

  it("is installed once more by the path of its tarball, as the action does it", () => {
    const [tarball = ""] = globSync("graphform-*.tgz", { cwd: folder });
    const options = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--offline"];
    run(folder, "npm", "install", "--prefix", join(folder, "elsewhere"), ...options, join(folder, tarball));
    expect(run(folder, join(folder, "elsewhere/node_modules/.bin/graphform"), "--version")).toBe(
      `${version}\n`,
    );
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

  it("has its documents, whose links lead to files of the package, or to sources of the repository that it names", () => {
    const own = join(folder, "node_modules/graphform");
    const documents = globSync(["*.md", "{docs,examples}/**/*.md"], { cwd: own });
    expect(documents).toEqual(expect.arrayContaining(["README.md", "docs/library.md", "docs/manifest.md"]));
    const missing = documents.flatMap((path) =>
      [...readFileSync(join(own, path), "utf8").matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)[^)]*\)/g)]
        .map(([, link = ""]) => join(dirname(path), link))
        .filter((link) => globSync(link, { cwd: own }).length === 0),
    );
    expect(missing.filter((link) => !/^(src|test|bench)\//.test(link))).toEqual([]);
    const { homepage, repository }: { homepage: string; repository: { url: string } } = JSON.parse(
      readFileSync(join(own, "package.json"), "utf8"),
    );
    expect(repository.url).toBe(`git+${homepage.replace("#readme", "")}.git`);
  });

  it("carries the licences of what it bundles, and no sources", () => {
    const files = run(folder, "npm", "ls", "--parseable", "--silent").trim().split("\n");
    expect(files).toHaveLength(2);
    const notices = readFileSync(join(folder, "node_modules/graphform/dist/THIRD-PARTY-NOTICES.txt"), "utf8");
    for (const name of ["ajv", "commander", "yaml", "@redis/client"]) expect(notices).toContain(`\n${name} `);
  });
});

describe("the local platform of the installed package", () => {
  const manifest = `apiVersion: graphform/v1
name: first
secrets: { password: { env: SHOP_PASSWORD } }
instances:
  scratch:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: scratch, graphdbUser: app, graphdbPassword: "\${secret.password}" }
outputs: { endpoint: "\${instances.scratch.endpoint}" }
`;

  /** Runs graphform in the user's folder with a cache of its own, and gives all that it printed. */
  function graphform(...args: readonly string[]): { readonly code: number | null; readonly text: string } {
    const env = {
      ...environment,
      XDG_CACHE_HOME: join(folder, "cache"),
      SHOP_PASSWORD: "a-password-of-tests",
      GRAPHFORM_ENGINE: "",
      GRAPHFORM_MODULE: "",
    };
    const program = join(folder, "node_modules/graphform/bin/graphform.js");
    const ended = spawnSync(process.execPath, [program, ...args], { cwd: folder, env, encoding: "utf8" });
    return { code: ended.status, text: ended.stdout + ended.stderr };
  }

  it("runs real databases after `platform setup`, without anything from a clone", {
    timeout: 600_000,
  }, async () => {
    writeFileSync(join(folder, "graphform.yaml"), manifest);
    mkdirSync(join(folder, "cache"));
    for (const args of [["platform", "up", "--detach"], ["doctor"]]) {
      const before = graphform(...args);
      expect(before.code).toBe(1);
      expect(before.text).toContain("the graph module is missing");
      expect(before.text).toContain("run: graphform platform setup");
    }

    const first = graphform("platform", "setup");
    expect(first).toMatchObject({ code: 0, text: expect.stringContaining("databases run on ") });
    expect(first.text).toMatch(/^fetching @falkordblite\/linux-x64 \S+ from \S+ with npm/m);
    expect(first.text).toMatch(/^fetched 22\.4 MB; its hash is the expected one\nkept in \S+/m);
    expect(first.text).toContain(join(folder, "cache", "graphform", "engine"));
    const kept = readdirSync(join(folder, "cache", "graphform", "engine"));
    expect(kept.filter((name) => name.startsWith("."))).toEqual([]);
    expect(graphform("platform", "setup").text).toMatch(/^databases run on .*\nnothing to fetch /);

    try {
      expect(graphform("platform", "up", "--detach")).toMatchObject({ code: 0 });
      expect(graphform("apply", "--auto-approve")).toMatchObject({ code: 0 });
      const [host = "", port = ""] = graphform("output", "endpoint", "--raw").text.trim().split(":");
      const socket = { host, port: Number(port) };
      const client = createClient({ username: "app", password: "a-password-of-tests", socket });
      await client.connect();
      const answer = await client.sendCommand(["GRAPH.QUERY", "shop", "CREATE (:Item) RETURN 'made'"]);
      client.destroy();
      expect(JSON.stringify(answer)).toContain("made");
    } finally {
      expect(graphform("platform", "down")).toMatchObject({ code: 0 });
    }
  });
});

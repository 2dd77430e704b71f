import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { temporaryFolder } from "./support/temporary-folder.ts";

const root = join(import.meta.dirname, "..");
const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const library = join(inject("packaged"), "dist", "index.js");
let folder: string;

/** A clone that nobody has built: the launcher must get by without anything beside it. */
beforeAll(() => {
  folder = temporaryFolder("launcher");
  for (const path of ["bin", "package.json"])
    cpSync(join(root, path), join(folder, path), { recursive: true });
});

function launch(args: readonly string[], nodeOptions: readonly string[] = []): object {
  const program = [...nodeOptions, join(folder, "bin", "graphform.js"), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, program, { encoding: "utf8" });
  return { status, stdout, stderr };
}

/** Makes Node say that it is another one. */
function pretending(node: string): readonly string[] {
  const versions = `{ ...process.versions, node: ${JSON.stringify(node)} }`;
  const code = `Object.defineProperty(process, "versions", { value: ${versions} });`;
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

describe("the library", () => {
  it("refuses an old Node with the sentence of the launcher, before anything else of it runs", () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [...pretending("20.20.2"), "--input-type=module", "-e", `await import(${JSON.stringify(library)})`],
      { encoding: "utf8" },
    );
    expect(status).toBe(1);
    expect(stderr).toContain(
      "Error: this is Node.js 20.20.2, and graphform needs 22.19 or newer: `npm install",
    );
    expect(stderr.length).toBeLessThan(2000);
    expect(readFileSync(library, "utf8")).toMatch(/^import"\.\.\/bin\/check-node\.js";\n/);
  });
});

describe("the launcher", () => {
  it.each(["--version", "-V"])("answers %s by itself", (option) => {
    expect(launch([option])).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("says how to build what is not built", () => {
    const stderr = "graphform: this clone is not built yet: run `npm run build` first\n";
    expect(launch(["plan"])).toEqual({ status: 1, stdout: "", stderr });
  });

  it.each([
    ["an old one", "18.20.4"],
    ["the one before the floor", "22.18.0"],
    ["a year with a smaller minor number", "21.99.0"],
  ])("refuses %s with one sentence", (_, node) => {
    const stderr = `graphform: this is Node.js ${node}, and graphform needs 22.19 or newer: \`npm install --save-dev node@24\` puts one beside it (with --ignore-scripts, \`npm rebuild node --ignore-scripts=false\` does), and \`npx graphform\` uses that one (a clone has it already)\n`;
    expect(launch(["--version"], pretending(node))).toEqual({ status: 1, stdout: "", stderr });
  });

  it.each([
    ["the floor", "22.19.0"],
    ["a newer one", "26.0.0"],
  ])("takes %s", (_, node) => {
    expect(launch(["--version"], pretending(node))).toMatchObject({ status: 0, stdout: `${version}\n` });
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "ends with 130 at a %s that nobody listens for",
    async (signal) => {
      const clone = temporaryFolder("launcher");
      cpSync(folder, clone, { recursive: true });
      mkdirSync(join(clone, "dist"));
      writeFileSync(
        join(clone, "dist", "cli.js"),
        'console.log("here"); setInterval(() => undefined, 1000);',
      );
      const child = spawn(process.execPath, [join(clone, "bin", "graphform.js"), "plan"]);
      child.stdout.once("data", () => child.kill(signal));
      const ended = await new Promise((resolve) => {
        child.once("close", (code, killedBy) => resolve({ code, killedBy }));
      });
      expect(ended).toEqual({ code: 130, killedBy: null });
    },
  );

  it.each([
    ["while a pipe is opened", 'readFile(process.argv[2]); console.log("here");'],
    ["just before a pipe is opened", 'process.kill(process.pid, "SIGTERM"); readFile(process.argv[2]);'],
  ])("ends with 130 at a signal %s that nothing writes to", async (_, reads) => {
    const clone = temporaryFolder("launcher");
    cpSync(folder, clone, { recursive: true });
    mkdirSync(join(clone, "dist"));
    writeFileSync(join(clone, "dist", "cli.js"), `import { readFile } from "node:fs/promises"; ${reads}`);
    const pipe = join(clone, "pipe");
    spawnSync("mkfifo", [pipe]);
    const child = spawn(process.execPath, [join(clone, "bin", "graphform.js"), pipe]);
    child.stdout.once("data", () => child.kill("SIGTERM"));
    const ended = await new Promise((resolve) => {
      child.once("close", (code, killedBy) => resolve({ code, killedBy }));
    });
    expect(ended).toEqual({ code: 130, killedBy: null });
  });
});

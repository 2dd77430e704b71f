import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { hasModulePackage, modulePackage } from "../../../src/platform/engine/setup/engine-cache.ts";
import { fetchModule, newPackages, withBackports } from "../../../src/platform/engine/setup/fetch.ts";
import { setupEngine } from "../../../src/platform/engine/setup/setup-engine.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let folder = "";
beforeAll(async () => {
  folder = temporaryFolder("setup");
});

describe("the archives that packages come from", () => {
  const stanza = (suites: string, more = ""): string =>
    `Types: deb\nURIs: http://archive.test/debian\nSuites: ${suites}\nComponents: main\n${more}`;

  it.each([
    [
      "a stanza gets the backports",
      "a.sources",
      stanza("bookworm bookworm-updates"),
      stanza("bookworm bookworm-backports bookworm-updates"),
    ],
    [
      "comments inside a stanza go",
      "a.sources",
      `${stanza("bookworm")}# snapshot\n`,
      stanza("bookworm bookworm-backports"),
    ],
    [
      "keys and options stay",
      "a.sources",
      stanza("bookworm", "Signed-By: /keys/a.gpg\n"),
      stanza("bookworm bookworm-backports", "Signed-By: /keys/a.gpg\n"),
    ],
    [
      "present backports are enough",
      "a.sources",
      stanza("bookworm bookworm-backports"),
      stanza("bookworm bookworm-backports"),
    ],
    ["a stanza that is off", "a.sources", stanza("bookworm", "Enabled: no\n"), undefined],
    ["a stanza of sources alone", "a.sources", stanza("bookworm").replace("deb", "deb-src"), undefined],
    ["another release", "a.sources", stanza("trixie"), undefined],
    ["another publisher", "a.sources", stanza("bookworm").replace("main", "stable"), undefined],
    [
      "a line gets the backports",
      "a.list",
      "deb http://archive.test/debian bookworm main\n",
      "deb http://archive.test/debian bookworm main\ndeb http://archive.test/debian bookworm-backports main\n",
    ],
    [
      "a line with options",
      "a.list",
      "deb [signed-by=/k.gpg arch=amd64] http://archive.test/d bookworm main contrib\n",
      "deb [signed-by=/k.gpg arch=amd64] http://archive.test/d bookworm main contrib\ndeb [signed-by=/k.gpg arch=amd64] http://archive.test/d bookworm-backports main contrib\n",
    ],
    ["a line that is commented out", "a.list", "# deb http://archive.test/debian bookworm main\n", undefined],
    ["a line of another publisher", "a.list", "deb http://other.test bookworm stable\n", undefined],
    ["an empty file", "a.list", "", undefined],
  ])("%s", (_, name, text, expected) => {
    const files = withBackports([{ name, text }], "bookworm");
    expect(files.map((file) => file.text)).toEqual(expected === undefined ? [] : [expected]);
  });

  it("get the backports once, from the first that has the release", () => {
    const files = withBackports(
      [
        { name: "security.sources", text: stanza("bookworm-security") },
        { name: "one.list", text: "deb http://archive.test/debian bookworm main\n" },
        { name: "two.list", text: "deb http://mirror.test/debian bookworm main\n" },
      ],
      "bookworm",
    );
    expect(
      files
        .map((file) => file.text)
        .join("")
        .match(/bookworm-backports/g),
    ).toHaveLength(1);
    expect(files).toHaveLength(3);
  });
});

describe("what is downloaded", () => {
  const simulation = [
    "Inst libjemalloc2 (5.3.0-1 Debian:12/stable [amd64])",
    "Inst libssl3 [3.0.15] (3.0.17 Debian:12/stable [amd64])",
    "Inst valkey-tools (8.0.1+dfsg1 Debian Backports [amd64])",
    "Inst adduser (3.134 Debian [all])",
    "Inst valkey-server (8.0.1+dfsg1 Debian Backports [amd64])",
    "Conf valkey-server (8.0.1+dfsg1 Debian Backports [amd64])",
  ].join("\n");

  it("is what is missing of the server's own packages and of libraries, in the version that was chosen", () => {
    expect(newPackages(simulation, ["valkey-server"])).toEqual([
      "libjemalloc2=5.3.0-1",
      "valkey-tools=8.0.1+dfsg1",
      "valkey-server=8.0.1+dfsg1",
    ]);
  });
});

describe("the set-up", () => {
  /** Stand-ins for apt-get and dpkg: what they unpack is a server that prints its version and nothing else. */
  async function standIns(name: string): Promise<NodeJS.ProcessEnv> {
    const bin = join(folder, name, "bin");
    await mkdir(bin, { recursive: true });
    const calls = join(folder, name, "calls");
    const scripts = {
      "apt-get": `echo "$@" >> ${calls}
case "$*" in
  *"-s install"*) echo "Inst valkey-server (9.9.9 Test [amd64])" ;;
  *download*) echo > valkey-server_9.9.9_amd64.deb ;;
esac`,
      dpkg: `mkdir -p "$3/usr/bin"
printf '#!/bin/sh\\necho "Valkey server v=9.9.9 sha=0"\\n' > "$3/usr/bin/valkey-server"
chmod 755 "$3/usr/bin/valkey-server"`,
    };
    for (const [program, script] of Object.entries(scripts)) {
      await writeFile(join(bin, program), `#!/bin/sh\n${script}\n`);
      await chmod(join(bin, program), 0o755);
    }
    return { PATH: `${bin}:/usr/bin:/bin`, XDG_CACHE_HOME: join(folder, name, "cache"), HOME: folder };
  }

  it("fetches a server into the cache, also when two do it at once, and leaves nothing else there", async () => {
    const env = await standIns("twice");
    const both = await Promise.all([setupEngine(env), setupEngine(env)]);
    for (const found of both)
      expect("reason" in found && found.reason).toMatch(/valkey-server from the set-up does not work/);
    expect(await readdir(join(folder, "twice", "cache", "graphform", "engine"))).toEqual([
      `valkey-9.9.9-${process.arch}`,
    ]);
  });

  it("does not fetch again what is there", async () => {
    const env = await standIns("again");
    await setupEngine(env);
    const calls = join(folder, "again", "calls");
    const before = await readFile(calls, "utf8");
    await setupEngine(env);
    expect(await readFile(calls, "utf8")).toBe(before);
    expect(before).toContain("Dir::State::Lists=");
    expect(before).not.toContain("Dir::State::Lists=/var");
  });

  it("does not fetch where a server is asked for", async () => {
    const env = { ...(await standIns("asked")), GRAPHFORM_ENGINE: "/no/such/server" };
    const found = await setupEngine(env);
    expect("reason" in found && found.reason).toContain("/no/such/server, as asked for,");
    await expect(readFile(join(folder, "asked", "calls"))).rejects.toThrow("ENOENT");
  });

  it("says what it tried where there is no package manager", async () => {
    const env = {
      PATH: join(folder, "nothing"),
      XDG_CACHE_HOME: join(folder, "nothing", "cache"),
      HOME: folder,
    };
    const found = await setupEngine(env);
    expect("reason" in found && found.reason).toMatch(
      /no database server can be used: .*fetching one was tried: apt-get failed: there is no such program/,
    );
    // Fetching again would not help.
    expect("hint" in found && found.hint).toMatch(/^install valkey-server or redis-server/);
  });

  it.each([
    ["none can be had", { GRAPHFORM_ENGINE: "/no/such/server" }, 1],
    ["none is wanted", { GRAPHFORM_ENGINE: "none" }, 0],
  ])("as a program prints one line without a stack trace where %s", async (_, more, code) => {
    const script = join(import.meta.dirname, "../../../scripts/setup-engine.ts");
    const ended = await new Promise<{ code: unknown; text: string }>((resolve) => {
      execFile(process.execPath, [script], { env: { ...process.env, ...more } }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, text: stdout + stderr }),
      );
    });
    expect(ended.code).toBe(code);
    expect(ended.text).toMatch(/^graphform: .*\n$/);
  });
});

describe("the graph module", () => {
  it("is pinned to the version and the hash of the lock file", async () => {
    const lock = JSON.parse(await readFile(join(import.meta.dirname, "../../../package-lock.json"), "utf8"));
    const { name, version, integrity, system, processor } = modulePackage;
    expect(lock.packages[`node_modules/${name}`]).toMatchObject({
      version,
      integrity,
      os: [system],
      cpu: [processor],
    });
    expect(hasModulePackage({ platform: "linux", arch: "x64" })).toBe(true);
    expect(hasModulePackage({ platform: "darwin", arch: "x64" })).toBe(false);
    expect(hasModulePackage({ platform: "linux", arch: "arm64" })).toBe(false);
  });

  /** A stand-in for npm, and the cache that a download with it would go to. */
  async function withNpm(
    name: string,
    script: string | undefined,
  ): Promise<{ readonly env: NodeJS.ProcessEnv; readonly cache: string }> {
    const bin = join(folder, name, "bin");
    await mkdir(bin, { recursive: true });
    if (script !== undefined) {
      await writeFile(join(bin, "npm"), `#!/bin/sh\n${script}\n`);
      await chmod(join(bin, "npm"), 0o755);
    }
    const PATH = script === undefined ? bin : `${bin}:/usr/bin:/bin`;
    return { env: { PATH, HOME: folder }, cache: join(folder, name, "cache") };
  }

  const config = `case "$2/$3" in
  get/registry) echo https://someone:secret@registry.test/npm/; exit ;;
  get/*) echo undefined; exit ;;
esac`;

  it.each([
    [
      "is another file than the pinned one",
      `${config}\nfor last; do :; done; echo something else > "$last/module.tgz"`,
      /gave another file as @falkordblite\/linux-x64@\S+: sha512-\S+, not sha512-0X4O\S+; it is not used$/,
    ],
    [
      "is not in the registry",
      `${config}\necho "npm error code E404" >&2; echo "npm error 404 Not Found - GET https://registry.test" >&2; exit 1`,
      /^npm failed: 404 Not Found - GET/,
    ],
    ["cannot be had without npm", undefined, /^npm failed: there is no such program on this machine$/],
  ])("that %s is an error, and nothing is kept", async (name, script, message) => {
    const { env, cache } = await withNpm(name, script);
    const lines: string[] = [];
    await expect(fetchModule(cache, { env, report: (line) => lines.push(line) })).rejects.toThrow(message);
    expect(await readdir(cache).catch(() => [])).toEqual([]);
    expect(lines.join()).not.toContain("secret");
    if (script !== undefined) expect(lines[0]).toContain("from registry.test with npm");
  });
});

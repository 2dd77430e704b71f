import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { cachedServer, cachedServers, engineCache } from "../../../src/platform/engine/setup/engine-cache.ts";
import { findEngine } from "../../../src/platform/engine/setup/setup-engine.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let folder = "";
beforeAll(async () => {
  folder = temporaryFolder("find");
});

/** A program that prints a line and ends. */
async function program(path: string, line: string, code = 0): Promise<string> {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho '${line}'\nexit ${code}\n`);
  await chmod(path, 0o755);
  return path;
}

/** An environment in which nothing is found but what a test puts there. */
function bare(name: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { PATH: join(folder, name, "bin"), XDG_CACHE_HOME: join(folder, name, "cache"), ...more };
}

async function reasonIn(env: NodeJS.ProcessEnv): Promise<string> {
  const found = await findEngine(env);
  return found.engine === undefined ? `${found.reason}; ${found.hint}` : `found ${found.engine.why}`;
}

describe("the engine of this machine", () => {
  it("is found, is new enough and says why it was chosen", async () => {
    const found = await findEngine();
    expect(found.engine?.name).toMatch(/^(valkey|redis)$/);
    expect(Number.parseFloat(found.engine?.version ?? "0")).toBeGreaterThanOrEqual(7.2);
    expect(found.engine?.why).not.toBe("");
  });

  it("leaves nothing of the trial behind", async () => {
    const trials = async (): Promise<number> =>
      (await readdir(tmpdir())).filter((name) => name.startsWith(`graphform-trial-${process.pid}-`)).length;
    await findEngine();
    expect(await trials()).toBe(0);
  });
});

describe("an engine that is asked for", () => {
  it.each(["option", "environment"])("is none, by %s", async (by) => {
    const env = bare("none", by === "environment" ? { GRAPHFORM_ENGINE: "none" } : {});
    const found = await findEngine(env, by === "option" ? "none" : undefined);
    expect(found).toEqual({ engine: undefined, reason: "none was asked for" });
  });

  it.each([
    [
      "is missing",
      "/no/such/server",
      undefined,
      /\/no\/such\/server, as asked for, does not run here: there is no such file/,
    ],
    ["is something else", "other", "GNU coreutils", /is no valkey or redis server/],
    [
      "is too old",
      "old",
      "Redis server v=7.0.15 sha=0",
      /is Redis 7\.0\.15; the graph module needs 7\.2 or newer/,
    ],
    [
      "does not start",
      "fake",
      "Valkey server v=8.0.1 sha=0",
      /does not work with .*: the database server did not start: /,
    ],
  ])("and %s is not replaced by another one", async (_, name, line, message) => {
    const file = line === undefined ? name : await program(join(folder, "asked", name), line);
    const reason = await reasonIn({ ...process.env, GRAPHFORM_ENGINE: file });
    expect(reason).toMatch(message);
    expect(reason).toContain("GRAPHFORM_ENGINE=none");
  });

  it("is taken although another one would be found", async () => {
    const [own] = cachedServers(engineCache(process.env));
    const usual = await findEngine();
    if (own === undefined) return expect(usual.engine).toBeDefined();
    const found = await findEngine(process.env, own.file);
    expect(found.engine?.why).toBe(`${own.file}, as asked for,`);
  });
});

describe("where there is none", () => {
  it("says what was tried and how to get one", async () => {
    const env = bare("empty");
    await program(join(folder, "empty", "bin", "redis-server"), "Redis server v=6.0.16 sha=0");
    const reason = await reasonIn(env);
    expect(reason).toMatch(/^no database server can be used: /);
    expect(reason).toContain("redis-server on the PATH is Redis 6.0.16");
    expect(reason).toMatch(/; run: graphform platform setup$/);
  });

  it.each([
    [
      "names a file that is not there",
      { GRAPHFORM_MODULE: "/no/such/module.so" },
      "/no/such/module.so, which GRAPHFORM_MODULE names",
    ],
    ["is no module", { GRAPHFORM_MODULE: "/bin/sh" }, "does not work with /bin/sh"],
  ])("or a graph module that %s, says that", async (_, env, message) => {
    expect(await reasonIn({ ...process.env, ...env })).toContain(message);
  });
});

describe("the cache", () => {
  it("is below XDG_CACHE_HOME, or in the home folder", () => {
    expect(engineCache({ XDG_CACHE_HOME: "/caches" })).toBe("/caches/graphform/engine");
    expect(engineCache({ XDG_CACHE_HOME: "" })).toMatch(/\/\.cache\/graphform\/engine$/);
  });

  it("gives the newest server first, with its libraries; unfinished folders are not there", async () => {
    const cache = join(folder, "cache");
    await program(join(cache, "valkey-8.0.9-x64", "usr", "bin", "valkey-server"), "");
    await program(join(cache, "valkey-8.0.10-x64", "usr", "bin", "valkey-server"), "");
    await mkdir(join(cache, "valkey-8.0.10-x64", "usr", "lib", "x86_64-linux-gnu"), { recursive: true });
    await program(join(cache, ".fetching-abc", "usr", "bin", "valkey-server"), "");
    await mkdir(join(cache, "empty"));
    expect(cachedServers(cache)).toEqual([
      {
        file: join(cache, "valkey-8.0.10-x64/usr/bin/valkey-server"),
        libraries: [join(cache, "valkey-8.0.10-x64/usr/lib/x86_64-linux-gnu")],
      },
      { file: join(cache, "valkey-8.0.9-x64/usr/bin/valkey-server"), libraries: [] },
    ]);
    expect(cachedServer(join(cache, "empty"))).toBeUndefined();
    expect(cachedServers(join(cache, "nowhere"))).toEqual([]);
  });
});

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prepareDatabase } from "../../../src/controller/database/migrations.ts";
import { type EmbeddedPostgres, startEmbedded } from "../../../src/controller/embedded.ts";
import { unpackServer } from "../../../src/controller/embedded-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { openFolder } from "../../support/unprivileged.ts";

const program = fileURLToPath(new URL("../support/embedded-process.ts", import.meta.url));

/** A folder under one that the account of the server may enter. */
function newFolder(): string {
  return join(openFolder("embedded"), "db");
}

async function ask(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query({ text, rowMode: "array" });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

function pidOf(folder: string): number {
  return Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0]);
}

describe("the embedded PostgreSQL", () => {
  let folder: string;
  let running: EmbeddedPostgres;

  beforeAll(async () => {
    folder = newFolder();
    running = await startEmbedded(folder, () => undefined);
  });
  afterAll(() => running.stop());

  it("listens on a socket alone, asks for a password, and keeps its folder to itself", async () => {
    expect(await ask(running.url, "SHOW listen_addresses")).toBe("");
    expect(await ask(running.url, "SHOW password_encryption")).toBe("scram-sha-256");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "password")).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "database-url")).mode & 0o777).toBe(0o600);
    await expect(ask(running.url.replace(/:[0-9a-f]+@/, ":wrong@"), "SELECT 1")).rejects.toThrow(/password/);
    const rules = readFileSync(join(folder, "data", "pg_hba.conf"), "utf8").match(/^(local|host).*$/gm) ?? [];
    expect(rules.filter((rule) => !rule.endsWith("scram-sha-256"))).toEqual([]);
  });

  it("runs as an account that is not root", () => {
    expect(statSync(`/proc/${pidOf(folder)}`).uid).not.toBe(0);
  });

  it("refuses a second start on its folder, and goes on", async () => {
    await expect(startEmbedded(folder, () => undefined, 500)).rejects.toMatchObject({
      code: "embedded-running",
    });
    expect(await ask(running.url, "SELECT 1")).toBe(1);
  });

  it("lets three first starts prepare its database at once", async () => {
    const starts = await Promise.all([1, 2, 3].map(() => prepareDatabase(running.url)));
    expect(starts.filter((done) => done.length > 0)).toHaveLength(1);
    expect(await ask(running.url, "SELECT count(*)::int FROM graphform.manifests")).toBe(0);
    expect(await ask(running.url, "SELECT count(*)::int FROM graphform.states")).toBe(0);
    expect(await prepareDatabase(running.url)).toEqual([]);
    // A later version was here: this one works beside it.
    await ask(running.url, "INSERT INTO graphform.migrations VALUES ('9999-later', '2030-01-01')");
    expect(await prepareDatabase(running.url)).toEqual([]);
  });
});

describe("the life of an embedded PostgreSQL", () => {
  const folder = newFolder();

  it("ends with its process, however that ends, and starts again on what was written", async () => {
    const child = spawn(process.execPath, [program, folder], { stdio: ["ignore", "pipe", "inherit"] });
    const url = await new Promise<string>((ready) =>
      child.stdout.once("data", (text) => ready(`${text}`.trim())),
    );
    await ask(url, "CREATE TABLE kept AS SELECT 7 AS number");
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await gone;
    // At once: the server that was killed may still be ending.
    const again = await startEmbedded(folder, () => undefined);
    expect(await ask(again.url, "SELECT number FROM kept")).toBe(7);
    await again.stop();
    expect(existsSync(join(folder, "data", "postmaster.pid"))).toBe(false);
  });

  it("says that it has ended, and what its last words were", async () => {
    const running = await startEmbedded(folder, () => undefined);
    process.kill(pidOf(folder), "SIGQUIT");
    await expect(running.ended).resolves.toMatchObject({ code: "embedded-ended" });
  });

  it("starts although a file names a process that lives, for its lock tells that the server is gone", async () => {
    writeFileSync(
      join(folder, "data", "postmaster.pid"),
      `${process.pid}\n${join(folder, "data")}\n1\n5432\n${join(folder, "socket")}\n\n0 0\nready\n`,
    );
    const again = await startEmbedded(folder, () => undefined);
    expect(await ask(again.url, "SELECT 1")).toBe(1);
    await again.stop();
  });
});

describe("an embedded PostgreSQL that cannot be had", () => {
  it("refuses a folder of another major version, with the way", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "data"), { recursive: true });
    writeFileSync(join(folder, "data", "PG_VERSION"), "17\n");
    await expect(startEmbedded(folder, () => undefined)).rejects.toMatchObject({
      code: "embedded-version",
      hint: expect.stringContaining("pg_dump"),
    });
  });

  it("refuses a folder whose password is gone, and makes no other one", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "data"), { recursive: true });
    writeFileSync(join(folder, "data", "PG_VERSION"), "18\n");
    await expect(startEmbedded(folder, () => undefined)).rejects.toMatchObject({ code: "embedded-password" });
    expect(existsSync(join(folder, "password"))).toBe(false);
  });

  it("refuses a folder whose socket would have too long a path", async () => {
    const folder = join(tmpdir(), "x".repeat(90));
    await expect(startEmbedded(folder, () => undefined)).rejects.toMatchObject({ code: "embedded-path" });
    expect(existsSync(folder)).toBe(false);
  });

  it("refuses a folder that its account cannot enter", async () => {
    if (process.getuid?.() !== 0) return;
    const closed = openFolder("closed");
    mkdirSync(join(closed, "root"), { mode: 0o700 });
    await expect(startEmbedded(join(closed, "root", "db"), () => undefined)).rejects.toMatchObject({
      code: "embedded-account",
    });
  });
});

it("several first starts at once unpack the server once, whole, in place of one that was cut short", async () => {
  const [home, servers] = [temporaryFolder("package"), temporaryFolder("servers")];
  const native = join(home, "native");
  const names = Array.from({ length: 200 }, (_, at) => `file-${at}`);
  for (const part of ["bin", "lib", "share"]) {
    mkdirSync(join(native, part), { recursive: true });
    for (const name of names) writeFileSync(join(native, part, name), part);
  }
  writeFileSync(join(home, "package.json"), '{ "version": "18.4.0" }');
  writeFileSync(
    join(native, "pg-symlinks.json"),
    '[{ "source": "native/lib/file-0", "target": "native/lib/link" }]',
  );
  mkdirSync(join(servers, "partial", "bin"), { recursive: true });
  writeFileSync(join(servers, "partial", "bin", "of-one-that-was-killed"), "");
  const all = await Promise.all([1, 2, 3, 4].map(() => unpackServer(native, servers, undefined)));
  expect(new Set(all.map(({ folder }) => folder))).toEqual(new Set([join(servers, "18.4.0")]));
  expect(readdirSync(servers).sort()).toEqual(["18.4.0", "lock"]);
  for (const part of ["bin", "lib", "share"])
    expect(readdirSync(join(servers, "18.4.0", part)).sort()).toEqual(
      [...names, ...(part === "lib" ? ["link"] : [])].sort(),
    );
  expect(readFileSync(join(servers, "18.4.0", "lib", "link"), "utf8")).toBe("lib");
});

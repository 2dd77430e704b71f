import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { hasEndedWithin, isRunning, pinned, signalTo } from "../../../src/files/process-identity.ts";
import { findServers, serversOf } from "../../../src/platform/engine/server-processes.ts";
import { asOperator, fill, prepare, until } from "./fixture.ts";

const ground = prepare();

let children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
});

async function bystander(cwd: string, program: string, ...words: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program, words, { cwd, stdio: "ignore" });
  await once(child, "spawn");
  children.push(child);
  return child;
}

const isAlive = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

describe("a database server", () => {
  it("is known by its folder and its arguments; who names its files, or works in its folder, is none", async () => {
    const spec = ground.spec({ nodes: 2 });
    const database = await ground.engine.start(spec);
    const folder = join(spec.dir, "node-0");
    const config = join(folder, "server.conf");
    const node = process.execPath;
    const others = [
      await bystander("/tmp", "tail", "-f", config),
      await bystander(join(folder, "data"), node, "-e", "setInterval(() => {}, 1e5)", config),
      await bystander("/tmp", node, "-e", "setInterval(() => {}, 1e5)", spec.dir, `${spec.dir}/`),
      await bystander(folder, "sleep", "1000"),
    ];
    expect(serversOf(folder).map(({ pid }) => pid)).toEqual([database.nodes()[0]?.pid]);
    await ground.engine.destroy(spec.dir);
    expect(findServers().filter((server) => server.folder.startsWith(spec.dir))).toEqual([]);
    expect(others.map(isAlive)).toEqual(others.map(() => true));
  });

  it("is found with the children that it forked, by whatever path the folder is named", async () => {
    const spec = ground.spec();
    const link = join(ground.folder, "link");
    await symlink(ground.folder, link);
    const dir = spec.dir.replace(ground.folder, link);
    const database = await ground.engine.start({ ...spec, dir });
    await fill(database, 2000);
    await asOperator(spec, database, ["CONFIG", "SET", "rdb-key-save-delay", "2000000"]);
    await asOperator(spec, database, ["BGSAVE"]);
    const folder = join(spec.dir, "node-0");
    await until(() => serversOf(folder).some(({ isChild }) => isChild));
    expect(serversOf(folder).map(({ isChild }) => isChild)).toEqual([false, true]);
    await ground.engine.destroy(dir);
    expect(serversOf(folder)).toEqual([]);
  });
});

describe("a child that was forked a moment ago", () => {
  it("is told from its server, although it has no title of its own yet", async () => {
    const folder = join(ground.folder, "forked", "node-0");
    const config = join(folder, "server.conf");
    await mkdir(join(folder, "data"), { recursive: true });
    execFileSync("mkfifo", [join(folder, "never")]);
    // A shell over this file is started as a server is, and its subshell has its arguments and its folder.
    await writeFile(config, "read -r line < ../never & wait\n");
    const server = await bystander(join(folder, "data"), "sh", config);
    await until(() => serversOf(folder).length === 2);
    const found = serversOf(folder);
    expect(found.map(({ isChild }) => isChild)).toEqual([false, true]);
    expect(found[0]?.pid).toBe(server.pid);
    await ground.engine.destroy(join(ground.folder, "forked"));
    expect(serversOf(folder)).toEqual([]);
  });
});

describe("a process that is told from a later one of its number", () => {
  it("gets no signal that is meant for an earlier one", async () => {
    const child = await bystander("/tmp", "sleep", "1000");
    const own = pinned(child.pid ?? 0);
    expect(own.started).not.toBe("");
    const earlier = { ...own, started: String(Number(own.started) - 1) };
    signalTo(earlier, "SIGKILL");
    signalTo({ ...own, started: "" }, "SIGKILL");
    expect([isRunning(earlier), isRunning(own)]).toEqual([false, true]);
    signalTo(own, "SIGKILL");
    expect(await hasEndedWithin(own, 5000)).toBe(true);
  });
});

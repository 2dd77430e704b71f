import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRunning, pinned } from "../../src/files/process-identity.ts";
import { platformUp } from "../support/local-platform.ts";
import { openWorkspace, processesOf, until, type Workspace } from "../support/workspace.ts";

let user: Workspace;
let bystanders: ChildProcess[] = [];

beforeEach(() => {
  user = openWorkspace();
});
afterEach(async () => {
  for (const child of bystanders) child.kill("SIGKILL");
  bystanders = [];
  await user.close();
});

const forever = "setInterval(() => undefined, 60000)";
const platformDir = ".graphform/platform";
const idle = "nothing is running here";

/** Starts a process that has nothing to do with a platform. */
async function bystander(cwd: string, ...words: readonly string[]): Promise<ChildProcess> {
  const [program = "", ...args] = words;
  const child = spawn(program, args, { cwd, stdio: "ignore" });
  await once(child, "spawn");
  bystanders.push(child);
  return child;
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

describe("platform down", () => {
  it("ends its platform and databases, and nobody whose arguments only name their paths", async () => {
    const first = await platformUp(user, "--delay", "5");
    const manifest =
      "apiVersion: graphform/v1\nname: m\ninstances:\n  a: { tier: free, component: free, cloudProvider: aws, region: us-east-1 }\n";
    user.write("graphform.yaml", manifest);
    expect((await user.run("apply", "--auto-approve")).code).toBe(0);
    const config = user.files().find((file) => file.endsWith("/node-0/server.conf")) ?? "none";
    const node = process.execPath;
    const others = [
      await bystander("/tmp", node, "-e", forever, "--", join(user.dir, config)),
      await bystander(
        "/tmp",
        node,
        "-e",
        forever,
        "--",
        "/x/platform/main.js",
        "--data-dir",
        join(user.dir, platformDir),
      ),
      await bystander(join(user.dir, config, "..", "data"), node, "-e", forever, "server.conf"),
      await bystander("/tmp", "tail", "-f", join(user.dir, config)),
    ];
    const before = processesOf(user.dir).length;
    expect(before).toBeGreaterThanOrEqual(2 + 3);
    expect(await user.run("platform", "down")).toMatchObject({
      code: 0,
      err: expect.stringContaining("is down"),
    });
    expect(isRunning(pinned(first.pid))).toBe(false);
    expect(others.map(isAlive)).toEqual(others.map(() => true));
    const left = processesOf(user.dir);
    expect(left.filter((pid) => !others.some((child) => child.pid === pid))).toEqual([]);
  });

  it.each([
    ["a process that has its number now", (pid: number, lock: object) => ({ ...lock, pid })],
    ["a process of another boot", (_: number, lock: object) => ({ ...lock, machine: "another one" })],
    ["another folder", (_: number, lock: object) => ({ ...lock, folder: "1:2" })],
  ])("takes the word of no lock that names %s", async (_, forged) => {
    const first = await platformUp(user, "--engine", "none");
    const other = await bystander("/tmp", process.execPath, "-e", forever, "platform/main.js");
    const file = join(user.dir, platformDir, "platform.lock");
    const lock = readFileSync(file, "utf8");
    writeFileSync(file, JSON.stringify(forged(other.pid ?? 0, JSON.parse(lock))));
    const down = await user.run("platform", "down");
    expect(isAlive(other)).toBe(true);
    expect(down).toMatchObject({ code: 0, err: "no local platform is running here\n" });
    // It finds out that its folder is not its own any more.
    await until(() => (isRunning(pinned(first.pid)) ? undefined : true), "the end of the platform");
  });

  it("in a copy of the project leaves the platform of the original alone, and a platform starts in the copy", async () => {
    const first = await platformUp(user, "--engine", "none");
    const copy = openWorkspace();
    try {
      cpSync(join(user.dir, ".graphform"), join(copy.dir, ".graphform"), { recursive: true });
      expect(await copy.run("platform", "status")).toMatchObject({ code: 1 });
      expect(await copy.run("platform", "down")).toMatchObject({
        err: "no local platform is running here\n",
      });
      const second = await platformUp(copy, "--engine", "none");
      expect(second.pid).not.toBe(first.pid);
      expect(await copy.run("platform", "down")).toMatchObject({ code: 0 });
      expect(await user.run("platform", "status")).toMatchObject({
        code: 0,
        out: expect.stringContaining(first.url),
      });
    } finally {
      await copy.close();
    }
  });
});

describe("platform up", () => {
  it("of three at once starts one; the others name it, and no file of theirs stays", async () => {
    const up = () => user.run("platform", "up", "--detach", "--engine", "none");
    const runs = await Promise.all([up(), up(), up()]);
    const [won, ...lost] = runs.toSorted((one, other) => Number(one.code) - Number(other.code));
    const [, url] = /ready at (\S+),/.exec(won?.out ?? "") ?? [];
    expect([won?.code, url]).toEqual([0, expect.stringContaining("http://127.0.0.1:")]);
    for (const { code, err } of lost) {
      expect(code).toBe(1);
      expect(err).toContain(`a platform is running here already, at ${url}`);
    }
    expect(user.files().filter((file) => file.includes("platform.lock."))).toEqual([]);
  });
});

describe("a platform that runs", () => {
  it("has nothing of its caller's environment but what it needs, and neither have its databases", async () => {
    user.env["AWS_SECRET_ACCESS_KEY"] = "not-for-a-daemon";
    user.env["GRAPHFORM_PASSWORD"] = "not-for-a-daemon-either";
    const { pid } = await platformUp(user, "--delay", "5");
    // What the environment says to sign in with goes before what the platform wrote down.
    user.env["GRAPHFORM_PASSWORD"] = undefined;
    user.write(
      "graphform.yaml",
      "apiVersion: graphform/v1\nname: m\ninstances:\n  a: { tier: free, component: free, cloudProvider: aws, region: us-east-1 }\n",
    );
    expect((await user.run("apply", "--auto-approve")).code).toBe(0);
    const pids = processesOf(user.dir);
    expect(pids).toContain(pid);
    expect(pids.length).toBeGreaterThan(1);
    for (const each of pids) {
      const names = readFileSync(`/proc/${each}/environ`, "utf8")
        .split("\0")
        .map((line) => line.split("=")[0]);
      expect(names.filter((name) => /AWS|PASSWORD/.test(name ?? ""))).toEqual([]);
      expect(names.length).toBeLessThan(12);
    }
  });

  it("ends, with its databases, when its data folder is removed, and a new one starts in its place", async () => {
    const { pid } = await platformUp(user, "--delay", "5");
    user.write(
      "graphform.yaml",
      "apiVersion: graphform/v1\nname: m\ninstances:\n  a: { tier: free, component: free, cloudProvider: aws, region: us-east-1 }\n",
    );
    expect((await user.run("apply", "--auto-approve")).code).toBe(0);
    rmSync(join(user.dir, ".graphform"), { recursive: true, force: true });
    mkdirSync(join(user.dir, ".graphform"));
    const second = await platformUp(user, "--engine", "none");
    expect(second.pid).not.toBe(pid);
    await until(() => (isRunning(pinned(pid)) ? undefined : true), "the end of the platform");
    await until(
      () => (processesOf(user.dir).length === 1 ? true : undefined),
      `the databases to end: ${idle}`,
    );
    expect(await user.run("platform", "status")).toMatchObject({
      code: 0,
      out: expect.stringContaining(second.url),
    });
  });
});

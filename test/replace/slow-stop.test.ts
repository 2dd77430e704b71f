import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, platformUp } from "../support/local-platform.ts";
import { login, movedManifest, startMoved } from "../support/moved-database.ts";
import { numbersAt, writeNumbers } from "../support/number-writer.ts";
import { type Ran, until, type Workspace } from "../support/workspace.ts";

const holder = fileURLToPath(new URL("../support/kill-at-phase.js", import.meta.url));
const cutover = ["apply", "--auto-approve", "--cutover", "instances.orders"] as const;
const undo = ["replace", "undo", "instances.orders"] as const;

function manifest(cache: number): string {
  return movedManifest({
    name: "slow",
    cache,
    lifecycle: "protect: false, migration: { maxReadOnly: 1h }",
  });
}

let user: Workspace;
let cache = 25;
let written = 0;
beforeAll(async () => {
  // Longer than a pause of 30 s, which is renewed while the database stops.
  user = await startMoved(manifest(cache), "--delay", "stop=40000");
});
afterAll(() => user.close());

async function endpoint(): Promise<string> {
  const { code, out, err } = await user.run("output", "orders", "--raw");
  if (code !== 0) throw new Error(err);
  return out.trim();
}

/** Acknowledges one more number. */
async function write(at: string): Promise<void> {
  await ask(at, login, "GRAPH.QUERY", "shop", `CREATE (:Order {number: ${written + 1}})`);
  written += 1;
}

async function status(): Promise<string> {
  return (await user.run("replace", "status")).out;
}

/** What another client may do to a database that stops: it ends the pause, and puts the cap of queries back. */
async function open(at: string): Promise<void> {
  await ask(at, login, "GRAPH.CONFIG", "SET", "QUERY_MEM_CAPACITY", "0");
  await ask(at, login, "CLIENT", "UNPAUSE");
}

/** Runs a command that ends by SIGKILL as soon as the state says this. */
async function kill(at: string, args: readonly string[]): Promise<void> {
  Object.assign(user.env, { KILL_AT_PHASE: at, NODE_OPTIONS: `--import=${holder}` });
  const { child, ended } = user.start(...args);
  user.env["NODE_OPTIONS"] = undefined;
  const { out, err } = await ended;
  expect(child.signalCode, out + err).toBe("SIGKILL");
}

/** Runs a command, and does something while it stands still as soon as the state says this. */
async function hold(
  at: string,
  args: readonly string[],
  meanwhile: (child: ChildProcess) => Promise<unknown>,
): Promise<Ran> {
  const held = join(user.dir, "held");
  Object.assign(user.env, { KILL_AT_PHASE: at, HELD_BY: held, NODE_OPTIONS: `--import=${holder}` });
  const { child, ended } = user.start(...args);
  Object.assign(user.env, { NODE_OPTIONS: undefined, HELD_BY: undefined });
  await until(() => user.has("held") || undefined, at);
  await meanwhile(child).finally(() => rmSync(held));
  return ended;
}

/** Ends a database, and starts it anew beside the service. Resolves with the end of it. */
async function restart(at: string): Promise<() => void> {
  const id = user.state("slow").resources["instances.orders"]?.id ?? "";
  const folder = join(user.dir, ".graphform/platform/databases", id, "node-0");
  const pid = Number(readFileSync(join(folder, "server.pid"), "utf8"));
  const [program = "", file = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  const cwd = readlinkSync(`/proc/${pid}/cwd`);
  const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  const env = Object.fromEntries(variables.map((line) => line.split(/[=](.*)/s, 2)));
  process.kill(pid, "SIGKILL");
  await isClosed(at);
  const child = spawn(program, [file, "--min-replicas-to-write", "0"], { cwd, env, stdio: "ignore" });
  await expect.poll(() => ask(at, login, "PING").catch(String), { timeout: 20_000 }).toBe("PONG");
  return () => child.kill("SIGKILL");
}

async function isClosed(at: string): Promise<void> {
  await expect.poll(() => ask(at, login, "PING").catch(String), { timeout: 60_000 }).not.toBe("PONG");
}

/** Everything that was acknowledged is there, and writes are taken. */
async function expectAll(): Promise<void> {
  const at = await endpoint();
  await write(at);
  const found = await numbersAt(at, login);
  expect(Array.from({ length: written }, (_, at) => at + 1).filter((number) => !found.has(number))).toEqual(
    [],
  );
}

describe("a stop that takes longer than a pause of writes", () => {
  it("is waited for in the pause: nothing is taken and nothing is lost, also of a client that stays at the old endpoint", async () => {
    const old = await endpoint();
    const writers = [
      writeNumbers(1_000_000, login, endpoint),
      writeNumbers(2_000_000, login, async () => old),
    ];
    const hasBegun = (): boolean => writers.every(({ acknowledged }) => acknowledged.length > 20);
    await expect.poll(hasBegun, { timeout: 30_000 }).toBe(true);
    cache += 1;
    user.write("graphform.yaml", manifest(cache));
    let moved = await user.run(...cutover);
    if (moved.code === 8) moved = await user.run(...cutover);
    expect(moved, moved.out + moved.err).toMatchObject({ code: 0 });
    const now = await endpoint();
    const before = writers[0]?.acknowledged.length ?? 0;
    await expect
      .poll(() => writers[0]?.acknowledged.length ?? 0, { timeout: 30_000 })
      .toBeGreaterThan(before);
    const acknowledged = (await Promise.all(writers.map(({ stop }) => stop()))).flat();
    const found = await numbersAt(now, login);
    expect(acknowledged.filter((number) => !found.has(number))).toEqual([]);
    expect(now).not.toBe(old);
  }, 300_000);
});

describe("a stop that another one was awake in", () => {
  beforeAll(async () => {
    expect(await user.run("platform", "down")).toMatchObject({ code: 0 });
    await platformUp(user, "--delay", "stop=8000");
    const former = "instances.orders~former";
    const options = former in user.state("slow").resources ? ["--allow-destroy", former] : [];
    expect(await user.run("apply", "--auto-approve", ...options)).toMatchObject({ code: 0 });
    cache += 1;
    user.write("graphform.yaml", manifest(cache));
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 8 });
  });

  it("is not taken for proof by the run after a kill: what was acknowledged in between stays", async () => {
    const old = await endpoint();
    await kill("stopping", cutover);
    await open(old);
    await write(old);
    await isClosed(old);
    expect(await status()).toContain("starts the old one again if it is stopped");
    const next = await user.run("apply", "--auto-approve");
    expect(next, next.out + next.err).toMatchObject({ code: 8 });
    expect(await endpoint()).toBe(old);
    await expectAll();
  }, 120_000);

  it("is not taken for proof by the run that asked for it, if the database was started anew meanwhile", async () => {
    const old = await endpoint();
    let end = (): void => undefined;
    const ended = await hold("stopping", cutover, async () => {
      end = await restart(old);
      await write(old);
    });
    end();
    expect(ended, ended.out + ended.err).toMatchObject({ code: 7 });
    expect(ended.out + ended.err).toMatch(/its stop is not proved: .*it ended and was started anew/);
    expect(ended.out + ended.err).toContain("nothing was switched; apply, or graphform replace undo");
    const next = await user.run("apply", "--auto-approve");
    expect(next, next.out + next.err).toMatchObject({ code: 8 });
    await expectAll();
  }, 120_000);
});

describe("replace undo", () => {
  beforeAll(async () => {
    const moved = await user.run(...cutover);
    expect(moved, moved.out + moved.err).toMatchObject({ code: 0 });
    await expectAll();
  });

  it("that was killed in its pause lets writes go on with the next plan, with the cap that was", async () => {
    const at = await endpoint();
    const cap = await ask(at, login, "GRAPH.CONFIG", "GET", "QUERY_MEM_CAPACITY");
    await kill("quiesce", undo);
    expect(await status()).toMatch(
      /quiesce since .*\n +does +waits for constraints and snapshots, lets no write begin/,
    );
    await ask(at, login, "GRAPH.CONFIG", "SET", "QUERY_MEM_CAPACITY", "1");
    expect((await user.run("plan")).err).toContain("it takes writes again");
    expect(await ask(at, login, "GRAPH.CONFIG", "GET", "QUERY_MEM_CAPACITY")).toEqual(cap);
    await kill("fence", undo);
    expect(await status()).toContain("goes back: ends all connections of the database that has the address");
    expect((await user.run("plan")).err).toContain("it takes writes again");
    expect(await status()).toContain("instances.orders: hold");
    expect(await endpoint()).toBe(at);
    await expectAll();
  }, 120_000);

  it.each(["quiesce", "freeze", "fence"])(
    "lets writes go on by itself, with the cap that was, if Ctrl-C ends it in its %s",
    async (phase) => {
      const at = await endpoint();
      const capOf = (): Promise<unknown> => ask(at, login, "GRAPH.CONFIG", "GET", "QUERY_MEM_CAPACITY");
      const cap = await capOf();
      const ended = await hold(phase, undo, async (child) => child.kill("SIGINT"));
      expect(ended, ended.out + ended.err).toMatchObject({ code: 130 });
      await write(at);
      expect(await capOf()).toEqual(cap);
    },
    60_000,
  );

  it("switches only after a stop that it has proved itself, though an earlier one's is seen", async () => {
    const before = user.state("slow").resources;
    const at = await endpoint();
    const ended = await hold("stopping", undo, async () => {
      await open(at);
      await write(at);
    });
    expect(ended, ended.out + ended.err).toMatchObject({ code: 7 });
    expect(ended.out + ended.err).toContain(
      "replace undo instances.orders starts it again and closes it anew",
    );
    expect(user.state("slow").resources["instances.orders"]?.id).toBe(before["instances.orders"]?.id);
    const back = await user.run(...undo);
    expect(back, back.out + back.err).toMatchObject({ code: 0 });
    expect(back.err).toContain("is not counted: it was started anew");
    const after = user.state("slow").resources;
    expect(after["instances.orders"]?.id).toBe(before["instances.orders~former"]?.id);
    expect(after["instances.orders~former"]?.id).toBe(before["instances.orders"]?.id);
    await ask(await endpoint(), login, "GRAPH.QUERY", "shop", "MERGE (:Proof)");
  }, 120_000);

  it("that was killed after the switch starts the database by itself the next time", async () => {
    const before = user.state("slow").resources;
    await kill("switched", undo);
    expect(await status()).toMatch(
      /switch since .*\n +does +goes back: .*\n.*\n +if killed +`replace undo` or an apply starts it/,
    );
    const forward = await user.run(...undo);
    expect(forward, forward.out + forward.err).toMatchObject({ code: 0 });
    expect(forward.err).toContain("an earlier run gave the address back");
    expect(user.state("slow").resources["instances.orders"]?.id).toBe(before["instances.orders~former"]?.id);
    await expectAll();
  }, 120_000);
});

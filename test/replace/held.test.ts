import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadManifest, openService, openState, plan } from "../../src/index.ts";
import { ask } from "../support/local-platform.ts";
import { login, movedManifest, startMoved } from "../support/moved-database.ts";
import { type Ran, until, type Workspace } from "../support/workspace.ts";

const holder = fileURLToPath(new URL("../support/kill-at-phase.js", import.meta.url));

function manifest(cache: number): string {
  return movedManifest({
    name: "held",
    cache,
    lifecycle: "migration: { maxReadOnly: 1h }",
    component: "multi-zone",
  });
}

let user: Workspace;
beforeAll(async () => {
  user = await startMoved(manifest(25));
  await query("UNWIND range(1, 100) AS n CREATE (:Order {n: n, sum: n / 7.0})-[:OF {n: n}]->(:Item)");
  await query("CREATE INDEX FOR (o:Order) ON (o.n)");
  user.write("graphform.yaml", manifest(100));
  expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 8 });
});
afterAll(() => user.close());

async function endpoint(): Promise<string> {
  const { code, out, err } = await user.run("output", "orders", "--raw");
  if (code !== 0) throw new Error(err);
  return out.trim();
}

async function query(text: string): Promise<string> {
  return JSON.stringify(await ask(await endpoint(), login, "GRAPH.QUERY", "shop", text));
}

/** A file of a node of the database that an address is bound to. */
function fileOf(address: string, file: string): string {
  const id = user.state("held").resources[address]?.id ?? "";
  return readFileSync(join(user.dir, ".graphform/platform/databases", id, "node-0", file), "utf8");
}

/** The first node of the new database. */
function next(): string {
  const [, port] = /^port (\d+)$/m.exec(fileOf("instances.orders~next", "server.conf")) ?? [];
  return `127.0.0.1:${port}`;
}

/** Cuts over, and does something while the program stands still at a phase. */
async function cutover(at: string, meanwhile: () => Promise<unknown>): Promise<Ran> {
  const held = join(user.dir, "held");
  Object.assign(user.env, { KILL_AT_PHASE: at, HELD_BY: held, NODE_OPTIONS: `--import=${holder}` });
  const { ended } = user.start("apply", "--auto-approve", "--cutover", "instances.orders");
  Object.assign(user.env, { NODE_OPTIONS: undefined, HELD_BY: undefined });
  const early = await Promise.race([ended, until(() => user.has("held") || undefined, `the phase ${at}`)]);
  if (early !== true) throw new Error(`ended before the phase ${at}: ${early.out}${early.err}`);
  try {
    await meanwhile();
  } finally {
    rmSync(held);
  }
  return ended;
}

/** Both databases are kept, the address is not switched, and the old database takes writes and has everything. */
async function expectNothingSwitched(orders: number): Promise<void> {
  expect(Object.keys(user.state("held").resources).sort()).toEqual([
    "instances.orders",
    "instances.orders~next",
  ]);
  const status = await user.run("replace", "status");
  expect(status.out).toContain("instances.orders: await-cutover");
  await query("MERGE (:Proof)");
  expect(await query("MATCH (o:Order) RETURN count(o)")).toContain(`[[${orders}]]`);
  const [, cap] = [await ask(await endpoint(), login, "GRAPH.CONFIG", "GET", "QUERY_MEM_CAPACITY")].flat();
  expect(cap).not.toBe(1);
}

describe("a cutover switches nothing, keeps both databases and says why", () => {
  it.each([
    ["a float", "MATCH (o:Order {n: 3}) SET o.sum = o.sum + 0.001", /node \d+ of graph shop is not the same/],
    [
      "an edge turned round",
      "MATCH (o:Order {n: 3})-[e:OF]->(i) DELETE e CREATE (i)-[:OF {n: 3}]->(o)",
      /edge \d+ of graph shop is not the same/,
    ],
    ["an index less", "DROP INDEX ON :Order(n)", /lacks the index on Order/],
  ])("if the copy has %s", async (_, change, reason) => {
    const ended = await cutover("verify", () => ask(next(), login, "GRAPH.QUERY", "shop", change));
    expect(ended, ended.out + ended.err).toMatchObject({ code: 1 });
    expect(ended.out + ended.err).toMatch(reason);
    expect(ended.out + ended.err).toMatch(/nothing was switched, and \S+ takes writes as before/);
    expect(ended.out + ended.err).toContain("both databases are kept for a look");
    await expectNothingSwitched(100);
  });

  it("if the read-only time is over", async () => {
    const ended = await cutover("copy", () => new Promise((resolve) => setTimeout(resolve, 10_500)));
    expect(ended, ended.out + ended.err).toMatchObject({ code: 1 });
    expect(ended.out + ended.err).toMatch(/the data was not moved within 10 s, the longest read-only time/);
    await expectNothingSwitched(100);
  });

  it.each([
    ["copy", 101],
    ["fence", 102],
  ])("if another client ends the pause in the phase %s, and keeps what is written then", async (at, n) => {
    const ended = await cutover(at, async () => {
      await ask(await endpoint(), login, "CLIENT", "UNPAUSE");
      await query(`CREATE (:Order {n: ${n}})`);
    });
    expect(ended, ended.out + ended.err).toMatchObject({ code: 1 });
    expect(ended.out + ended.err).toMatch(/writes are not proved to wait|ended by another client/);
    await expectNothingSwitched(n);
  });

  it("if the old database ends, and says that it does not answer", async () => {
    const pid = Number(fileOf("instances.orders", "server.pid"));
    const ended = await cutover("copy", async () => process.kill(pid, "SIGKILL"));
    expect(ended, ended.out + ended.err).toMatchObject({ code: 1 });
    expect(ended.out + ended.err).toMatch(/nothing was switched, and \S+ does not answer/);
    await expect.poll(() => query("MERGE (:Proof)").catch(() => ""), { timeout: 60_000 }).toContain("Query");
    await expectNothingSwitched(102);
  });
});

describe("a plan of a program", () => {
  it("lets a database take writes again whose cutover was killed while none could begin", async () => {
    Object.assign(user.env, { KILL_AT_PHASE: "quiesce", NODE_OPTIONS: `--import=${holder}` });
    const { child, ended } = user.start("apply", "--auto-approve", "--cutover", "instances.orders");
    await ended;
    user.env["NODE_OPTIONS"] = undefined;
    expect(child.signalCode).toBe("SIGKILL");
    const { env } = user;
    await ask(await endpoint(), login, "GRAPH.CONFIG", "SET", "QUERY_MEM_CAPACITY", "1");
    const manifest = await loadManifest({ files: [join(user.dir, "graphform.yaml")], env });
    const service = await openService(manifest, { env });
    const state = openState(manifest);
    const planned = await plan({ manifest, service, state, cutover: ["instances.orders"] });
    await service.close();
    expect(planned.steps.map(({ verb, migration }) => [verb, migration?.cutover])).toEqual([
      ["preflight", true],
      ["cutover", true],
    ]);
    await expectNothingSwitched(102);
  });
});

describe("the cutover after all of that", () => {
  it("moves everything, and takes no write of one who ends the pause while the old database stops", async () => {
    const old = await endpoint();
    let moved = await cutover("stopping", async () => {
      await ask(old, login, "CLIENT", "UNPAUSE").catch(() => undefined);
      await expect(query("CREATE (:Order {n: 103})")).rejects.toThrow();
    });
    // A look that comes before the stop finds the end of the pause.
    if (moved.code === 7) {
      expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 8 });
      moved = await user.run("apply", "--auto-approve", "--cutover", "instances.orders");
    }
    expect(moved, moved.out + moved.err).toMatchObject({ code: 0 });
    expect(await endpoint()).not.toBe(old);
    expect(await query("MATCH (o:Order) RETURN count(o)")).toContain("[[102]]");
  });
});

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StateDocument } from "../../src/model/state.ts";
import { readState } from "../../src/state/read-state.ts";
import { ask } from "../support/local-platform.ts";
import { login, movedManifest, startMoved } from "../support/moved-database.ts";
import { until, type Workspace } from "../support/workspace.ts";

const holder = fileURLToPath(new URL("../support/kill-at-phase.js", import.meta.url));
const cutover = ["apply", "--auto-approve", "--cutover", "instances.orders"] as const;

function manifest(cache: number): string {
  return movedManifest({ name: "older", cache, lifecycle: "protect: false" });
}

let user: Workspace;
let old = "";
beforeAll(async () => {
  user = await startMoved(manifest(25));
  old = await endpoint();
  await query("UNWIND range(1, 100) AS n CREATE (:Order {n: n})");
  user.write("graphform.yaml", manifest(100));
  expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 8 });
  expect(await user.run(...cutover)).toMatchObject({ code: 8 });
});
afterAll(() => user.close());

async function endpoint(): Promise<string> {
  const { code, out, err } = await user.run("output", "orders", "--raw");
  if (code !== 0) throw new Error(err);
  return out.trim();
}

async function query(text: string, at?: string, graph = "shop"): Promise<string> {
  return JSON.stringify(await ask(at ?? (await endpoint()), login, "GRAPH.QUERY", graph, text));
}

/** The new database, which no output names before the switch. */
function next(): string {
  const id = user.state("older").resources["instances.orders~next"]?.id ?? "";
  const file = join(user.dir, ".graphform/platform/databases", id, "node-0/server.conf");
  return `127.0.0.1:${/^port (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1]}`;
}

const file = (): string => join(user.dir, ".graphform/older.state.json");

function stored(): StateDocument {
  return readState(readFileSync(file(), "utf8"), file(), "older", readFileSync(`${file()}.log`, "utf8"));
}

/** Puts a version of the state back, as a store does that was copied before. */
function putBack(state: StateDocument): void {
  for (const other of [".log", ".backup"]) rmSync(`${file()}${other}`, { force: true });
  writeFileSync(file(), JSON.stringify(state));
}

/** A command is refused with the words for a database that may be in use, and with both ids. */
async function expectRefused(code: number, ...args: readonly string[]): Promise<void> {
  const { out, err, ...ended } = await user.run(...args);
  expect(ended, out + err).toMatchObject({ code });
  const said = (out + err).replace(/\s+/g, " ");
  const [one, other] = ["instances.orders", "instances.orders~next"].map(
    (address) => user.state("older").resources[address]?.id,
  );
  expect(said).toContain(`the new database ${other} is not proved to have only what was copied there`);
  expect(said).toContain(`it takes writes instead of ${one} then`);
}

it("what somebody has written to the new database before the cutover is not deleted", async () => {
  await query("CREATE (:Foreign)", next(), "other");
  await expectRefused(4, ...cutover);
  await expectRefused(1, ...cutover, "--no-probe");
  expect(await query("MATCH (n) RETURN count(n)", next(), "other")).toContain("[[1]]");
  await ask(next(), login, "GRAPH.DELETE", "other");
});

describe("a state that is older than the switch", () => {
  const versions = new Map<string, StateDocument>();
  let now: StateDocument | undefined;
  let inUse = "";

  beforeAll(async () => {
    inUse = next();
    const waiting = stored();
    const held = join(user.dir, "held");
    Object.assign(user.env, { KILL_AT_PHASE: "fence", HELD_BY: held, NODE_OPTIONS: `--import=${holder}` });
    const { ended } = user.start(...cutover);
    Object.assign(user.env, { NODE_OPTIONS: undefined, HELD_BY: undefined });
    await until(() => user.has("held") || undefined, "the fence");
    const fence = stored();
    rmSync(held);
    const { code, out, err } = await ended;
    expect(code, out + err).toBe(0);
    now = stored();
    await query("UNWIND range(101, 150) AS n CREATE (:Order {n: n})", inUse);
    const migration = waiting.migrations?.["instances.orders"];
    if (migration === undefined) throw new Error("no migration");
    const copying = { "instances.orders": { ...migration, phase: "copy" } } as const;
    versions.set("await-cutover", waiting).set("copy", { ...waiting, migrations: copying });
    versions.set("fence", fence);
  });

  it.each(["await-cutover", "copy", "fence"])(
    "deletes nothing of the new database and does not start the old one, if it says %s",
    async (phase) => {
      const version = versions.get(phase);
      if (version === undefined) throw new Error(`no version in the phase ${phase}`);
      putBack(version);
      expect((await user.run("replace", "status")).out).toContain(`instances.orders: ${phase} since`);
      await expectRefused(4, ...cutover);
      await expectRefused(1, ...cutover, "--no-probe");
      await expectRefused(1, "replace", "undo", "instances.orders");
      const planned = await user.run("plan");
      expect(planned.out).not.toContain("no data is lost");
      user.write("graphform.yaml", manifest(25));
      await expectRefused(4, "apply", "--auto-approve");
      await expectRefused(4, "destroy", "--auto-approve");
      user.write("graphform.yaml", manifest(100));
      expect(await query("MATCH (o:Order) RETURN count(o)", inUse)).toContain("[[150]]");
      await expect(query("RETURN 1", old)).rejects.toThrow();
    },
    60_000,
  );

  it("gets the database in use back by the way that is named", async () => {
    const id = user.state("older").resources["instances.orders~next"]?.id ?? "";
    for (const address of ["instances.orders~next", "instances.orders"])
      expect(await user.run("state", "rm", address)).toMatchObject({ code: 0 });
    expect(await user.run("import", "instances.orders", id)).toMatchObject({ code: 0 });
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await endpoint()).toBe(inUse);
    expect(await query("MATCH (o:Order) RETURN count(o)")).toContain("[[150]]");
    if (now !== undefined) putBack(now);
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });
});

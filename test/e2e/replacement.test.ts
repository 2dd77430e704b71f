import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rowsOf } from "../../src/database/replies.ts";
import type { Link } from "../../src/replace/data/link.ts";
import { openSide, type Side } from "../../src/replace/data/nodes.ts";
import { makeRichGraph, never } from "../replace/data/databases.ts";
import { ask, platformUp } from "../support/local-platform.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

const file = "replacement.yaml";
/** Nodes of the largest graph; the variable makes it one of a million. */
const nodes = Number(process.env["REPLACED_NODES"] ?? 3000);
const caFile = join(".graphform", "platform", "tls", "ca.pem");
const password = "database-password";
const reader = { username: "reader", password: "reader-password" };
const cutover = ["apply", "--auto-approve", "--cutover", "instances.orders"] as const;
/** The value x, as DUMP shows it. */
const dumpOfX = Buffer.from("0001780900f272d793e96e2b61", "hex");

let user: Workspace;
beforeAll(async () => {
  user = openWorkspace();
  copyFileSync(join(import.meta.dirname, "..", "..", "examples", file), join(user.dir, file));
  Object.assign(user.env, { DATABASE_PASSWORD: password, READER_PASSWORD: reader.password });
  await platformUp(user);
  const applied = await run("apply", "--auto-approve");
  expect(applied, applied.out + applied.err).toMatchObject({ code: 0 });
});
afterAll(() => user.close());

const run = (...args: readonly string[]): ReturnType<Workspace["run"]> => user.run(...args, "-f", file);

async function endpoint(): Promise<string> {
  return (await run("output", "orders", "--raw")).out.trim();
}

/** Connects to the database at the output, as the manifest says it. */
async function connect(): Promise<Side> {
  const [host = "", port = ""] = (await endpoint()).split(":");
  const text = user.read(file);
  const username = /graphdbUser: (\w+)/.exec(text)?.[1] ?? "";
  const tls = /enableTLS: true/.test(text) ? { caFile: join(user.dir, caFile) } : false;
  return openSide([{ username, password, host, port: Number(port), tls }], never);
}

async function fill(side: Side): Promise<void> {
  const { control } = side.primary;
  await makeRichGraph(control, "rich");
  await control.one(["EXPIRE", "rich", "100000"]);
  for (let first = 0; first < nodes; first += 50_000) {
    const last = Math.min(nodes, first + 50_000) - 1;
    const create = `UNWIND range(${first}, ${last}) AS n CREATE (:Order {n: n, sum: n / 7.0})-[:OF {n: n}]->(:Item)`;
    await control.one(["GRAPH.QUERY", "shop", create]);
  }
  const other = await side.primary.open(never, 3);
  await makeRichGraph(other, "other");
  await other.one(["RESTORE", "text", "0", dumpOfX]);
  await other.one(["RESTORE", "ending", "100000000", dumpOfX]);
  await control.one(["GRAPH.UDF", "LOAD", "lib", "function f(x) { return x + 1; } falkor.register('f', f);"]);
  await control.one(["GRAPH.CONFIG", "SET", "TIMEOUT_DEFAULT", "30000"]);
}

/** All that a database holds, as counts, schema and digests. */
async function content(side: Side): Promise<object> {
  const other = await side.primary.open(never, 3);
  const { control } = side.primary;
  const isEnding = async (link: Link, key: string): Promise<boolean> =>
    Number(await link.one(["PTTL", key])) > 50_000;
  const found = {
    ...{
      rich: await graphIn(control, "rich"),
      shop: await graphIn(control, "shop"),
      other: await graphIn(other, "other"),
    },
    text: await other.one(["DUMP", "text"], { binary: true }),
    ends: [await isEnding(control, "rich"), await isEnding(other, "ending"), await isEnding(other, "text")],
    library: await control.one(["GRAPH.QUERY", "shop", "RETURN lib.f(41)"]).then((reply) => rowsOf(reply)),
    timeout: await control.one(["GRAPH.CONFIG", "GET", "TIMEOUT_DEFAULT"]),
  };
  other.close();
  return found;
}

async function graphIn(link: Link, name: string): Promise<object> {
  const rows = async (query: string): Promise<readonly string[]> =>
    rowsOf(await link.one(["GRAPH.RO_QUERY", name, query]))
      .map((row) => JSON.stringify(row))
      .sort();
  const digest = async (query: string): Promise<readonly [number, string]> => {
    const hash = createHash("sha256");
    let [count, empty] = [0, 0];
    // Ids may have holes.
    for (let id = 0; empty < 2; id += 5000) {
      const part = await rows(`CYPHER a=${id} b=${id + 5000} ${query}`);
      for (const row of part) hash.update(row);
      count += part.length;
      empty = part.length === 0 ? empty + 1 : 0;
    }
    return [count, hash.digest("hex")];
  };
  return {
    nodes: await digest("MATCH (n) WHERE id(n) >= $a AND id(n) < $b RETURN id(n), labels(n), properties(n)"),
    edges: await digest(
      "MATCH (n)-[e]->(m) WHERE id(n) >= $a AND id(n) < $b RETURN id(e), type(e), id(n), id(m), properties(e)",
    ),
    indexes: await rows("CALL db.indexes() YIELD label, properties, types, entitytype, status"),
    constraints: await rows("CALL db.constraints() YIELD type, label, properties, entitytype, status"),
  };
}

function edit(from: string, to: string): void {
  expect(user.read(file)).toContain(from);
  user.write(file, user.read(file).replace(from, to));
}

describe("a replacement that keeps the data", () => {
  let before: object;

  it("fills the database of the example", async () => {
    const side = await connect();
    await fill(side);
    before = await content(side);
    side.close();
    expect(before).toMatchObject({
      ...{ shop: { nodes: [2 * nodes, expect.any(String)], edges: [nodes, expect.any(String)] } },
      ...{ ends: [true, true, false], library: [[42]] },
    });
  });

  it.each([
    [
      "TLS and the cache size",
      [
        ["enableTLS: false", "enableTLS: true"],
        ["graphDBCacheSize: 25", "graphDBCacheSize: 100"],
      ],
    ],
    [
      "the first user and the region",
      [
        ["graphdbUser: app", "graphdbUser: owner"],
        ["region: us-east-1", "region: eu-west-1"],
      ],
    ],
  ] as const)("with changed %s holds the same, over replicas", async (_, edits) => {
    const old = user.state("replacement").resources["instances.orders"]?.id;
    for (const [from, to] of edits) edit(from, to);
    expect(await run("apply", "--auto-approve")).toMatchObject({ code: 8 });
    expect(await run(...cutover)).toMatchObject({
      code: 8,
      out: expect.stringContaining("read-only for about"),
    });
    const moved = await run(...cutover);
    expect(moved, moved.out + moved.err).toMatchObject({ code: 0 });
    expect(user.state("replacement").resources["instances.orders"]?.id).not.toBe(old);
    const side = await connect();
    expect(await content(side)).toEqual(before);
    const info = String(await side.primary.control.one(["INFO", "replication"]));
    expect(info).toMatch(/connected_slaves:1/);
    side.close();
    const login = { ...reader, ca: readFileSync(join(user.dir, caFile), "utf8") };
    const count = ask(await endpoint(), login, "GRAPH.RO_QUERY", "shop", "MATCH (o:Order) RETURN count(o)");
    expect(JSON.stringify(await count)).toContain(`[[${nodes}]]`);
    expect(await run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    const retired = await run("apply", "--auto-approve", "--allow-destroy", "instances.orders~former");
    expect(retired, retired.out + retired.err).toMatchObject({ code: 0 });
  });
});

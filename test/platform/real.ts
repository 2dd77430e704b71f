import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@redis/client";
import type { JsonObject } from "../../src/model/json.ts";
import { setupEngine } from "../../src/platform/engine/index.ts";
import { at, components, type TestPlatform } from "./harness.ts";

/** Fails, and does not skip, where there is no engine. */
export async function needEngine(): Promise<void> {
  const found = await setupEngine();
  if (found.engine === undefined) throw new Error(found.reason);
}

export const zoned: string = `${components}/hosted/pro/single-zone`;

/** The first user of every database in these tests. */
const user = { graphdbUser: "app", graphdbPassword: "a-real-password" };

/** A node as describe shows it. */
export interface ShownNode {
  readonly id: string;
  readonly port: number;
  readonly role: string;
  readonly healthStatus: string;
}

/** Nodes of a described instance. */
export function nodesOf(body: JsonObject): readonly ShownNode[] {
  return topologyOf(body).nodes.map(({ ports, ...node }) => ({ ...node, port: ports[0] ?? 0 }));
}

interface Topology {
  readonly nodes: readonly (Omit<ShownNode, "port"> & { readonly ports: readonly number[] })[];
  readonly recentDeploymentFailure?: { readonly failureReason: string };
}

function topologyOf(body: JsonObject): Topology {
  const shown: { readonly [resource: string]: Topology } = JSON.parse(
    JSON.stringify(body["detailedNetworkTopology"] ?? {}),
  );
  return Object.values(shown)[0] ?? { nodes: [] };
}

/** The reason that a described instance gives for its last failure; empty where it gives none. */
export function failureOf(body: JsonObject): string {
  return topologyOf(body).recentDeploymentFailure?.failureReason ?? "";
}

/** Creates an instance with a user, waits until it runs and answers its path. */
export async function createRunning(
  test: TestPlatform,
  place: string,
  params: JsonObject = {},
): Promise<string> {
  const own = `${place}/${await test.create(place, { ...user, ...params })}`;
  await test.until(own, "RUNNING");
  return own;
}

/** Port that clients are told. */
export function portOf(body: JsonObject): number {
  return Number(at(body, "result_params", "graphdbPort"));
}

/** Sends one command to a port, as the instance's own user. */
export async function askPort(port: number, ...command: readonly string[]): Promise<unknown> {
  return (await askInTurn(port, [command]))[0];
}

/** Sends commands to a port one after another on one connection, and returns the answers. */
async function askInTurn(
  port: number,
  commands: readonly (readonly string[])[],
): Promise<readonly unknown[]> {
  const client = createClient({
    RESP: 2,
    username: user.graphdbUser,
    password: user.graphdbPassword,
    socket: { host: "127.0.0.1", port, reconnectStrategy: false, connectTimeout: 2000 },
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const answers: unknown[] = [];
    for (const command of commands) answers.push(await client.sendCommand([...command]));
    return answers;
  } finally {
    client.destroy();
  }
}

/** Creates `count` nodes in the graph of an instance that runs. */
export async function fill(test: TestPlatform, own: string, count: number): Promise<void> {
  const { body } = await test.until(own, "RUNNING");
  await askPort(portOf(body), "GRAPH.QUERY", "g", `UNWIND range(1, ${count}) AS n CREATE (:N {n: n})`);
}

/** The same, and waits until the replica has them as well: it gets them a moment after the client has its answer. */
export async function fillBoth(test: TestPlatform, own: string, count: number): Promise<void> {
  await fill(test, own, count);
  const { body } = await test.until(own, "RUNNING");
  // WAIT counts what its own connection has written.
  const [, replicas] = await askInTurn(portOf(body), [
    ["GRAPH.QUERY", "g", "CREATE (:Last)"],
    ["WAIT", "1", "20000"],
  ]);
  if (Number(replicas) !== 1) throw new Error("the replica did not get the writes");
}

/** Nodes in the graph of an instance, once it runs. */
export async function count(test: TestPlatform, own: string): Promise<number> {
  const { body } = await test.until(own, "RUNNING");
  const reply = await askPort(portOf(body), "GRAPH.RO_QUERY", "g", "MATCH (n:N) RETURN count(n)");
  const rows: unknown = Array.isArray(reply) ? reply[1] : undefined;
  return Array.isArray(rows) ? Number(rows[0][0]) : 0;
}

/** Pid of the server of a node: by the file that it wrote itself. */
export function pidOf(dataDir: string, own: string, index: number): number {
  const id = own.split("/").at(-1) ?? "";
  return (
    Number(readFileSync(join(folderOf(dataDir, own), `node-${index}`, "server.pid"), "utf8")) || Number(id)
  );
}

/** Folder of the database of an instance. */
export function folderOf(dataDir: string, own: string): string {
  return join(dataDir, "databases", own.split("/").at(-1) ?? "");
}

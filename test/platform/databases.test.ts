import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { setupEngine } from "../../src/platform/engine/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import {
  at,
  components,
  connect,
  enterprise,
  platformEnvironment,
  platformProgram,
  poll,
  pro,
  type TestPlatform,
} from "./harness.ts";

/** The same rules with real databases; skipped only where no engine can be had. */
const search = await setupEngine();
const zoned = `${components}/hosted/pro/single-zone`;
const password = "a-real-password";
const user = { graphdbUser: "app", graphdbPassword: password };

describe.skipIf(search.engine === undefined)("with real databases", () => {
  let dataDir = "";
  let child: ChildProcess;
  let test: TestPlatform;

  async function up(): Promise<void> {
    child = spawn(process.execPath, [platformProgram, "--data-dir", dataDir], {
      stdio: ["ignore", "pipe", "inherit"],
      env: platformEnvironment,
    });
    const [line] = await once(createInterface({ input: child.stdout ?? process.stdin }), "line");
    test = await connect({ ...JSON.parse(String(line)), close: async () => undefined }, dataDir, false);
  }

  async function down(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    child.kill(signal);
    await once(child, "close");
  }

  beforeAll(async () => {
    dataDir = temporaryFolder("real");
    await up();
  });
  afterAll(async () => {
    await down("SIGTERM");
  });

  interface Login {
    readonly username?: string;
    readonly password?: string;
    readonly tls?: boolean;
  }

  async function running(
    path: string,
  ): Promise<{ readonly host: string; readonly port: number; readonly body: JsonObject }> {
    const { body } = await test.until(path, "RUNNING");
    const host = String(at(body, "result_params", "graphdbHostname"));
    return { host, port: Number(at(body, "result_params", "graphdbPort")), body };
  }

  /** Runs commands on the instance's endpoint, as its own user unless told otherwise. */
  async function ask(
    path: string,
    commands: readonly (readonly string[])[],
    login: Login = {},
  ): Promise<readonly string[]> {
    const { host, port } = await running(path);
    const client = createClient({
      username: login.username ?? "app",
      password: login.password ?? password,
      socket: {
        host,
        port,
        reconnectStrategy: false,
        ...(login.tls === true ? { tls: true, rejectUnauthorized: false } : {}),
      },
    });
    client.on("error", () => undefined);
    await client.connect();
    try {
      const answers: string[] = [];
      for (const command of commands) answers.push(JSON.stringify(await client.sendCommand([...command])));
      return answers;
    } finally {
      client.destroy();
    }
  }

  const fill = ["GRAPH.QUERY", "g", "UNWIND range(1, 1000) AS n CREATE (:N {n: n})"];
  const count = ["GRAPH.RO_QUERY", "g", "MATCH (n:N) RETURN count(n)"];
  const counted = async (path: string): Promise<string> => (await ask(path, [count]))[0] ?? "";

  async function create(path: string, params: JsonObject = {}): Promise<string> {
    const own = `${path}/${await test.create(path, { ...user, ...params })}`;
    await running(own);
    return own;
  }

  it("applies the configuration, and the defaults of the table", async () => {
    const path = await create(enterprise, {
      graphDBCacheSize: 77,
      maxMemory: "300MB",
      nodeInstanceType: "m7g.large",
    });
    const [cache, queue, memory] = await ask(path, [
      ["GRAPH.CONFIG", "GET", "CACHE_SIZE"],
      ["GRAPH.CONFIG", "GET", "MAX_QUEUED_QUERIES"],
      ["INFO", "memory"],
    ]);
    expect([cache, queue]).toEqual(['["CACHE_SIZE",77]', '["MAX_QUEUED_QUERIES",50]']);
    expect(memory).toContain(`maxmemory:${300 * 1024 ** 2}\\r\\n`);
    await expect(ask(path, [["PING"]], { password: "wrong" })).rejects.toThrow();
  });

  it("an update puts password and memory in force, and keeps the data", async () => {
    const path = await create(enterprise, { maxMemory: "300MB" });
    await ask(path, [fill]);
    const changed = { requestParams: { graphdbPassword: "another-password", maxMemory: "400MB" } };
    expect((await test.call("PUT", path, changed)).status).toBe(202);
    const [numbers, memory] = await ask(path, [count, ["INFO", "memory"]], { password: "another-password" });
    expect(numbers).toContain("[[1000]]");
    expect(memory).toContain(`maxmemory:${400 * 1024 ** 2}\\r\\n`);
    await expect(ask(path, [["PING"]])).rejects.toThrow();
  });

  it("a change of names leaves the process alone", async () => {
    const path = await create(pro);
    const idOf = async (): Promise<string> =>
      /run_id:(\w+)/.exec((await ask(path, [["INFO", "server"]]))[0] ?? "")?.[1] ?? "";
    const before = await idOf();
    await test.call("PUT", path, { requestParams: { name: "other", description: "words" } });
    expect(await idOf()).toBe(before);
    await test.call("POST", `${path}/restart`);
    expect(await idOf()).not.toBe(before);
  });

  it("stop ends the process, start brings the data back", async () => {
    const path = await create(pro);
    await ask(path, [fill]);
    const { host, port } = await running(path);
    await test.call("POST", `${path}/stop`);
    await test.until(path, "STOPPED");
    const client = createClient({ socket: { host, port, reconnectStrategy: false } });
    client.on("error", () => undefined);
    await expect(client.connect()).rejects.toThrow();
    await test.call("POST", `${path}/start`);
    expect(await counted(path)).toContain("[[1000]]");
  });

  it("speaks TLS where asked, and only TLS", async () => {
    const path = await create(pro, { enableTLS: true });
    expect(await ask(path, [["PING"]], { tls: true })).toEqual(['"PONG"']);
    await expect(ask(path, [["PING"]])).rejects.toThrow();
  });

  it("users log in with what their rules allow, also after a restart", async () => {
    const path = await create(pro);
    await ask(path, [fill]);
    const id = path.slice(pro.length + 1);
    const users = `/v1/customer-ldap/instances/${id}/users`;
    const send = (method: string, rest: string, body?: JsonObject) =>
      test.bare(method, `${users}${rest}?subscriptionId=s`, body, {
        authorization: `Bearer ${test.token()}`,
      });
    const reader = { username: "reader", password: "reader-1" };
    expect((await send("POST", "", { ...reader, acl: "~* +GRAPH.RO_QUERY +PING" })).status).toBe(200);
    expect((await ask(path, [count], reader))[0]).toContain("[[1000]]");
    await expect(ask(path, [fill], reader)).rejects.toThrow(/NOPERM/);
    await test.call("POST", `${path}/restart`);
    expect((await ask(path, [count], reader))[0]).toContain("[[1000]]");
    const garbled = await send("POST", "", { ...reader, username: "garbled", acl: "~* nonsense" });
    expect([garbled.status, garbled.text]).toEqual([400, expect.not.stringContaining("reader-1")]);
    expect((await send("GET", "")).text).not.toContain("garbled");
    await send("PUT", "/reader", { password: "reader-2" });
    expect(await ask(path, [["PING"]], { ...reader, password: "reader-2" })).toEqual(['"PONG"']);
    await send("DELETE", "/reader");
    await expect(ask(path, [["PING"]], { ...reader, password: "reader-2" })).rejects.toThrow();
  });

  it("failover makes the replica primary: the endpoint moves, writes go on with the data", async () => {
    const path = await create(zoned);
    await ask(path, [fill]);
    const before = await running(path);
    const [role] = await ask(path, [["INFO", "replication"]]);
    expect(role).toContain("role:master");
    expect(role).toContain("connected_slaves:1");
    const body = { failed_replica_id: "node-sz-0", failed_replica_action: "FAILOVER_ONLY" };
    expect((await test.call("POST", `${path}/failover`, body)).status).toBe(202);
    const after = await running(path);
    expect(after.port).not.toBe(before.port);
    const [, total] = await ask(path, [["GRAPH.QUERY", "g", "CREATE (:N {n: 0})"], count]);
    expect(total).toContain("[[1001]]");
  });

  it("backup, copy, delete, restore: the count is right and no file of the instance remains", async () => {
    const path = await create(pro);
    const id = path.slice(pro.length + 1);
    await ask(path, [fill]);
    const reader = { username: "reader", password: "reader-1" };
    const users = `/v1/customer-ldap/instances/${id}/users?subscriptionId=s`;
    const bearer = { authorization: `Bearer ${test.token()}` };
    await test.bare("POST", users, { ...reader, acl: "~* +PING" }, bearer);
    await test.call("POST", `${path}/backup`);
    const snapshots = "/2022-09-01-00/resource-instance/snapshot";
    const completed = (region: string) =>
      poll(async () => {
        const { text } = await test.call("GET", snapshots);
        const all: { snapshotId: string; sourceInstanceId: string; region: string; status: string }[] =
          JSON.parse(text).snapshots;
        return all.find(
          (each) => each.sourceInstanceId === id && each.region === region && each.status === "completed",
        );
      }, `the snapshot in ${region}`);
    const { snapshotId } = await completed("us-east-1");
    await ask(path, [fill]);
    await test.call("POST", `${snapshots}/${snapshotId}`, { targetRegion: "eu-west-1" });
    const copy = await completed("eu-west-1");
    await test.call("DELETE", path);
    await test.until(path, 404);
    expect(await readdir(join(dataDir, "databases"))).not.toContain(id);
    const { body } = await test.call("POST", `${snapshots}/${copy.snapshotId}/restore`);
    expect(await counted(`${pro}/${body["instanceId"]}`)).toContain("[[1000]]");
    expect(await ask(`${pro}/${body["instanceId"]}`, [["PING"]], reader)).toEqual(['"PONG"']);
  });

  it("a database that is killed is restarted, and the status says so meanwhile", async () => {
    const path = await create(pro);
    await ask(path, [fill]);
    const [info] = await ask(path, [["INFO", "server"]]);
    const pid = Number(/process_id:(\d+)/.exec(info ?? "")?.[1]);
    process.kill(pid, "SIGKILL");
    await test.until(path, "RESTARTING");
    expect(await counted(path)).toContain("[[1000]]");
  });

  it("kill -9 of the platform, up again: RUNNING on the same port with its data and users", async () => {
    const [plain, stopped] = [await create(pro), await create(pro)];
    await ask(plain, [fill]);
    await test.call("POST", `${stopped}/stop`);
    await test.until(stopped, "STOPPED");
    const before = await running(plain);
    await down("SIGKILL");
    await up();
    const now = await test.call("GET", plain);
    expect(now.body["status"]).toBe("RUNNING");
    expect((await running(plain)).port).toBe(before.port);
    expect(await counted(plain)).toContain("[[1000]]");
    expect((await test.call("GET", stopped)).body["status"]).toBe("STOPPED");
  });

  it("kill -9 in the middle of creates: every acknowledged one ends RUNNING, and answers", async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => test.create(pro, user)));
    await down("SIGKILL");
    await up();
    for (const id of ids) expect(await ask(`${pro}/${id}`, [["PING"]])).toEqual(['"PONG"']);
  });

  it("down ends every database, up brings them back", async () => {
    const path = await create(pro);
    await ask(path, [fill]);
    const [info] = await ask(path, [["INFO", "server"]]);
    const pid = Number(/process_id:(\d+)/.exec(info ?? "")?.[1]);
    await down("SIGTERM");
    expect(() => process.kill(pid, 0)).toThrow();
    await up();
    expect(await counted(path)).toContain("[[1000]]");
  });
});

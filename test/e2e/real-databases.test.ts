import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, processesOf, until, type Workspace } from "../support/workspace.ts";

let user: Workspace;
let platform: LocalPlatform;
const login = { username: "app", password: "first-password" };

function manifest(power = "running", description = "plain words"): string {
  return `
apiVersion: graphform/v1
name: real
service: { profile: ${quickProfileFile} }
secrets: { shared: { env: SHARED_PASSWORD } }
defaults:
  instances: { cloudProvider: aws, region: us-east-1 }
instances:
  plain:
    tier: pro
    component: standalone
    power: ${power}
    config: { description: ${description}, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.shared}" }
  pair:
    tier: pro
    component: multi-zone
    config: { nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.shared}" }
  tls:
    tier: enterprise
    component: standalone
    config: { nodeInstanceType: m7g.large, maxMemory: 1GB, graphdbUser: app, graphdbPassword: "\${secret.shared}", enableTLS: true }
  free:
    tier: free
    component: free
    config: { graphdbUser: app, graphdbPassword: "\${secret.shared}" }
outputs:
  plain: \${instances.plain.endpoint}
  pair: \${instances.pair.endpoint}
  tls: \${instances.tls.endpoint}
  free: \${instances.free.endpoint}
`;
}

beforeAll(async () => {
  user = openWorkspace(manifest());
  user.env["SHARED_PASSWORD"] = login.password;
  platform = await platformUp(user);
});
afterAll(() => user.close());

async function endpoint(name: string): Promise<string> {
  const { code, out, err } = await user.run("output", name, "--raw");
  if (code !== 0) throw new Error(err);
  return out;
}

/** Names of the customers in the database, as it answers. */
async function customers(): Promise<string> {
  const query = "MATCH (c:Customer) RETURN c.name";
  return JSON.stringify(await ask(await endpoint("plain"), login, "GRAPH.QUERY", "shop", query));
}

const apply = ["apply", "--auto-approve"] as const;

/** Verbs that were sent since the last `forget`. */
async function verbs(): Promise<readonly string[]> {
  return (await platform.writes()).map(({ operation }) => operation);
}

async function nothingToDo(): Promise<void> {
  expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
}

describe("real databases", () => {
  it("are usable when apply ends, over TLS too: nothing is warned of", async () => {
    const ran = await user.run(...apply);
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("4 added") });
    expect(`${ran.out}${ran.err}`).not.toMatch(/warning|does not answer|refuses/i);
    await nothingToDo();
  });

  it("serve TLS by the platform's own authority, which platform.json names, and nothing else on that port", async () => {
    const { caFile }: { caFile: string } = JSON.parse(user.read(".graphform/platform/platform.json"));
    expect(caFile).toBe(join(user.dir, ".graphform", "platform", "tls", "ca.pem"));
    const at = await endpoint("tls");
    expect(await ask(at, { ...login, ca: readFileSync(caFile, "utf8") }, "PING")).toBe("PONG");
    await expect(ask(at, login, "PING")).rejects.toThrow();
  });

  it("are a primary and its replica where the tier has two nodes, and one alone elsewhere", async () => {
    const slaves = async (name: string): Promise<unknown> =>
      /connected_slaves:(\d)/.exec(
        String(await ask(await endpoint(name), login, "INFO", "replication")),
      )?.[1];
    expect([await slaves("pair"), await slaves("free")]).toEqual(["1", "0"]);
  });

  it("are stopped and started by `power`, with their data", async () => {
    const at = await endpoint("plain");
    await ask(at, login, "GRAPH.QUERY", "shop", "CREATE (:Customer {name: 'Ada'})");
    user.write("graphform.yaml", manifest("stopped"));
    const plan = await user.run("plan");
    expect(plan.out).toMatch(/power +"running" → "stopped"/);
    await platform.forget();
    expect(await user.run(...apply)).toMatchObject({
      code: 0,
      out: expect.stringContaining("0 added, 1 changed"),
    });
    expect(await verbs()).toEqual(["stop"]);
    await expect(ask(at, login, "PING")).rejects.toThrow();
    await nothingToDo();
  });

  it("are started, updated and stopped again where one that is stopped is changed", async () => {
    user.write("graphform.yaml", manifest("stopped", "other words"));
    expect(actionsIn(readPlan((await user.run("plan", "--json")).out))).toEqual({
      "instances.plain": ["update"],
    });
    await platform.forget();
    expect(await user.run(...apply)).toMatchObject({
      code: 0,
      out: expect.stringContaining("0 added, 1 changed"),
    });
    expect(await verbs()).toEqual(["start", "update", "stop"]);
    await nothingToDo();
    user.write("graphform.yaml", manifest("running", "other words"));
    await platform.forget();
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(await verbs()).toEqual(["start"]);
    expect(await customers()).toContain("Ada");
    await nothingToDo();
  });

  it("get a new password by a restart, and the old one is worth nothing", async () => {
    const second = { ...login, password: "second-password" };
    user.env["SHARED_PASSWORD"] = second.password;
    const plan = readPlan((await user.run("plan", "--json")).out);
    expect(Object.keys(actionsIn(plan)).sort()).toEqual([
      "instances.free",
      "instances.pair",
      "instances.plain",
      "instances.tls",
    ]);
    expect(plan.x_graphform.forecast).toMatchObject({ restarts: 4 });
    await platform.forget();
    expect(await user.run(...apply)).toMatchObject({
      code: 0,
      out: expect.stringContaining("0 added, 4 changed"),
    });
    expect(await verbs()).toEqual(["update", "update", "update", "update"]);
    for (const name of ["plain", "pair", "free"]) {
      expect(await ask(await endpoint(name), second, "PING")).toBe("PONG");
      await expect(ask(await endpoint(name), login, "PING")).rejects.toThrow(/WRONGPASS/);
    }
    Object.assign(login, second);
    await nothingToDo();
  });

  it("come back with their data after kill -9 of the platform", async () => {
    for (const name of ["plain", "pair", "free"]) {
      await ask(await endpoint(name), login, "GRAPH.QUERY", "shop", `CREATE (:Mark {of: '${name}'})`);
    }
    process.kill(platform.pid, "SIGKILL");
    await until(
      async () => (await user.run("platform", "status")).code === 1 || undefined,
      "the end of the platform",
    );
    const lost = await user.run("plan");
    expect(lost).toMatchObject({ code: 1, err: expect.stringContaining("graphform platform up") });
    platform = await platformUp(user);
    await nothingToDo();
    expect((await user.run("show")).out).not.toContain("converging");
    for (const name of ["plain", "pair", "free"]) {
      const answer = await ask(
        await endpoint(name),
        login,
        "GRAPH.QUERY",
        "shop",
        "MATCH (m:Mark) RETURN m.of",
      );
      expect(JSON.stringify(answer)).toContain(name);
    }
  });
});

describe("platform down", () => {
  it("ends the databases and keeps their data", async () => {
    expect(processesOf(user.dir).length).toBe(6);
    expect(await user.run("platform", "down")).toMatchObject({ code: 0, out: "" });
    expect(processesOf(user.dir)).toEqual([]);
    platform = await platformUp(user);
    await nothingToDo();
    expect(await customers()).toContain("Ada");
  });

  it("ends the databases of a platform that was killed, too", async () => {
    process.kill(platform.pid, "SIGKILL");
    await until(() => !processesOf(user.dir).includes(platform.pid) || undefined, "the end of the platform");
    expect(processesOf(user.dir).length).toBe(5);
    expect(await user.run("platform", "down")).toMatchObject({ code: 0 });
    expect(processesOf(user.dir)).toEqual([]);
    expect(await user.run("platform", "down")).toMatchObject({
      code: 0,
      err: expect.stringContaining("no local platform"),
    });
    platform = await platformUp(user);
    expect(await customers()).toContain("Ada");
  });
});

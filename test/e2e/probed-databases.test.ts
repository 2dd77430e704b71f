import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, type DatabaseLogin, type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { planViolations } from "../support/published-schemas.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, type Ran, type Workspace } from "../support/workspace.ts";

const login = { username: "app", password: "first-password" };
const reader = { username: "reader", password: "reader-password" };
const runTime = {
  TIMEOUT_MAX: 30_000,
  TIMEOUT_DEFAULT: 1000,
  RESULTSET_SIZE: 10_000,
  QUERY_MEM_CAPACITY: 104_857_600,
  MAX_QUEUED_QUERIES: 100,
};

function manifest(cacheSize = 100): string {
  return `
apiVersion: graphform/v1
name: probed
service: { profile: ${quickProfileFile} }
secrets: { shared: { env: SHARED_PASSWORD }, reader: { env: READER_PASSWORD } }
instances:
  orders:
    tier: enterprise
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config:
      nodeInstanceType: m7g.large
      maxMemory: 1GB
      graphdbUser: app
      graphdbPassword: "\${secret.shared}"
      graphDBCacheSize: ${cacheSize}
      graphDBNodeCreationBuffer: 20000
      graphDBTimeoutMax: ${runTime.TIMEOUT_MAX}
      graphDBTimeoutDefault: ${runTime.TIMEOUT_DEFAULT}
      graphDBResultSetSize: ${runTime.RESULTSET_SIZE}
      graphDBQueryMemCapacity: ${runTime.QUERY_MEM_CAPACITY}
      graphDBMaxQueuedQueries: ${runTime.MAX_QUEUED_QUERIES}
      AOFPersistenceConfig: always
users:
  reader: { instance: orders, username: reader, password: "\${secret.reader}", acl: "~* +GRAPH.RO_QUERY +PING" }
outputs: { orders: "\${instances.orders.endpoint}" }
`;
}

let user: Workspace;
let platform: LocalPlatform;
let endpoint = "";

beforeAll(async () => {
  user = openWorkspace(manifest());
  user.env["SHARED_PASSWORD"] = login.password;
  user.env["READER_PASSWORD"] = reader.password;
  // The limit of the users host would be waited out after so many commands.
  platform = await platformUp(user, "--users-per-minute", "10000");
  expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
  endpoint = (await user.run("output", "orders", "--raw")).out;
}, 240_000);
afterAll(() => user.close());

const inDatabase = (by: DatabaseLogin, ...command: readonly string[]): Promise<unknown> =>
  ask(endpoint, by, ...command);

/** Who may everything in the local platform's databases. */
function operator(): DatabaseLogin {
  const { id } = user.state("probed").resources["instances.orders"] ?? { id: "" };
  const file = join(user.dir, ".graphform", "platform", "databases", id, "database.json");
  const { secret }: { secret: string } = JSON.parse(readFileSync(file, "utf8"));
  return { username: "graphform-platform", password: secret };
}

interface Shown {
  readonly resource_changes: readonly {
    readonly address: string;
    readonly change: { readonly actions: readonly string[] };
  }[];
  readonly x_graphform: {
    readonly census: {
      readonly probed?: number;
      readonly refused_logins?: readonly object[];
      readonly not_probed?: readonly object[];
      readonly engines?: object;
    };
    readonly changes: {
      readonly [address: string]: {
        readonly reason: string;
        readonly fields: object;
        readonly disruption: string;
      };
    };
    readonly steps: readonly { readonly key: string; readonly operation: string }[];
  };
}

async function plan(...options: readonly string[]): Promise<Shown> {
  const { out, err } = await user.run("plan", "--json", ...options);
  if (out === "") throw new Error(err);
  expect(planViolations(JSON.parse(out))).toEqual([]);
  return JSON.parse(out);
}

const apply = (): Promise<Ran> => user.run("apply", "--auto-approve");
const writes = async (): Promise<readonly string[]> =>
  (await platform.writes()).map(({ operation }) => operation);

async function nothingToDo(...options: readonly string[]): Promise<void> {
  expect(await user.run("plan", "--detailed-exitcode", ...options)).toMatchObject({ code: 0 });
}

describe("running databases that are asked", () => {
  it("are as they were declared: every login and every setting", async () => {
    await nothingToDo();
    const { census } = (await plan()).x_graphform;
    expect(census).toMatchObject({
      ...{ probed: 1, databases: { asked: 1, all: 1 }, logins: { asked: 1, all: 1 } },
      ...{ not_probed: [], engines: { "4.16.3": 1 } },
    });
    expect((await user.run("plan")).out).toContain("databases: 1 of 1 asked; logins of users: 1 of 1 tried");
  });

  it("have every setting set back that somebody set by hand, and nothing else is touched", async () => {
    const byHand = [
      ["TIMEOUT_MAX", "40000"],
      ["TIMEOUT_DEFAULT", "0"],
      ["RESULTSET_SIZE", "-1"],
      ["QUERY_MEM_CAPACITY", "0"],
      ["MAX_QUEUED_QUERIES", "7"],
    ] as const;
    for (const setting of byHand) await inDatabase(login, "GRAPH.CONFIG", "SET", ...setting);
    await nothingToDo("--no-probe");
    expect(await user.run("drift", "--no-probe")).toMatchObject({
      code: 0,
      out: expect.stringContaining("databases: none of 1 asked (--no-probe)"),
    });
    const drift = await user.run("drift");
    expect(drift).toMatchObject({
      code: 2,
      out: expect.stringContaining("databases: 1 of 1 asked; logins of users: 1 of 1 tried"),
    });
    expect(drift.out.replace(/\s+/g, " ")).toMatch(
      /config.graphDBTimeoutMax 30000 → 40000 \(read from the database\)/,
    );
    const { x_graphform: shown } = await plan();
    expect(shown.steps.map(({ key, operation }) => [key, operation])).toEqual([
      ["instances.orders#heal", "heal"],
    ]);
    expect(shown.changes["instances.orders"]).toMatchObject({
      disruption: "none",
      reason:
        "5 fields were set by hand in the database: set back in the running database, without a restart",
    });
    expect(Object.values(shown.changes["instances.orders"]?.fields ?? {})).toEqual(
      byHand.map(() => ({
        effect: "in-place",
        disruption: "none",
        secret: false,
        source: "probed",
        via: "database",
      })),
    );
    await platform.forget();
    expect(await apply()).toMatchObject({ code: 0, out: expect.stringContaining("0 added, 1 changed") });
    expect(await writes()).toEqual([]);
    for (const [name] of byHand)
      expect(await inDatabase(login, "GRAPH.CONFIG", "GET", name)).toEqual([name, runTime[name]]);
    await nothingToDo();
    expect(await user.run("drift")).toMatchObject({ code: 0 });
  });

  it("have both time limits set back together, from a plan that was saved", async () => {
    await inDatabase(login, "GRAPH.CONFIG", "SET", "TIMEOUT_MAX", "500", "TIMEOUT_DEFAULT", "100").catch(
      async () => {
        await inDatabase(login, "GRAPH.CONFIG", "SET", "TIMEOUT_DEFAULT", "100");
        await inDatabase(login, "GRAPH.CONFIG", "SET", "TIMEOUT_MAX", "500");
      },
    );
    expect(await user.run("plan", "--out", "plan.json")).toMatchObject({ code: 0 });
    expect(await user.run("apply", "plan.json")).toMatchObject({ code: 0 });
    await nothingToDo();
  });

  it("refuse a saved plan once the value is yet another one", async () => {
    await inDatabase(login, "GRAPH.CONFIG", "SET", "RESULTSET_SIZE", "5");
    expect(await user.run("plan", "--out", "stale.json")).toMatchObject({ code: 0 });
    await inDatabase(login, "GRAPH.CONFIG", "SET", "RESULTSET_SIZE", "6");
    expect(await user.run("apply", "stale.json")).toMatchObject({ code: 6 });
    expect(await apply()).toMatchObject({ code: 0 });
  });

  it("are no matter of a saved plan that is about something else: it is done, and says so", async () => {
    await inDatabase(login, "GRAPH.CONFIG", "SET", "RESULTSET_SIZE", "5");
    expect(await user.run("plan", "--out", "beside.json")).toMatchObject({ code: 0 });
    await inDatabase(login, "GRAPH.CONFIG", "SET", "MAX_QUEUED_QUERIES", "7");
    const ran = await user.run("apply", "beside.json");
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("Apply complete!") });
    expect(ran.out.replace(/\s+/g, " ")).toContain(
      "instances.orders: changed since this plan was made, and left as it is: config.graphDBMaxQueuedQueries; graphform plan shows it",
    );
    expect(await apply()).toMatchObject({ code: 0 });
    await nothingToDo();
  });

  it("are left alone where ignoreChanges says so", async () => {
    await inDatabase(login, "GRAPH.CONFIG", "SET", "RESULTSET_SIZE", "5");
    const ignoring = manifest().replace(
      "users:",
      "    lifecycle: { ignoreChanges: [config.graphDBResultSetSize] }\nusers:",
    );
    user.write("graphform.yaml", ignoring);
    await nothingToDo();
    user.write("graphform.yaml", manifest());
    expect(await apply()).toMatchObject({ code: 0 });
  });

  it("are updated by the service where their memory limit was changed", async () => {
    await inDatabase(operator(), "CONFIG", "SET", "maxmemory", "500mb");
    const { x_graphform: shown } = await plan();
    expect(shown.changes["instances.orders"]).toMatchObject({
      disruption: "restart",
      reason: "1 field differs",
    });
    await platform.forget();
    expect(await apply()).toMatchObject({ code: 0, out: expect.stringContaining("1 changed") });
    expect(await writes()).toEqual(["update"]);
    await nothingToDo();
  });

  it("take the declared password again", async () => {
    await inDatabase(operator(), "ACL", "SETUSER", "app", "resetpass", ">another");
    const { x_graphform: shown } = await plan();
    const refused = "the database refuses the declared password";
    expect(shown.census).toMatchObject({
      ...{ databases: { asked: 1, all: 1 }, logins: { asked: 1, all: 1 }, not_probed: [] },
      refused_logins: [{ address: "instances.orders", reason: refused, login: false }],
    });
    expect(shown.changes["instances.orders"]).toMatchObject({
      disruption: "restart",
      reason: `${refused}: apply sets it there; if it was rotated on purpose, put the new one into its secret`,
    });
    const text = (await user.run("plan")).out.replace(/\s+/g, " ");
    expect(text).toContain(`login refused: instances.orders: ${refused} (graphform apply sets it there; if`);
    expect(text).toContain("Incomplete: 1 database refuses its declared password.");
    const drift = (await user.run("drift")).out.replace(/\s+/g, " ");
    expect(drift).toContain(`${refused}; last seen right`);
    expect(drift).toContain(
      "Way out graphform plan shows what putting it back takes; graphform apply does it a password was rotated on purpose",
    );
    expect(drift).not.toContain(login.password);
    expect(await apply()).toMatchObject({ code: 0 });
    expect(await inDatabase(login, "PING")).toBe("PONG");
    await nothingToDo();
  });

  it("take the declared password of a user again", async () => {
    await inDatabase(operator(), "ACL", "SETUSER", "reader", "resetpass", ">another");
    const { x_graphform: shown } = await plan();
    expect(shown.census).toMatchObject({ logins: { asked: 1, all: 1 }, not_probed: [] });
    expect((await user.run("plan")).out).not.toContain("incomplete");
    expect(shown.changes["users.reader"]).toMatchObject({ disruption: "none" });
    expect(await apply()).toMatchObject({ code: 0 });
    expect(await inDatabase(reader, "PING")).toBe("PONG");
    await nothingToDo();
  });

  it("are not replaced for a setting that is read when they start: it is shown with the way out", async () => {
    const file = ".graphform/probed.state.json";
    const recorded = (size: number): string => `"config.graphDBCacheSize":${size}`;
    const text = user.read(file);
    const other = text.replace(/"config\.graphDBCacheSize":\s*100/, recorded(99));
    expect(other).not.toBe(text);
    user.write(file, other);
    user.write("graphform.yaml", manifest(99));
    const { out } = await user.run("plan");
    expect(out.replace(/\s+/g, " ")).toContain(
      "graphform instance restart instances.orders loads what is configured",
    );
    await nothingToDo();
    const drift = await user.run("drift");
    expect(drift.code).toBe(2);
    expect(drift.out.replace(/\s+/g, " ")).toContain(
      "instance restart instances.orders loads what is configured Way out apply leaves a field as it is if its line names a command",
    );
    expect(drift.out).not.toContain("graphform apply does it");
    // What the manifest changes is a replacement, whatever the database shows.
    user.write("graphform.yaml", manifest(100));
    expect((await plan()).resource_changes[0]?.change.actions).toEqual(["delete", "create"]);
    user.write(file, text);
    await nothingToDo();
  });

  it("are no drift where the service does not let read them: the rest is looked at, and the exit code is 1", async () => {
    const { id } = user.state("probed").resources["instances.orders"] ?? { id: "" };
    await inDatabase(operator(), "ACL", "SETUSER", "reader", "resetpass", ">another");
    await platform.faults({ method: "GET", path: `*/${id}`, fault: { status: 403 } });
    const { code, out } = await user.run("drift", "--json");
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      {
        ...{ errored: false, complete: false, resources: [] },
        census: {
          ...{ declared: 2, checked: 1, skipped: 1, unmanaged: 0 },
          not_checked: [
            { address: "instances.orders", failed: true, reason: expect.stringContaining("403") },
          ],
          not_probed: [{ address: "users.reader", failed: true, reason: "its instance could not be read" }],
        },
      },
    ]);
    // A plan needs all that it is not told to leave out: it names what, where, and how to go on.
    const { host } = new URL(platform.url);
    const plans = await user.run("plan");
    expect([plans.code, plans.out]).toEqual([1, ""]);
    expect(plans.err.replace(/\s+/g, " ")).toMatch(
      new RegExp(
        `^error: instances\\.orders \\(${id}\\) cannot be read at ${host}: instance\\.describe: .*\\(403\\) hint: .*--exclude instances\\.orders goes on without it`,
      ),
    );
    expect(await user.run("plan", "--exclude", "instances.orders")).toMatchObject({
      code: 0,
      out: expect.stringContaining("(incomplete)"),
    });
    await platform.faults();
    expect(await user.run("drift")).toMatchObject({ code: 2, out: expect.stringContaining("users.reader") });
    expect(await apply()).toMatchObject({ code: 0 });
  });

  it("are counted where they do not run", async () => {
    expect(await user.run("instance", "stop", "instances.orders")).toMatchObject({ code: 0 });
    expect((await plan()).x_graphform.census).toMatchObject({
      probed: 0,
      not_probed: [
        { address: "instances.orders", reason: "not running" },
        { address: "users.reader", reason: "not running" },
      ],
    });
    expect((await user.run("plan")).out).toContain(
      "databases: 0 of 1 asked; logins of users: 0 of 1 tried\n",
    );
  });
});

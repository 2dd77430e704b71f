import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { ask, type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { openWorkspace, processesOf, type Ran, until, type Workspace } from "../support/workspace.ts";

/** The life of the example in one story: every kind, every tier and every operation of the vendor's dialect, with real databases. */
const file = "everything-falkordb-cloud.yaml";
const secrets = { DATABASE_PASSWORD: "database-pass-phrase", READER_PASSWORD: "reader-pass-phrase" };
const owner = { username: "app", password: secrets.DATABASE_PASSWORD };
const reader = { username: "reader", password: secrets.READER_PASSWORD };
const warmed = 'instances.cache["eu-west-1"]';

let user: Workspace;
let platform: LocalPlatform;
/** What every command has said, for the last test. */
const said: string[] = [];

beforeAll(async () => {
  user = openWorkspace();
  cpSync(join(import.meta.dirname, "..", "..", "examples"), user.dir, { recursive: true });
  Object.assign(user.env, secrets);
  const quick = ["--auto-bootstrap", "--delay", "5", "--users-per-minute", "100000"];
  platform = await platformUp(user, "--profile", "falkordb-cloud", ...quick);
  user.env["GRAPHFORM_PLATFORM_URL"] = platform.url;
});
afterAll(() => user.close());

async function run(...args: readonly string[]): Promise<Ran> {
  const ran = await user.run(...args, "-f", file);
  said.push(ran.out, ran.err);
  return ran;
}

const apply = (...more: readonly string[]): Promise<Ran> => run("apply", "--auto-approve", ...more);
const output = async (name: string): Promise<string> => (await run("output", name, "--raw")).out;

async function nothingToDo(): Promise<void> {
  const planned = await run("plan", "--detailed-exitcode");
  expect(planned, planned.out + planned.err).toMatchObject({ code: 0 });
}

async function planned(...more: readonly string[]): Promise<ReturnType<typeof actionsIn>> {
  return actionsIn(readPlan((await run("plan", "--json", ...more)).out));
}

function edit(...edits: readonly (readonly [from: string, to: string])[]): void {
  const text = edits.reduce((before, [from, to]) => {
    expect(before).toContain(from);
    return before.replace(from, to);
  }, user.read(file));
  user.write(file, text);
}

function idOf(address: string): string {
  return user.state("everything-falkordb-cloud").resources[address]?.id ?? expect.fail(`no ${address}`);
}

async function snapshots(): Promise<readonly JsonObject[]> {
  return JSON.parse((await run("snapshot", "list", "--json")).out);
}

/** Instances as the service has them, whoever made them. */
async function served(): Promise<readonly JsonObject[]> {
  const { instances }: { instances: readonly JsonObject[] } = JSON.parse(
    await platform.control("GET", "status"),
  );
  return instances;
}

async function untilStatus(id: string, status: string): Promise<void> {
  await until(
    async () => (await served()).find((each) => each["id"] === id)?.["status"] === status || undefined,
    `${id} to be ${status}`,
  );
}

async function items(endpoint: string): Promise<string> {
  return JSON.stringify(await ask(endpoint, owner, "GRAPH.RO_QUERY", "g", "MATCH (i:Item) RETURN count(i)"));
}

async function addItem(endpoint: string): Promise<void> {
  await ask(endpoint, owner, "GRAPH.QUERY", "g", "CREATE (:Item)");
}

/** Databases that were made out of the European cache, declared beside it and bound; their endpoints. */
async function take(made: { readonly [name: string]: string }): Promise<readonly string[]> {
  const names = Object.keys(made);
  const blocks = names.map(
    (name) =>
      `  ${name}:
    tier: startup
    component: standalone
    region: eu-west-1
    config: { name: ${name}, memoryRequestsAndLimits: 1200M, graphdbUser: app, graphdbPassword: "\${secret.database}" }

`,
  );
  edit(["  scratch:\n", `${blocks.join("")}  scratch:\n`]);
  edit([
    "outputs:\n",
    `outputs:\n${names.map((name) => `  ${name}: \${instances.${name}.endpoint}\n`).join("")}`,
  ]);
  for (const [name, id] of Object.entries(made)) {
    await untilStatus(id, "RUNNING");
    expect(await run("import", `instances.${name}`, id)).toMatchObject({ code: 0 });
  }
  expect(await apply()).toMatchObject({ code: 0, out: expect.stringContaining("0 added") });
  await nothingToDo();
  return Promise.all(names.map(output));
}

/** The id of the new instance that a restore answers. */
async function restoredBy(...args: readonly string[]): Promise<string> {
  const made = await run(...args, "--json");
  expect(made, made.err).toMatchObject({ code: 0 });
  const { instance }: { instance: string } = JSON.parse(made.out);
  return instance;
}

describe("everything, as FalkorDB Cloud has it", () => {
  it("is valid, also by what the service offers today, and nothing was asked for by that", async () => {
    expect(await run("validate")).toMatchObject({ code: 0 });
    expect(await run("validate", "--online")).toMatchObject({ code: 0 });
    expect(await platform.writes()).toEqual([]);
  });

  it("is planned, applied from nothing, and planned empty", async () => {
    expect(await planned()).toEqual(
      Object.fromEntries(
        [
          ...["cloudAccounts.own", "networks.core", "instances.vault", "instances.orders"],
          ...["instances.catalogue", 'instances.cache["us-east-1"]', warmed, "instances.scratch"],
          ...["users.reader", "users.warmer"],
        ].map((address) => [address, ["create"]]),
      ),
    );
    expect(await platform.writes()).toEqual([]);
    const first = await apply();
    expect(`${first.out}${first.err}`).not.toMatch(/warning/i);
    // On a busy machine the person at the account may be late: the next run goes on.
    const applied = first.code === 8 ? await apply() : first;
    expect(applied, applied.out + applied.err).toMatchObject({ code: 0 });
    if (first.code === 0) expect(first.out).toContain("10 added, 0 changed");
    await nothingToDo();
    expect(processesOf(user.dir)).toHaveLength(8 + 1);
    const endpoint = await output("orders");
    await addItem(endpoint);
    expect(JSON.stringify(await ask(endpoint, reader, "GRAPH.LIST"))).toBe('["g"]');
    await expect(ask(endpoint, reader, "GRAPH.QUERY", "g", "CREATE (:Item)")).rejects.toThrow(/NOPERM/);
  });

  it("is changed in place: a name, tags, a size, what a user may do", async () => {
    edit(
      ["name: core\n", "name: core-prod\n"],
      ["customTags: { team: shop }", "customTags: { team: store, cost: shop }"],
      [
        "maxMemory: 1GB\n      graphdbUser: app\n      graphdbPassword: ${secret.database}\n      graphDB",
        "maxMemory: 2GB\n      graphdbUser: app\n      graphdbPassword: ${secret.database}\n      graphDB",
      ],
      [
        "      name: catalogue\n      nodeInstanceType: m7g.large",
        "      name: books\n      nodeInstanceType: r7g.large",
      ],
      ["+GRAPH.LIST +INFO +PING", "+INFO +PING"],
    );
    expect(await planned("--out", "changes.plan")).toEqual({
      "networks.core": ["update"],
      "instances.orders": ["update"],
      "instances.catalogue": ["update"],
      "users.reader": ["update"],
    });
    const applied = await apply("changes.plan");
    expect(applied, applied.err).toMatchObject({
      code: 0,
      out: expect.stringContaining("0 added, 4 changed"),
    });
    await nothingToDo();
    const endpoint = await output("orders");
    expect(String(await ask(endpoint, owner, "INFO", "memory"))).toContain(`maxmemory:${2 * 1024 ** 3}`);
    expect(await items(endpoint)).toContain("[[1]]");
    await expect(ask(endpoint, reader, "GRAPH.LIST")).rejects.toThrow(/NOPERM/);
  });

  it("has a pair whose replica takes over with all the data, although the service shows no roles", async () => {
    const before = await output("catalogue");
    await addItem(before);
    const ran = await run("instance", "failover", "instances.catalogue");
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("failover complete") });
    expect(await apply()).toMatchObject({ code: 0 });
    const after = await output("catalogue");
    expect(after).not.toBe(before);
    expect(await items(after)).toContain("[[1]]");
    await nothingToDo();
  });

  it("is brought to the newest version, once", async () => {
    await platform.forget();
    const ran = await run("instance", "upgrade", "instances.scratch");
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("upgrade complete") });
    const again = await run("instance", "upgrade", "instances.scratch", "--to", "1.1");
    expect(again.code).toBe(1);
    expect(`${again.out}${again.err}`).toContain("1.1 is not newer");
    expect((await platform.writes()).map(({ operation, status }) => [operation, status])).toEqual([
      ["version-upgrade", 202],
      ["version-upgrade", 400],
    ]);
    await nothingToDo();
  });

  it("is backed up, and restored to what it was at a time and in a snapshot, beside what it is now", async () => {
    const endpoint = await output("europeanCache");
    const restoreTo = ["instance", "restore", warmed, "--to"];
    const early = await run(...restoreTo, "2026-01-01T00:00:00Z");
    expect(early).toMatchObject({ code: 1, err: expect.stringContaining("no completed snapshot") });
    await addItem(endpoint);
    expect(await run("instance", "backup", warmed)).toMatchObject({ code: 0 });
    const [first] = await snapshots();
    expect(first).toMatchObject({ instanceId: idOf(warmed), type: "ManualSnapshot", region: "eu-west-1" });
    await addItem(endpoint);
    expect(await run("snapshot", "create", warmed)).toMatchObject({ code: 0 });
    const second = (await snapshots()).find(({ id }) => id !== first?.["id"]);
    await addItem(endpoint);
    const [earlier = "", copied = ""] = await take({
      earlier: await restoredBy(...restoreTo, String(first?.["completedAt"])),
      copied: await restoredBy("snapshot", "restore", String(second?.["id"])),
    });
    expect(await items(earlier)).toContain("[[1]]");
    expect(await items(copied)).toContain("[[2]]");
    expect(await items(endpoint)).toContain("[[3]]");
    const warmer = { username: "warmer", password: secrets.READER_PASSWORD };
    expect(await ask(copied, warmer, "PING")).toBe("PONG");
    const events = await run("instance", "events", "instances.earlier", "--json");
    expect(events.out).toContain(String(first?.["id"]));
    const outside = await run(...restoreTo, "2026-01-01T00:00:00Z");
    expect(outside).toMatchObject({ code: 1, err: expect.stringContaining("earliest restore time") });
    for (const { id } of [first, second].filter((each) => each !== undefined))
      expect(await run("snapshot", "delete", String(id), "--auto-approve")).toMatchObject({ code: 0 });
    expect(await snapshots()).toEqual([]);
  });

  it("has an account that its owner disconnects: it waits for him, and goes on as before", async () => {
    const answers: number[] = [];
    const id = idOf("cloudAccounts.own");
    const signedIn = await fetch(`${platform.url}/2022-09-01-00/signin`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: platform.username, password: platform.password }),
    });
    const { jwtToken }: { jwtToken: string } = JSON.parse(await signedIn.text());
    for (const [setConnection, status, check] of [
      [false, "DISCONNECTED", "waits"],
      [true, "READY", "rests"],
    ] as const) {
      const { status: answer } = await fetch(
        `${platform.url}/2022-09-01-00/resource-instance/account-config/${id}`,
        {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${jwtToken}` },
          body: JSON.stringify({
            serviceId: "s-local",
            subscriptionId: "sub-enterprise-byoa",
            setConnection,
          }),
        },
      );
      answers.push(answer);
      await untilStatus(id, status);
      if (check === "waits")
        expect(await apply()).toMatchObject({ code: 8, out: expect.stringContaining("connected again") });
    }
    expect(answers).toEqual([202, 202]);
    await nothingToDo();
  });

  it("is destroyed once what protects it is lifted as a declared step, by both sides", async () => {
    await platform.forget();
    const blocked = await run("destroy", "--auto-approve", "--target", "instances.orders");
    expect(blocked).toMatchObject({ code: 4, out: expect.stringContaining("deletionProtection is on") });
    expect(await platform.writes()).toEqual([]);
    edit(
      ["deletionProtection: true ", "deletionProtection: false"],
      ["lifecycle: { protect: true }", "lifecycle: { protect: false }"],
    );
    expect(await planned()).toEqual({ "instances.orders": ["update"] });
    expect(await apply()).toMatchObject({ code: 0 });
    // The account's owner has to run something between the two.
    expect(await run("destroy", "--auto-approve")).toMatchObject({
      code: 8,
      out: expect.stringContaining("waits for a person"),
    });
    expect(await run("destroy", "--auto-approve")).toMatchObject({ code: 0 });
  });

  it("leaves the backup that was asked for before the deletion, and nothing else", async () => {
    const left = await snapshots();
    expect(left).toMatchObject([{ type: "ManualSnapshot", status: "COMPLETE", region: "us-east-1" }]);
    expect(await run("snapshot", "delete", String(left[0]?.["id"]), "--auto-approve")).toMatchObject({
      code: 0,
    });
    expect(user.state("everything-falkordb-cloud")).toMatchObject({ resources: {}, intents: {} });
    expect(await served()).toEqual([]);
    const { networks, snapshots: kept }: { networks: number; snapshots: number } = JSON.parse(
      await platform.control("GET", "status"),
    );
    expect([networks, kept]).toEqual([0, 0]);
    const data = ["databases", "snapshots"].map((name) => join(".graphform", "platform", name));
    expect(user.files().filter((path) => data.some((folder) => path.startsWith(folder)))).toEqual([]);
    expect(processesOf(user.dir)).toEqual([platform.pid]);
  });

  it("shows no secret, and no address with one, in anything that was said or written", () => {
    // The platform's own folder but for its logs: a service holds its customers' parameters.
    const written = user
      .files()
      .filter((path) => /^\.graphform|\.plan$/.test(path) && !path.includes("platform/credentials"))
      .map((path): [string, string] => [path, user.read(path)]);
    expect(written.map(([path]) => path)).toEqual(
      expect.arrayContaining([
        expect.stringContaining("state.json"),
        expect.stringContaining("requests.jsonl"),
        "changes.plan",
      ]),
    );
    const texts: readonly (readonly [string, string])[] = [
      ...said.map((text): [string, string] => ["output", text]),
      ...written,
    ];
    for (const [where, text] of texts) {
      for (const secret of [...Object.values(secrets), platform.password, "observer:"])
        expect(text.includes(secret), `${secret} in ${where}: ${text.slice(0, 400)}`).toBe(false);
      // The name of the package that the engine comes from is no address.
      const strange = text.replaceAll(platform.username, "").replaceAll("@falkordblite/", "").split("@")[1];
      expect(strange, `@ in ${where}`).toBeUndefined();
    }
  });
});

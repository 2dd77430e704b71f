import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { instanceParams } from "../../src/kinds/instance-operations.ts";
import { ask, type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { outsider } from "../support/local-service.ts";
import { openWorkspace, until, type Workspace } from "../support/workspace.ts";

const killer = fileURLToPath(new URL("../support/kill-at-phase.js", import.meta.url));
const login = { username: "app", password: "first-password" };

interface Written {
  readonly cache: number;
  readonly migration?: string;
  /** The name of the database. */
  readonly name?: string;
  readonly more?: string;
}

function manifest({ cache, migration = "", name = "orders", more = "" }: Written): string {
  return `
apiVersion: graphform/v1
name: troubles
secrets: { app: { env: APP_PASSWORD } }
instances:
  ${name}:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config: { nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.app}", graphDBCacheSize: ${cache} }
    lifecycle: { onReplace: migrate, migration: { maxReadOnly: 1h${migration} } }
users:
  reader: { instance: ${name}, username: reader, password: "\${secret.app}", acl: "~* +GRAPH.RO_QUERY +PING" }
outputs:
  orders: \${instances.${name}.endpoint}
  both: \${instances.${name}.endpoint} for \${users.reader.username}
${more}`;
}

let user: Workspace;
let platform: LocalPlatform;
let cache = 25;
beforeAll(async () => {
  user = openWorkspace(manifest({ cache }));
  user.env["APP_PASSWORD"] = login.password;
  platform = await platformUp(user);
  expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
  await query("CREATE (:Order {number: 1})");
});
afterAll(() => user.close());

async function output(name: string): Promise<string> {
  const { code, out, err } = await user.run("output", name, "--raw");
  if (code !== 0) throw new Error(err);
  return out.trim();
}

async function query(text: string, graph = "shop"): Promise<string> {
  return JSON.stringify(await ask(await output("orders"), login, "GRAPH.QUERY", graph, text));
}

/** The orders that the database has, and proof that it takes writes at once. */
async function orders(): Promise<number> {
  await query("MERGE (:Proof)");
  const [, count = ""] = /\[\[(\d+)\]\]/.exec(await query("MATCH (o:Order) RETURN count(o)")) ?? [];
  return Number(count);
}

/** Writes a manifest whose cache size is another one, which takes another database. */
function change(more: Partial<Written> = {}): void {
  cache += 1;
  user.write("graphform.yaml", manifest({ cache, ...more }));
}

function cutover(name = "orders"): ReturnType<Workspace["run"]> {
  return user.run("apply", "--auto-approve", "--cutover", `instances.${name}`);
}

async function retire(name = "orders"): Promise<void> {
  const former = `instances.${name}~former`;
  const retired = await user.run("apply", "--auto-approve", "--allow-destroy", former);
  expect(retired, retired.out + retired.err).toMatchObject({ code: 0 });
  expect(user.state("troubles").resources[former]).toBeUndefined();
}

async function phase(): Promise<string> {
  return (await user.run("replace", "status")).out.split(" since ")[0] ?? "";
}

/** Ends a cutover, or another command, by SIGKILL as soon as the state says this. */
async function kill(
  at: string,
  args: readonly string[] = ["apply", "--auto-approve", "--cutover", "instances.orders"],
): Promise<void> {
  Object.assign(user.env, { KILL_AT_PHASE: at, NODE_OPTIONS: `--import=${killer}` });
  const { child, ended } = user.start(...args);
  const { out, err } = await ended;
  user.env["NODE_OPTIONS"] = undefined;
  expect(child.signalCode, out + err).toBe("SIGKILL");
}

function window(): string {
  const at = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);
  return `, windows: ["${at(-1)}-${at(30)}"]`;
}

describe("a migration in trouble", () => {
  it("is refused by a plan for a constraint that failed, before anything is made", async () => {
    await query("CREATE (:N {i: 1}), (:N {i: 1})", "bad");
    await query("CREATE INDEX FOR (n:N) ON (n.i)", "bad");
    const endpoint = await output("orders");
    const words = ["GRAPH.CONSTRAINT", "CREATE", "bad", "UNIQUE", "NODE", "N", "PROPERTIES", "1", "i"];
    await ask(endpoint, login, ...words);
    await expect.poll(() => query("CALL db.constraints()", "bad")).toContain("FAILED");
    change();
    const plan = await user.run("plan");
    expect(plan.out).toContain("the unique constraint on N [i] in graph bad is failed");
    expect(plan.out).toContain("drop the constraint; it can be made anew once no data breaks it");
    const applied = await user.run("apply", "--auto-approve");
    expect(applied, applied.out + applied.err).toMatchObject({ code: 4 });
    expect(Object.keys(user.state("troubles").resources)).not.toContain("instances.orders~next");
    await ask(endpoint, login, "GRAPH.DELETE", "bad");
  });

  it("is refused for a user that the manifest does not declare, before anything is made", async () => {
    const other = await outsider(user);
    const instanceId = user.state("troubles").resources["instances.orders"]?.id ?? "";
    const stranger = { username: "stranger", password: "not-declared", acl: "~* +PING" };
    await other.write("user.create", { instanceId }, stranger);
    const applied = await user.run("apply", "--auto-approve");
    await other.write("user.delete", { instanceId, username: "stranger" });
    expect(applied, applied.out + applied.err).toMatchObject({ code: 1 });
    expect(applied.out.replace(/\s+/g, " ")).toContain(
      `the user ${instanceId}/stranger is not declared: its secrets are not known, and the new database would lack it`,
    );
    expect(Object.keys(user.state("troubles").resources)).not.toContain("instances.orders~next");
  });

  it("is refused in the free tier, which keeps no copy, before anything is made", async () => {
    const free = (region: string, tier = "free", component = "free"): string => `
apiVersion: graphform/v1
name: free
secrets: { app: { env: APP_PASSWORD } }
instances:
  small:
    tier: ${tier}
    component: ${component}
    cloudProvider: aws
    region: ${region}
    config: { graphdbUser: app, graphdbPassword: "\${secret.app}"${tier === "pro" ? ", nodeInstanceType: m7g.large" : ""} }
    lifecycle: { protect: false, onReplace: migrate }
`;
    user.write("free.yaml", free("us-east-1"));
    expect(await user.run("apply", "-f", "free.yaml", "--auto-approve")).toMatchObject({ code: 0 });
    user.write("free.yaml", free("us-west-2"));
    const applied = await user.run("apply", "-f", "free.yaml", "--auto-approve");
    expect(applied, applied.out + applied.err).toMatchObject({ code: 1 });
    expect(applied.err).toContain("onReplace: migrate is not kept");
    expect(applied.out.replace(/\s+/g, " ")).toContain("has no append-only file and no backup");
    expect(Object.keys(user.state("free").resources)).toEqual(["instances.small"]);
    // A tier that keeps a copy takes the data.
    user.write(
      "free.yaml",
      free("us-east-1", "pro", "standalone").replace(
        "migrate }",
        "migrate, migration: { maxReadOnly: 1h } }",
      ),
    );
    const moved = await user.run(
      "apply",
      "-f",
      "free.yaml",
      "--auto-approve",
      "--cutover",
      "instances.small",
    );
    expect(moved, moved.out + moved.err).toMatchObject({ code: 0 });
    const former = "instances.small~former";
    const gone = ["destroy", "-f", "free.yaml", "--auto-approve", "--allow-destroy", former];
    expect(await user.run(...gone)).toMatchObject({ code: 0 });
  });

  it("leaves everything as it is if the service refuses a second database", async () => {
    const body = JSON.stringify({ message: "the plan allows one instance" });
    await platform.faults({ operation: "create", fault: { status: 403, body } });
    const refused = await cutover();
    await platform.faults();
    expect(refused, refused.out + refused.err).toMatchObject({ code: 1 });
    expect(refused.out + refused.err).toContain("the plan allows one instance");
    expect(await orders()).toBe(1);
  });

  it("is refused for a hook that cannot be run, before anything is made", async () => {
    user.write("plain.sh", "#!/bin/sh\n");
    for (const program of ["./no-such.sh", "./plain.sh", "no-such-program"]) {
      user.write("graphform.yaml", manifest({ cache: cache + 1, migration: `, hook: [${program}]` }));
      const applied = await user.run("apply", "--auto-approve");
      expect(applied, applied.out + applied.err).toMatchObject({ code: 1 });
      expect(applied.out.replace(/\s+/g, " ")).toContain(`the hook ${program} cannot be run`);
    }
    expect(Object.keys(user.state("troubles").resources)).not.toContain("instances.orders~next");
  });

  it("moves in a declared window without --cutover, and runs a hook again that failed", async () => {
    user.write("hook.sh", '#!/bin/sh\n[ -e ready ] || exit 3\necho "$GRAPHFORM_ENDPOINT" > told\n');
    chmodSync(join(user.dir, "hook.sh"), 0o755);
    change({ migration: `${window()}, hook: [./hook.sh]` });
    const moved = await user.run("apply", "--auto-approve");
    expect(moved, moved.out + moved.err).toMatchObject({ code: 1 });
    expect(moved.out + moved.err).toContain("the hook failed: it ended with 3");
    expect(await phase()).toBe("instances.orders: hook");
    const planned = await user.run("plan", "--detailed-exitcode");
    expect(planned, planned.err).toMatchObject({ code: 2 });
    expect(planned.out).toContain("the hook after the switch has not ended with 0");
    expect(planned.out).toContain("Plan: 0 to add, 1 to change, 0 to destroy.");
    user.write("ready", "");
    const again = await user.run("apply", "--auto-approve");
    expect(again, again.out + again.err).toMatchObject({ code: 0 });
    expect(user.read("told").trim()).toBe(await output("orders"));
    expect(await phase()).toBe("instances.orders: hold");
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    expect(await orders()).toBe(1);
  });

  it("follows an address that is moved while the old database is held, and goes back from there", async () => {
    const before = user.state("troubles").resources;
    const more = "moved: [{ from: instances.orders, to: instances.shop }]\n";
    user.write("graphform.yaml", manifest({ cache, name: "shop", more }));
    const renamed = await user.run("apply", "--auto-approve");
    expect(renamed, renamed.out + renamed.err).toMatchObject({ code: 0 });
    const after = user.state("troubles").resources;
    expect(after["instances.shop"]?.id).toBe(before["instances.orders"]?.id);
    expect(after["instances.shop~former"]?.id).toBe(before["instances.orders~former"]?.id);
    expect(Object.keys(after)).not.toContain("instances.orders~former");
    expect(await phase()).toBe("instances.shop: hold");
    const back = await user.run("replace", "undo", "instances.shop");
    expect(back, back.out + back.err).toMatchObject({ code: 0 });
    const undone = user.state("troubles").resources;
    expect(undone["instances.shop"]?.id).toBe(before["instances.orders~former"]?.id);
    expect(undone["users.reader"]?.recorded["instance"]).toBe("shop");
    expect(await output("both")).toBe(`${await output("orders")} for reader`);
    expect(await orders()).toBe(1);
    cache = 25;
    user.write("graphform.yaml", manifest({ cache, name: "shop", more }));
    await retire("shop");
    const back2 = "moved: [{ from: instances.shop, to: instances.orders }]\n";
    user.write("graphform.yaml", manifest({ cache, more: back2 }));
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
  });

  it.each([400, 409])(
    "goes on with writes at once if the service refuses by %s to stop the old database",
    async (status) => {
      if (status === 400) change();
      const body = JSON.stringify({ message: "not now" });
      await platform.faults({ operation: "stop", fault: { status, body } });
      const refused = await cutover();
      await platform.faults();
      expect(refused, refused.out + refused.err).toMatchObject({ code: 1 });
      expect(refused.out + refused.err).toMatch(
        /nothing was switched, and \S+ takes writes as before: it was not stopped: .*not now/,
      );
      expect(await orders()).toBe(1);
      expect(await phase()).toBe("instances.orders: await-cutover");
    },
  );

  it("lets a plan end the pause of a run that was killed before it asked for the stop", async () => {
    await kill("fence");
    const planned = await user.run("plan");
    expect(planned.err).toContain("it takes writes again");
    expect(await orders()).toBe(1);
  });

  it.each([
    ["apply", 8],
    ["replace undo instances.orders", 0],
  ])(
    "starts a database by %s whose stop was carried out after a plan had ended the fence",
    async (command, code) => {
      await kill("fence");
      expect((await user.run("plan")).err).toContain("it takes writes again");
      const { id = "" } = user.state("troubles").resources["instances.orders"] ?? {};
      const other = await outsider(user);
      const place = instanceParams({ tier: "pro", component: "standalone" }, other.service.profile);
      await other.write("instance.stop", { ...place, id });
      const closed = (): Promise<string> => query("RETURN 1").catch(() => "closed");
      await expect.poll(closed, { timeout: 60_000 }).toBe("closed");
      expect(await phase()).toBe("instances.orders: await-cutover");
      expect((await user.run("plan")).out.replace(/\s+/g, " ")).toMatch(
        /is stopped: .* apply lets it take writes again/,
      );
      const options = command === "apply" ? ["--auto-approve"] : [];
      const opened = await user.run(...command.split(" "), ...options);
      expect(opened, opened.out + opened.err).toMatchObject({ code });
      expect(await orders()).toBe(1);
      expect(await phase()).toBe("instances.orders: await-cutover");
    },
  );

  it("starts the old database again if the change is taken back after a kill while it stops", async () => {
    await kill("stopping");
    const blocked = await user.run("plan", "--max-disruption", "none");
    expect(blocked.out.replace(/\s+/g, " ")).toContain(
      "graphform replace undo instances.orders opens the database, which a run that was killed has closed",
    );
    user.write("graphform.yaml", manifest({ cache: 25 }));
    const first = await user.run("apply", "--auto-approve");
    const second = await user.run("apply", "--auto-approve");
    expect(second, first.out + first.err + second.out + second.err).toMatchObject({ code: 0 });
    expect(await orders()).toBe(1);
    expect((await user.run("replace", "status")).out).toBe("No data is being moved.\n");
    expect(Object.keys(user.state("troubles").resources)).not.toContain("instances.orders~next");
    change();
    expect(await cutover()).toMatchObject({ code: 0 });
    await retire();
    change();
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 8 });
  });

  it("starts the old database again after a kill while it stops, and keeps what it takes then, with the hook of the next cutover", async () => {
    cache -= 1;
    change({ migration: ", hook: [./hook.sh]" });
    const before = await output("orders");
    user.write("told", "nothing");
    await kill("stopping");
    expect((await user.run("plan")).err).not.toContain("takes writes again");
    expect(await user.run("instance", "start", "instances.orders")).toMatchObject({ code: 0 });
    await query("CREATE (:Order {number: 2})");
    expect(await user.run("instance", "stop", "instances.orders")).toMatchObject({ code: 0 });
    const reopened = await user.run("apply", "--auto-approve");
    expect(reopened, reopened.out + reopened.err).toMatchObject({ code: 8 });
    expect(await output("orders")).toBe(before);
    expect(await orders()).toBe(2);
    const finished = await cutover();
    expect(finished, finished.out + finished.err).toMatchObject({ code: 0 });
    expect(await output("orders")).not.toBe(before);
    expect(user.read("told").trim()).toBe(await output("orders"));
    expect(await orders()).toBe(2);
    await query("MATCH (o:Order {number: 2}) DELETE o");
    await retire();
  });

  it("is done though the answer to the stop was lost", async () => {
    change();
    await platform.faults({ operation: "stop", count: 1, fault: { reset: "after" } });
    const moved = await cutover();
    await platform.faults();
    expect(moved, moved.out + moved.err).toMatchObject({ code: 0 });
    expect(await orders()).toBe(1);
    expect(existsSync(join(user.dir, "ready"))).toBe(true);
  });

  it("names the new database in the outputs from the switch on, while the hook runs and after it was interrupted", async () => {
    await retire();
    const old = [await output("orders"), await output("both")];
    const id = user.state("troubles").resources["instances.orders"]?.id;
    const wait = "#!/bin/sh\necho $$ > begun\nwhile [ ! -e go ]; do sleep 0.1; done\n";
    user.write("wait.sh", wait);
    chmodSync(join(user.dir, "wait.sh"), 0o755);
    change({ migration: ", hook: [./wait.sh]" });
    const { child, ended } = user.start("apply", "--auto-approve", "--cutover", "instances.orders");
    await until(() => user.has("begun") || undefined, "the hook");
    const now = [await output("orders"), await output("both")];
    expect(now.filter((value) => old.includes(value))).toEqual([]);
    expect(now[1]).toBe(`${now[0]} for reader`);
    const pid = Number(user.read("begun"));
    child.kill("SIGINT");
    const { code, out, err } = await ended;
    expect(code, out + err).toBe(130);
    expect(out + err).not.toContain("the hook failed");
    expect(out + err).toContain("the hook was ended: apply runs the hook again");
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect([await output("orders"), await output("both")]).toEqual(now);
    expect(user.state("troubles").resources["instances.orders~former"]?.id).toBe(id);
    expect(await phase()).toBe("instances.orders: hook");
  });

  it("says of a hook that was begun by a run that was killed that it may still be at work", async () => {
    rmSync(join(user.dir, "begun"));
    const { child, ended } = user.start("apply", "--auto-approve");
    await until(() => user.has("begun") || undefined, "the hook");
    child.kill("SIGKILL");
    await ended;
    rmSync(join(user.dir, "begun"));
    const again = user.start("apply", "--auto-approve");
    await until(() => user.has("begun") || undefined, "the hook");
    again.child.kill("SIGTERM");
    const { err } = await again.ended;
    expect(err).toContain("an earlier run began the hook at 2");
    expect(err).toContain("it may still be at work");
  });

  it("keeps the hook in mind if an undo is killed in its pause", async () => {
    await kill("quiesce", ["replace", "undo", "instances.orders"]);
    expect((await user.run("plan")).err).toContain("it takes writes again");
    expect(await phase()).toBe("instances.orders: hook");
  });

  it("warns of a hook that a run left at work when it goes back, and runs it again after the way forward", async () => {
    rmSync(join(user.dir, "begun"));
    const { child, ended } = user.start("apply", "--auto-approve");
    await until(() => user.has("begun") || undefined, "the hook");
    child.kill("SIGKILL");
    await ended;
    const back = await user.run("replace", "undo", "instances.orders");
    expect(back, back.err).toMatchObject({ code: 0 });
    expect(back.err).toMatch(/the hook that followed the switch to \S+ may still be at work/);
    expect(await phase()).toBe("instances.orders: hold");
    const forward = await user.run("replace", "undo", "instances.orders");
    expect(forward, forward.err).toMatchObject({ code: 0 });
    expect(forward.err).toContain("its hook has not ended with 0: the next apply runs it");
    expect(await phase()).toBe("instances.orders: hook");
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 2 });
  });

  it("leaves out a hook that is not declared any more", async () => {
    user.write("graphform.yaml", manifest({ cache }));
    const planned = await user.run("plan", "--detailed-exitcode");
    expect(planned, planned.err).toMatchObject({ code: 2 });
    expect(planned.out.replace(/\s+/g, " ")).toContain("is not declared any more: apply leaves it out");
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await phase()).toBe("instances.orders: hold");
    user.write("go", "");
    await retire();
  });

  it("names the new database in the outputs if it is killed right after the switch", async () => {
    const old = await output("both");
    change();
    await kill("switched");
    expect(await output("both")).not.toBe(old);
    expect(await output("both")).toBe(`${await output("orders")} for reader`);
    expect(await orders()).toBe(1);
  });

  it("names the database that is kept, and what an undo that was killed has stopped", async () => {
    expect((await user.run("apply", "--auto-approve")).code).toBe(0);
    const words = async (): Promise<string> => (await user.run("plan")).out.replace(/\s+/g, " ");
    expect(await words()).toContain("another database is instances.orders now; this one is kept until");
    await kill("stopping", ["replace", "undo", "instances.orders"]);
    expect(await words()).toContain("an earlier replace undo was at work and did not end: apply starts this");
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await orders()).toBe(1);
  });

  it("goes back if the database of the address was deleted outside, and not while a list still has it", async () => {
    const { id = "" } = user.state("troubles").resources["instances.orders"] ?? {};
    await platform.faults({ operation: "describe", path: `*${id}`, fault: { status: 404 } });
    const doubtful = await user.run("replace", "undo", "instances.orders");
    await platform.faults();
    expect(doubtful, doubtful.err).toMatchObject({ code: 1 });
    expect(doubtful.err).toContain(`the service lists ${id}, which may run`);
    expect(await orders()).toBe(1);
    const other = await outsider(user);
    const place = instanceParams({ tier: "pro", component: "standalone" }, other.service.profile);
    await other.write("instance.delete", { ...place, id });
    const back = await user.run("replace", "undo", "instances.orders");
    expect(back, back.out + back.err).toMatchObject({ code: 0 });
    expect(back.err).toContain(`${id} is gone`);
    expect(await orders()).toBe(1);
    cache -= 1;
    user.write("graphform.yaml", manifest({ cache }));
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect((await user.run("replace", "status")).out).toBe("No data is being moved.\n");
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

const login = { username: "app", password: "first-password" };
const reader = { username: "reader", password: "reader-password" };
const cutover = ["apply", "--auto-approve", "--cutover", "instances.orders"] as const;

function manifest(cache: number, user = ""): string {
  return `
apiVersion: graphform/v1
name: moving
secrets: { app: { env: APP_PASSWORD }, reader: { env: READER_PASSWORD } }
instances:
  orders:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config: { nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.app}", graphDBCacheSize: ${cache} }
    lifecycle: { onReplace: migrate }
users:
  reader: { instance: orders, username: reader, password: "\${secret.reader}", acl: "~* +GRAPH.RO_QUERY +PING" }
${user}outputs:
  orders: \${instances.orders.endpoint}
`;
}

let user: Workspace;
let platform: LocalPlatform;
beforeAll(async () => {
  user = openWorkspace(manifest(25));
  user.env["APP_PASSWORD"] = login.password;
  user.env["READER_PASSWORD"] = reader.password;
  platform = await platformUp(user);
});
afterAll(() => user.close());

async function endpoint(): Promise<string> {
  const { code, out, err } = await user.run("output", "orders", "--raw");
  if (code !== 0) throw new Error(err);
  return out.trim();
}

async function query(text: string, as = login, at?: string): Promise<string> {
  const command = as === reader ? "GRAPH.RO_QUERY" : "GRAPH.QUERY";
  return JSON.stringify(await ask(at ?? (await endpoint()), as, command, "shop", text));
}

/** Asks the database of the address as the operator of the platform. */
async function asOperator(...command: readonly string[]): Promise<unknown> {
  const id = user.state("moving").resources["instances.orders"]?.id ?? "";
  const file = join(user.dir, ".graphform/platform/databases", id, "database.json");
  const { secret }: { secret: string } = JSON.parse(readFileSync(file, "utf8"));
  return ask(await endpoint(), { username: "graphform-platform", password: secret }, ...command);
}

describe("replacement that keeps the data", () => {
  it("waits with exit 8 until the cutover is asked for, and shows what a rehearsal measured", async () => {
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    await query("CREATE INDEX FOR (o:Order) ON (o.number)");
    await query("UNWIND range(1, 2000) AS n CREATE (:Order {number: n})-[:NEXT]->(:Item {n: n})");
    user.write("graphform.yaml", manifest(100));

    const plan = await user.run("plan");
    expect(plan.out).toContain("data kept, read-only for a time that a rehearsal measures first");
    expect(plan.out).toContain("instances.orders~next");
    const first = await user.run("apply", "--auto-approve");
    expect(first).toMatchObject({ code: 8, out: expect.stringContaining("--cutover instances.orders") });
    const second = await user.run(...cutover);
    expect(second).toMatchObject({ code: 8, out: expect.stringMatching(/read-only for about/) });
    const status = await user.run("replace", "status");
    expect(status).toMatchObject({ code: 0, out: expect.stringContaining("await-cutover") });
    expect((await user.run("plan")).out).toMatch(/read-only about .* \(rehearsed\)/);
    expect(await query("MATCH (o:Order) RETURN count(o)")).toContain("2000");
  });

  it("moves data, index and users, and keeps the old database stopped", async () => {
    const before = await endpoint();
    const { resources } = user.state("moving");
    const moved = await user.run(...cutover);
    expect(moved, moved.out + moved.err).toMatchObject({ code: 0 });
    expect(moved.out).toMatch(/^Impact +no restarts, 1 replacement,/m);
    const after = user.state("moving").resources;
    expect(after["instances.orders~former"]?.id).toBe(resources["instances.orders"]?.id);
    expect(after["instances.orders"]?.id).toBe(resources["instances.orders~next"]?.id);
    expect(after["users.reader"]?.recorded["instance"]).toBe("orders");
    expect(await endpoint()).not.toBe(before);
    expect(await query("MATCH (o:Order) RETURN count(o)")).toContain("2000");
    expect(await query("MATCH (o:Order) RETURN count(o)", reader)).toContain("2000");
    expect(await query("CALL db.indexes() YIELD label RETURN label")).toContain("Order");
    await expect(query("RETURN 1", login, before)).rejects.toThrow();
    const plan = await user.run("plan", "--detailed-exitcode");
    expect(plan, plan.out).toMatchObject({ code: 0 });
  });

  it("goes back to the old database, and says what the new one had got", async () => {
    const before = user.state("moving").resources;
    await query("CREATE (:Order {number: 2001})");
    const back = await user.run("replace", "undo", "instances.orders");
    expect(back, back.out + back.err).toMatchObject({ code: 0 });
    expect(back.err).toMatch(/had got \d+ commands? that can write since the switch/);
    expect(back.err).toContain("replace undo instances.orders goes to it again");
    expect(back.err).not.toContain("libraries");
    await query("CREATE (:Second)");
    const library = "function f(x) { return x + 1; } falkor.register('f', f);";
    await ask(await endpoint(), login, "GRAPH.UDF", "LOAD", "lib", library);
    const forward = await user.run("replace", "undo", "instances.orders");
    expect(forward, forward.out + forward.err).toMatchObject({ code: 0 });
    expect(forward.err).toMatch(
      /had got 1 command that can write since the switch.*; its libraries of functions may be others since/,
    );
    expect(user.state("moving").resources["instances.orders"]?.id).toBe(before["instances.orders"]?.id);
    await query("CREATE (:Third)");
    await asOperator("CONFIG", "RESETSTAT");
    const uncounted = await user.run("replace", "undo", "instances.orders");
    expect(uncounted, uncounted.out + uncounted.err).toMatchObject({
      code: 0,
      err: expect.stringMatching(/had got is not counted: .*its counters were set back/),
    });
    const after = user.state("moving").resources;
    expect(after["instances.orders"]?.id).toBe(before["instances.orders~former"]?.id);
    expect(after["instances.orders~former"]?.id).toBe(before["instances.orders"]?.id);
    user.write("graphform.yaml", manifest(25));
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await query("MATCH (o:Order) RETURN count(o)")).toContain("2000");
    expect(await query("MATCH (o:Order) RETURN count(o)", reader)).toContain("2000");
    expect(platform.url).toContain("http");
  });

  it("takes a user that was added after the switch along, both ways", async () => {
    const late = `  late: { instance: orders, username: late, password: "\${secret.reader}", acl: "~* +PING" }\n`;
    const boundTo = (): unknown => user.state("moving").resources["users.late"]?.place["instance"];
    user.write("graphform.yaml", manifest(25, late));
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    const id = user.state("moving").resources["instances.orders"]?.id;
    expect(boundTo()).toBe(id);
    expect(await user.run("replace", "undo", "instances.orders")).toMatchObject({ code: 0 });
    expect(user.state("moving").resources["users.late"]).toBeUndefined();
    expect(await user.run("replace", "undo", "instances.orders")).toMatchObject({ code: 0 });
    expect(boundTo()).toBe(id);
    await ask(await endpoint(), { username: "late", password: reader.password }, "PING");
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    user.write("graphform.yaml", manifest(25));
    expect(await user.run("apply", "--auto-approve", "--allow-destroy", "users.late")).toMatchObject({
      code: 0,
    });
  });

  it("closes nothing on the way back if the other database is gone", async () => {
    const former = user.state("moving").resources["instances.orders~former"]?.id ?? "";
    await platform.faults({ operation: "describe", path: `*${former}`, fault: { status: 404 } });
    const refused = await user.run("replace", "undo", "instances.orders");
    expect(refused, refused.err).toMatchObject({
      code: 1,
      err: expect.stringContaining("cannot be started"),
    });
    await platform.faults();
    await query("CREATE (:Written {after: 'undo'})");
    expect((await user.run("replace", "status")).out).toContain("instances.orders: hold since");
  });

  it("lets a database take writes again if its stop on the way back was taken and not carried out", async () => {
    await platform.faults({ operation: "stop", count: 1, fault: { status: 202, body: "{}" } });
    const undone = await user.run("replace", "undo", "instances.orders", "--timeout", "10s");
    expect(undone, undone.out + undone.err).toMatchObject({
      code: 7,
      err: expect.stringContaining("its stop is not proved"),
    });
    const planned = await user.run("plan");
    expect(planned.err).toContain("in the phase fence of its migration: it takes writes again");
    await query("CREATE (:Written {after: 'a stop that was not carried out'})");
    const applied = await user.run("apply", "--auto-approve");
    expect(applied, applied.out + applied.err).toMatchObject({ code: 0 });
    expect((await user.run("replace", "status")).out).toContain("instances.orders: hold since");
  });

  it("deletes the old database as any resource, with the guards of a deletion", async () => {
    const blocked = await user.run("plan", "--allow-destroy", "instances.orders~former");
    expect(blocked.out).toContain("instances.orders~former");
    const retired = await user.run("apply", "--auto-approve", "--allow-destroy", "instances.orders~former");
    expect(retired, retired.out + retired.err).toMatchObject({ code: 0 });
    expect(user.state("moving").resources["instances.orders~former"]).toBeUndefined();
    expect((await user.run("replace", "status")).out).toBe("No data is being moved.\n");
  });
});

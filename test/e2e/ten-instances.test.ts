import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, processesOf, type Workspace } from "../support/workspace.ts";

const password = "ten-times-secret";

/** Ten: every tier that needs no account, a pair of nodes, and two of a forEach. */
function manifest(protect: string): string {
  return `
apiVersion: graphform/v1
name: ten
service: { profile: ${quickProfileFile} }
secrets: { shared: { env: SHARED_PASSWORD } }
defaults:
  instances: { cloudProvider: aws, region: us-east-1${protect} }
instances:
  enterprise-a:
    tier: enterprise
    component: standalone
    config: { name: a, nodeInstanceType: m7g.large, maxMemory: 2GB, graphdbUser: app, graphdbPassword: "\${secret.shared}" }
  enterprise-b:
    tier: enterprise
    component: single-zone
    config: { name: b, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.shared}", graphDBCacheSize: 77 }
  pro-a: { tier: pro, component: standalone, config: { name: p, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.shared}" } }
  pro-b: { tier: pro, component: standalone, config: { name: p, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.shared}" } }
  cache:
    forEach: [us-east-1, eu-west-1]
    tier: startup
    component: standalone
    region: \${each.value}
    config: { name: "cache-\${each.key}", memoryRequestsAndLimits: 1200M, graphdbUser: app, graphdbPassword: "\${secret.shared}" }
  free-a: { tier: free, component: free, lifecycle: { protect: ${protect === "" ? "true" : "false"} }, config: { name: f, graphdbUser: app, graphdbPassword: "\${secret.shared}" } }
  free-b: { tier: free, component: free, lifecycle: { protect: ${protect === "" ? "true" : "false"} }, config: { name: f, graphdbUser: app, graphdbPassword: "\${secret.shared}" } }
  free-c: { tier: free, component: free, lifecycle: { protect: ${protect === "" ? "true" : "false"} }, config: { name: f, graphdbUser: app, graphdbPassword: "\${secret.shared}" } }
  free-d: { tier: free, component: free, lifecycle: { protect: ${protect === "" ? "true" : "false"} }, config: { name: f, graphdbUser: app, graphdbPassword: "\${secret.shared}" } }
outputs:
  pair: \${instances.enterprise-b.endpoint}
`;
}

let user: Workspace;
let platform: LocalPlatform;

beforeAll(async () => {
  user = openWorkspace(manifest(""));
  user.env["SHARED_PASSWORD"] = password;
  platform = await platformUp(user);
});

afterAll(() => user.close());

/** What stands in the user's folder, but for what the platform keeps for itself. */
function filesNow(): readonly string[] {
  const own = user.files().filter((file) => !file.startsWith(".graphform/platform/"));
  return own.map((file) => `${file} ${statSync(join(user.dir, file)).mtimeMs}`);
}

describe("ten instances on real databases", () => {
  it("are planned without a write, a file, or a difference between two plans", async () => {
    const before = filesNow();
    const [text, first, second] = await Promise.all([
      user.run("plan", "--detailed-exitcode"),
      user.run("plan", "--json"),
      user.run("plan", "--json"),
    ]);
    expect([text.code, first.code, second.code]).toEqual([2, 0, 0]);
    expect(text.out).toMatch(/^Plan: 10 to add, 0 to change, 0 to destroy\.$/m);
    expect(first.out).toBe(second.out);
    expect(filesNow()).toEqual(before);
    const requests = await platform.requests();
    expect(await platform.writes()).toEqual([]);
    expect(requests.map(({ operation }) => operation)).toEqual(expect.arrayContaining(["signin", "list"]));
  });

  it("are a document in the shape that others' tools know", async () => {
    const plan = readPlan((await user.run("plan", "--json")).out);
    expect(plan).toMatchObject({ format_version: "1.2", applyable: true, complete: true, errored: false });
    expect(Date.parse(plan.timestamp)).not.toBeNaN();
    expect(plan.resource_changes).toHaveLength(10);
    for (const entry of plan.resource_changes) {
      expect(entry).toMatchObject({
        mode: "managed",
        type: "graphform_instance",
        provider_name: "graphform",
      });
      expect(entry.change).toMatchObject({
        actions: ["create"],
        before: null,
        after_unknown: {},
        before_sensitive: false,
      });
      expect(entry.change.after_sensitive).toEqual({ config: { graphdbPassword: true } });
    }
    expect(plan.resource_changes.filter(({ index }) => index !== undefined)).toMatchObject([
      { address: 'instances.cache["eu-west-1"]', name: "cache", index: "eu-west-1" },
      { address: 'instances.cache["us-east-1"]', name: "cache", index: "us-east-1" },
    ]);
    expect(plan.output_changes).toMatchObject({ pair: { actions: ["create"], after_unknown: true } });
    expect(plan.x_graphform.census).toMatchObject({ declared: 10, checked: 0 });
  });

  it("are applied: exactly ten, with their configuration, and then there is nothing left to do", async () => {
    await platform.forget();
    const applied = await user.run("apply", "--auto-approve");
    expect(applied).toMatchObject({ code: 0 });
    expect(applied.out.trimEnd().split("\n").at(-1)).toBe(
      "Apply complete! Resources: 10 added, 0 changed, 0 destroyed.",
    );
    const writes = await platform.writes();
    expect(writes.map(({ operation, status }) => [operation, status])).toEqual(
      Array.from({ length: 10 }, () => ["create", 202]),
    );
    const ids = Object.values(user.state("ten").resources).map(({ id }) => id);
    expect(new Set(ids).size).toBe(10);
    const again = await user.run("plan", "--detailed-exitcode");
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("No differences found.") });
    const endpoint = (await user.run("output", "pair", "--raw")).out;
    const answer = await ask(endpoint, { username: "app", password }, "GRAPH.CONFIG", "GET", "CACHE_SIZE");
    expect(answer).toEqual(["CACHE_SIZE", 77]);
  });

  it("are kept by a destroy, since all of them are protected", async () => {
    await platform.forget();
    const [destroyed, planned] = [
      await user.run("destroy", "--auto-approve"),
      await user.run("plan", "--detailed-exitcode"),
    ];
    expect(destroyed).toMatchObject({ code: 4, out: expect.stringContaining("10 of these are blocked") });
    expect(await platform.writes()).toEqual([]);
    expect(planned).toMatchObject({ code: 0 });
  });

  it("are destroyed once the manifest lifts their protection, and nothing of them is left", async () => {
    user.write("graphform.yaml", manifest(", lifecycle: { protect: false }"));
    const before = processesOf(user.dir).length;
    expect(actionsIn(readPlan((await user.run("plan", "--json")).out))).toEqual({});
    const destroyed = await user.run("destroy", "--auto-approve");
    expect(destroyed).toMatchObject({ code: 0 });
    expect(destroyed.out.trimEnd().split("\n").at(-1)).toBe("Destroy complete! Resources: 10 destroyed.");
    expect(user.state("ten")).toMatchObject({ resources: {}, intents: {} });
    expect(user.files().filter((file) => file.startsWith(".graphform/platform/databases/"))).toEqual([]);
    expect([before, processesOf(user.dir)]).toEqual([12, [platform.pid]]);
    expect(await user.run("destroy", "--auto-approve")).toMatchObject({ code: 0 });
  });
});

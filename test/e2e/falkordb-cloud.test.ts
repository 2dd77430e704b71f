import { afterAll, beforeAll, expect, it } from "vitest";
import { type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

const password = "a-phrase-of-ours";

/** The vendor's profile, for a service that shows everything at once. */
const profile = `
name: falkordb-quick
extends: falkordb-cloud
timing:
  settle: 300ms
  listLag: 50ms
  endpoint: 500ms
  poll: { first: 50ms, longest: 300ms }
`;

function manifest(url: string, name: string): string {
  return `
apiVersion: graphform/v1
name: vendor
service: { profile: quick.yaml, platformUrl: "${url}", subscriptionId: sub-pro }
secrets: { phrase: { env: PHRASE } }
defaults:
  instances: { cloudProvider: aws, region: us-east-1, lifecycle: { protect: false } }
networks:
  core: { name: core, cloudProvider: aws, region: us-east-1, cidr: 10.8.0.0/16 }
instances:
  one:
    tier: pro
    component: standalone
    config: { name: ${name}, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.phrase}", graphDBCacheSize: 30 }
  pair:
    tier: pro
    component: single-zone
    config: { name: pair, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.phrase}" }
users:
  reader: { instance: one, username: reader, password: "\${secret.phrase}", acl: "~* +PING" }
`;
}

let user: Workspace;
let platform: LocalPlatform;
beforeAll(async () => {
  user = openWorkspace();
  user.env["PHRASE"] = password;
  platform = await platformUp(user, "--profile", "falkordb-cloud");
  user.write("quick.yaml", profile);
  user.write("graphform.yaml", manifest(platform.url, "one"));
});
afterAll(() => user.close());

it("databases, a network and a user are made under the vendor's profile, and then there is nothing left to do", async () => {
  const applied = await user.run("apply", "--auto-approve");
  expect(applied).toMatchObject({ code: 0, out: expect.stringContaining("Resources: 4 added") });
  const creates = (await platform.writes()).filter(({ operation }) => operation === "create");
  expect(creates.map(({ path }) => path.split("/").slice(-4))).toEqual(
    expect.arrayContaining([expect.arrayContaining(["single-Zone"]), expect.arrayContaining(["standalone"])]),
  );
  const planned = await user.run("plan", "--detailed-exitcode");
  expect(planned).toMatchObject({ code: 0, out: expect.stringContaining("No differences found.") });
});

it("a field is changed by PATCH", async () => {
  await platform.forget();
  user.write("graphform.yaml", manifest(platform.url, "renamed"));
  expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
  expect((await platform.writes()).map(({ method, status, body }) => [method, status, body])).toEqual([
    ["PATCH", 202, { requestParams: { name: "renamed" } }],
  ]);
  expect((await user.run("plan", "--detailed-exitcode")).code).toBe(0);
});

it("a database is stopped and started", async () => {
  expect((await user.run("instance", "stop", "instances.one")).code).toBe(0);
  expect((await user.run("instance", "start", "instances.one")).code).toBe(0);
});

it("everything is destroyed", async () => {
  const destroyed = await user.run("destroy", "--auto-approve");
  expect(destroyed).toMatchObject({ code: 0, out: expect.stringContaining("4 destroyed") });
});

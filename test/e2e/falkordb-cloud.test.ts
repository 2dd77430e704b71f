import { afterAll, beforeAll, expect, it } from "vitest";
import { type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { quickCloudProfile } from "../support/local-service.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

const password = "a-phrase-of-ours";

function manifest(url: string, name: string, marks = "", isPairKept = true): string {
  return `
apiVersion: graphform/v1
name: vendor
service: { profile: ${quickCloudProfile}, platformUrl: "${url}", subscriptionId: sub-pro }
secrets: { phrase: { env: PHRASE } }
defaults:
  instances: { cloudProvider: aws, region: us-east-1, lifecycle: { protect: false } }
networks:
  core: { name: core, cloudProvider: aws, region: us-east-1, cidr: 10.8.0.0/16 }
instances:
  one:
    tier: pro
    component: standalone${marks}
    config: { name: ${name}, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.phrase}", graphDBCacheSize: 30 }
  pair:
    tier: pro
    component: single-zone
    customTags: { team: graph }
    deletionProtection: ${isPairKept}
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
  user.write("graphform.yaml", manifest(platform.url, "one"));
});
afterAll(() => user.close());

it("databases, a network and a user are made under the vendor's profile, and then there is nothing left to do", async () => {
  const applied = await user.run("apply", "--auto-approve");
  expect(applied).toMatchObject({ code: 0, out: expect.stringContaining("Resources: 4 added") });
  const writes = await platform.writes();
  expect(writes.filter(({ path }) => path.endsWith("/metadata")).map(({ body }) => body)).toEqual([
    { deletionProtection: true },
  ]);
  const creates = writes.filter(({ operation }) => operation === "create");
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

it("a failover asks the databases which node is the primary, since no role is shown, and goes to the node's own path", async () => {
  await platform.forget();
  for (let round = 0; round < 2; round += 1)
    expect(await user.run("instance", "failover", "instances.pair")).toMatchObject({ code: 0 });
  const sent = (await platform.writes()).map(({ path, body }) => [
    path.split("/").at(-3),
    body?.["failedReplicaID"],
  ]);
  expect(sent).toEqual([
    ["node-sz", "node-sz-0"],
    ["node-sz", "node-sz-1"],
  ]);
});

const kept = `
    deletionProtection: true
    customTags: { team: shop }`;

it("deletion protection and tags are set, and the service's word is a guard", async () => {
  user.write("graphform.yaml", manifest(platform.url, "renamed", kept));
  const applied = await user.run("apply", "--auto-approve");
  expect(applied).toMatchObject({ code: 0 });
  const shown = await user.run("plan", "--detailed-exitcode");
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining("No differences found.") });
  const refused = await user.run("destroy", "--auto-approve", "--target", "instances.one");
  expect(refused).toMatchObject({ code: 4, out: expect.stringContaining("deletionProtection is on") });
  await platform.forget();
  user.write(
    "graphform.yaml",
    manifest(platform.url, "renamed", kept.replace("true", "false").replace("shop", "store")),
  );
  expect((await user.run("apply", "--auto-approve")).code).toBe(0);
  const [sent] = await platform.writes();
  expect(sent).toMatchObject({ method: "PATCH", path: expect.stringContaining("/metadata") });
  const tags: unknown = sent?.body?.["customTags"];
  expect(tags).toEqual(
    expect.arrayContaining([
      { key: "team", value: "store" },
      { key: "graphform-address", value: "instances.one" },
    ]),
  );
});

it("a backup is asked for by the operation that the service has", async () => {
  await platform.forget();
  expect(await user.run("instance", "backup", "instances.one")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/: backup \S+ is complete\.$/m),
  });
  expect((await platform.writes()).map(({ path }) => path.split("/").at(-1))).toEqual(["snapshot"]);
});

it("who did what is told", async () => {
  const told = await user.run("instance", "events", "instances.one", "--json");
  expect(told.code).toBe(0);
  expect(JSON.parse(told.out)).toContainEqual(
    expect.objectContaining({ time: expect.any(String), message: expect.any(String) }),
  );
});

it("going back to a time is asked for once, and its answer is told", async () => {
  // Nothing is kept from before the database was made: what is refused made nothing.
  const refused = await user.run("instance", "restore", "instances.one", "--to", "2026-01-01T00:00:00Z");
  expect(refused).toMatchObject({ code: 1 });
  expect(await user.run("instance", "restore", "instances.one", "--to", "yesterday")).toMatchObject({
    code: 1,
    err: expect.stringContaining("is not a valid time"),
  });
});

it("everything is destroyed once its protection is lifted", async () => {
  user.write("graphform.yaml", manifest(platform.url, "renamed", kept.replace("true", "false"), false));
  expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
  const destroyed = await user.run("destroy", "--auto-approve");
  expect(destroyed).toMatchObject({ code: 0, out: expect.stringContaining("4 destroyed") });
});

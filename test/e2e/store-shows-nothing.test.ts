import { expect, it, onTestFinished } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { startTerraformServer, type TerraformServer } from "../support/terraform-server.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

async function start(): Promise<{
  readonly service: FakeService;
  readonly server: TerraformServer;
  readonly user: Workspace;
}> {
  const [service, server] = await Promise.all([FakeService.start(), startTerraformServer("plain")]);
  const { address, lockAddress, username, password } = server;
  const user = openWorkspace(`apiVersion: graphform/v1
name: shop
service: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }
state: { type: http, address: "${address}", lockAddress: "${lockAddress}" }
instances:
  a: { tier: startup, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: a, memoryRequestsAndLimits: 2200M, graphDBCacheSize: 30, graphdbUser: app, graphdbPassword: "\${env.PW}" } }
`);
  onTestFinished(async () => {
    await user.close();
    await Promise.all([service.close(), server.close()]);
  });
  Object.assign(user.env, service.env, {
    PW: "a-password-of-tests",
    GRAPHFORM_STATE_USERNAME: username,
    GRAPHFORM_STATE_PASSWORD: password,
  });
  return { service, server, user };
}

it("a server that takes a state and shows none is refused before anything is created", async () => {
  const { service, server, user } = await start();
  const { pathname } = new URL(server.address);
  server.misbehave = ({ method, url }) =>
    method === "GET" && url.pathname === pathname ? { status: 404 } : undefined;

  const init = await user.run("state", "init");
  expect(init).toMatchObject({ code: 0, out: expect.stringContaining("Nothing was written") });
  expect(init.out).not.toContain("can keep the state");
  expect((await user.run("doctor")).out).toMatch(/state store: .*nothing was written yet/);
  expect(server.document).toBeUndefined();

  const { code, err } = await user.run("apply", "--auto-approve");
  expect({ code, err }).toMatchObject({
    code: 1,
    err: expect.stringContaining("took a document and shows none"),
  });
  expect(err).not.toContain("nothing was overwritten");
  expect(service.instances.size).toBe(0);
  expect(server.lock).toBeUndefined();
});

it("a server that shows its state only at the third look keeps it, and nothing is created once more", async () => {
  const { service, server, user } = await start();
  expect((await user.run("apply", "--auto-approve")).code).toBe(0);
  const stored = server.document;
  const { pathname } = new URL(server.address);
  let hidden = 2;
  server.misbehave = ({ method, url }) => {
    if (method !== "GET" || url.pathname !== pathname || hidden === 0) return undefined;
    hidden -= 1;
    return { status: 404 };
  };
  expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 1 });
  expect([hidden, service.instances.size]).toEqual([0, 1]);
  expect(server.document).toBe(stored);
});

it("a page in place of an answer announces no create, and gives no lock back", async () => {
  const { service, server, user } = await start();
  const page = { status: 200, headers: { "content-type": "text/html" }, body: "<html>Sign in</html>" };
  let pages = 0;
  // Every write after the first one, and every unlock from then on.
  server.misbehave = ({ method }) => {
    const isLate = server.document !== undefined && (method === "POST" || method === "UNLOCK");
    if (isLate) pages += 1;
    return isLate ? page : undefined;
  };
  const { code, err } = await user.run("apply", "--auto-approve");
  expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("sent an HTML page") });
  expect(err).toMatch(/left standing/);
  expect(pages).toBeGreaterThan(1);
  expect(service.instances.size).toBe(0);
  expect(server.lock).toBeDefined();
}, 240_000);

it("a run that finds somebody else's version gives its own lock back: no other run waits for it", async () => {
  const { server, user } = await start();
  let others = 0;
  // Whoever writes past the lock, once the run has begun.
  server.misbehave = ({ method, url }) => {
    const isWrite = method === "POST" && url.pathname === new URL(server.address).pathname;
    if (!isWrite || server.document === undefined || others > 0) return undefined;
    others += 1;
    const stored = JSON.parse(server.document);
    server.document = JSON.stringify({ ...stored, serial: stored.serial + 1, appliedPlans: ["another"] });
    return { status: 409 };
  };
  const { code, err } = await user.run("apply", "--auto-approve");
  expect({ code, err, others }).toMatchObject({
    code: 1,
    err: expect.stringMatching(/changed by another program|somebody else has written/),
    others: 1,
  });
  expect(server.lock).toBeUndefined();
  expect(await user.run("plan")).toMatchObject({ code: 0 });
}, 240_000);

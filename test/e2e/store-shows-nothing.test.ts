import { expect, it, onTestFinished } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { startTerraformServer } from "../support/terraform-server.ts";
import { openWorkspace } from "../support/workspace.ts";

it("a server that takes a state and shows none is refused before anything is created", async () => {
  const [service, server] = await Promise.all([FakeService.start(), startTerraformServer("plain")]);
  const { address, lockAddress, username, password } = server;
  const user = openWorkspace(`apiVersion: graphform/v1
name: shop
service: { platformUrl: "${service.url}" }
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
  const { pathname } = new URL(address);
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

import { expect, it, onTestFinished } from "vitest";
import { FakeService } from "../../support/fake-service.ts";
import { quickProfileFile } from "../../support/quick-profile.ts";
import { startTerraformServer } from "../../support/terraform-server.ts";
import { openWorkspace, until } from "../../support/workspace.ts";

it("an apply that is interrupted twice while its store hangs leaves a file at once, and ends though the store never answers", async () => {
  const [store, service] = await Promise.all([startTerraformServer("gitlab"), FakeService.start()]);
  const user = openWorkspace(`apiVersion: graphform/v1
name: shop
service: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }
state: { type: http, address: "${store.address}" }
instances:
  a: { tier: startup, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: a, memoryRequestsAndLimits: 2200M, graphdbUser: app, graphdbPassword: "\${env.PW}" } }
`);
  onTestFinished(async () => {
    await user.close();
    await Promise.all([store.close(), service.close()]);
  });
  const login = { GRAPHFORM_STATE_USERNAME: store.username, GRAPHFORM_STATE_PASSWORD: store.password };
  Object.assign(user.env, service.env, login, { PW: "a-password-of-tests" });
  service.duration = 3_600_000;
  let asked = 0;
  service.misbehave = ({ operation }) => {
    if (operation === "create")
      store.misbehave = () => {
        asked += 1;
        return "hang";
      };
    return undefined;
  };
  const running = user.start("apply", "--auto-approve");
  await until(async () => asked > 0 || undefined, "the write that hangs");
  running.child.kill("SIGINT");
  running.child.kill("SIGTERM");
  const [file, id = "none"] = [".graphform/shop.errored.state.json", ...service.instances.keys()];
  await until(async () => user.has(file) || undefined, "the file with what is not stored");
  expect(user.read(file)).toContain(id);
  const { code, err } = await running.ended;
  expect({ code, err }).toMatchObject({
    code: 1,
    err: expect.stringContaining(`graphform state push ${file}`),
  });
  expect(err).toContain("within 5 s after the second interrupt");
}, 120_000);

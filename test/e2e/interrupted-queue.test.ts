import { expect, it, onTestFinished } from "vitest";
import { cuttingProxy } from "../cuts/cutting-proxy.ts";
import { platformUp } from "../support/local-platform.ts";
import { fullProfile } from "../support/local-service.ts";
import { openWorkspace } from "../support/workspace.ts";

const instances = Array.from(
  { length: 8 },
  (_, n) =>
    `  x${n}: { tier: pro, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: x${n}, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: some-password-1 } }\n`,
).join("");

it("Ctrl-C while creates wait for the declared pace: none of them is sent, announced or doubled", async () => {
  const user = openWorkspace();
  onTestFinished(() => user.close());
  const platform = await platformUp(user, "--engine", "none", "--echo", "--delay", "150");
  const proxy = await cuttingProxy(platform.url);
  onTestFinished(() => proxy.close());
  Object.assign(user.env, {
    GRAPHFORM_USERNAME: "local@graphform.invalid",
    GRAPHFORM_PASSWORD: platform.password,
    GRAPHFORM_PLATFORM_URL: proxy.url,
    GRAPHFORM_SUBSCRIPTION_ID: "sub-local",
  });
  user.write("slow.yaml", `name: slow\nextends: ${fullProfile}\nlimits: { perSecond: 5 }\n`);
  const head = "apiVersion: graphform/v1\nname: queue\nservice: { profile: ./slow.yaml }\n";
  user.write("graphform.yaml", `${head}instances:\n${instances}`);

  const running = user.start("apply", "--auto-approve");
  const isInterrupted = Promise.withResolvers<void>();
  // Sign-in and the first looks come before; the next one follows in a fifth of a second.
  proxy.arm(7, "answered", () => {
    running.child.kill("SIGINT");
    isInterrupted.resolve();
  });
  await Promise.race([isInterrupted.promise, running.ended]);
  const sent = (await platform.writes()).length;
  expect(await running.ended).toMatchObject({ code: 130 });
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(8);
  expect(await platform.writes()).toHaveLength(sent);
  const { intents, resources } = user.state("queue");
  expect(intents).toEqual({});
  expect(Object.keys(resources)).toHaveLength(sent);

  user.write("slow.yaml", `name: slow\nextends: ${fullProfile}\n`);
  expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
  const { instances: made } = JSON.parse(await platform.control("GET", "status"));
  expect(made).toHaveLength(8);
});

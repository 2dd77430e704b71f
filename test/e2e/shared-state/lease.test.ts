import { describe, expect, it, onTestFinished } from "vitest";
import { FakeService } from "../../support/fake-service.ts";
import { quickProfileFile } from "../../support/quick-profile.ts";
import { sharedStores } from "../../support/shared-stores.ts";
import { openWorkspace, until } from "../../support/workspace.ts";

const kind = "postgres";

describe("the lease of a job that was killed", () => {
  it("runs out by time, and the job that waits takes over", async () => {
    const start = sharedStores[kind];
    if (start === undefined) throw new Error(`no store ${kind}`);
    const [store, service] = await Promise.all([start("shop"), FakeService.start()]);
    const manifest = `apiVersion: graphform/v1
name: shop
service: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }
state: ${JSON.stringify(store.section)}
instances:
  a: { tier: startup, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: a, memoryRequestsAndLimits: 2200M, graphDBCacheSize: 30, graphdbUser: app, graphdbPassword: "\${env.PW}" } }
`;
    const [one, two] = [openWorkspace(manifest), openWorkspace(manifest)];
    onTestFinished(async () => {
      await Promise.all([one.close(), two.close()]);
      await Promise.all([store.close(), service.close()]);
    });
    const env = { ...service.env, ...store.env, PW: "a-password-of-tests" };
    for (const user of [one, two]) Object.assign(user.env, env);
    one.env["GRAPHFORM_STATE_LEASE"] = "3s";
    expect(await one.run("state", "init")).toMatchObject({ code: 0 });
    service.duration = 3_600_000;
    const first = one.start("apply", "--auto-approve");
    await until(
      async () => ((await store.text().catch(() => undefined)) ?? "").includes('"instances.a"') || undefined,
      "the record",
    );
    first.child.kill("SIGKILL");
    await first.ended;
    service.duration = 0;
    for (const instance of service.instances.values()) instance.next = { at: 0, status: "RUNNING" };
    const next = await two.run("apply", "--auto-approve", "--lock-timeout", "20s");
    expect(next, next.err).toMatchObject({ code: 0 });
    expect(service.instances.size).toBe(1);
  });
});

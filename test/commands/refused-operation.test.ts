import { expect, it } from "vitest";
import { cloudBench } from "./cloud-bench.ts";

const one = `instances:
  one:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: one, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`;

it("an operation after which the service shows a new failure, though what serves goes on, has not succeeded", async () => {
  const bench = await cloudBench(one);
  const { cloud } = bench;
  expect((await bench.gf("apply", "--auto-approve")).code).toBe(0);
  /** The next restart fails for the same reason as the one before, but at its own time. */
  let failedAt = "";
  cloud.meddle = ({ method, url }) => {
    const [instance] = cloud.instances;
    if (method !== "POST" || !url.includes("/restart") || instance === undefined || failedAt === "")
      return undefined;
    const recentDeploymentFailure = { failedAt, failureReason: "no capacity in the zone" };
    const shown = { ...instance.shown, detailedNetworkTopology: { r: { recentDeploymentFailure } } };
    cloud.instances[0] = { ...instance, shown };
    return undefined;
  };
  const restart = () => bench.gf("instance", "restart", "instances.one");
  expect(await restart()).toMatchObject({ code: 0, err: expect.stringContaining("restarted") });
  for (failedAt of ["2030-01-01T00:00:00Z", "2030-01-01T00:05:00Z"]) {
    const { code, out, err } = await restart();
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(
      "the service took the restart of instances.one, and says that it failed: no capacity in the zone",
    );
    expect(err).not.toContain("restarted");
  }
  // A failure that was shown before says nothing about this operation.
  failedAt = "";
  expect(await restart()).toMatchObject({ code: 0, out: expect.stringContaining("restart complete.") });
});

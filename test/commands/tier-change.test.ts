import { expect, it } from "vitest";
import { startBench } from "./harness.ts";

it("a change of tier blames the tier", async () => {
  const config = 'name: a, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "${env.PW}"';
  const manifest = (tier: string, component: string, own: string): string =>
    `apiVersion: graphform/v1\nname: tiers\ninstances:\n  a: { tier: ${tier}, component: ${component}, cloudProvider: aws, region: us-east-1, config: { ${own} } }\n`;
  const bench = await startBench(manifest("pro", "standalone", config));
  expect(await bench.gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
  await bench.write("graphform.yaml", manifest("enterprise", "multi-zone", config));
  const { out } = await bench.gf("plan");
  expect(out).toContain("replace: tier cannot be changed in place");
  expect(out).toContain("✗ tier needs a replacement, which is refused");
  await bench.close();
});

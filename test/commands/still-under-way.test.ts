import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cloudBench, oneInstance } from "./cloud-bench.ts";

it("a plan that only waits for what is under way is one that a pipeline carries out", async () => {
  const bench = await cloudBench(oneInstance);
  bench.cloud.meddle = () => {
    const [instance] = bench.cloud.instances;
    if (instance !== undefined)
      bench.cloud.instances[0] = { ...instance, shown: { ...instance.shown, status: "DEPLOYING" } };
    return undefined;
  };
  expect((await bench.gf("apply", "--auto-approve", "--timeout", "1s")).code).toBe(7);
  const output = join(bench.folder, "output.txt");
  const summary = join(bench.folder, "summary.md");
  for (const file of [output, summary]) writeFileSync(file, "");
  Object.assign(bench.env, { GITHUB_ACTIONS: "true", GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary });
  const planned = await bench.gf("plan", "--detailed-exitcode");
  expect([planned.code, planned.out]).toEqual([0, expect.stringContaining("apply will wait")]);
  expect(await bench.read("output.txt")).toMatch(/^changed=true\nadd=0\nchange=0\n/);
});

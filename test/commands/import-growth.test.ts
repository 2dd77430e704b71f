import { describe, expect, it } from "vitest";
import { cloudBench } from "./cloud-bench.ts";

/** The requests of an import of so many databases and of the plan after it, and the versions of the state that it wrote. */
async function costOf(count: number): Promise<{ imported: number; planned: number; versions: number }> {
  const bench = await benchOf(count);
  const [file, state] = [`${bench.folder}/all.yaml`, `${bench.folder}/all.json`];
  const ran = await bench.bare("import", "--all", "--out", file, "--state", state);
  expect(ran.code, ran.err).toBe(0);
  const imported = bench.cloud.service.seen.length;
  expect((await bench.bare("plan", "--detailed-exitcode", "-f", file, "--state", state)).code).toBe(0);
  const { serial }: { serial: number } = JSON.parse(await bench.read("all.json"));
  return { imported, planned: bench.cloud.service.seen.length - imported, versions: serial };
}

/** A service with so many databases. */
async function benchOf(count: number): ReturnType<typeof cloudBench> {
  const bench = await cloudBench();
  for (let at = 0; at < count; at += 1) {
    const result_params = { name: `cache ${at}`, nodeInstanceType: "m7g.large", falkordbUser: "app" };
    const kept = { tier: "pro", resource: "single-Zone", shown: { result_params } } as const;
    bench.cloud.instances.push({ id: `instance-${at}`, ...kept });
  }
  return bench;
}

describe("import --all on standard output", () => {
  it("describes each object once", async () => {
    const bench = await benchOf(60);
    const ran = await bench.bare("import", "--all");
    expect(ran.code, ran.err).toBe(0);
    expect(bench.cloud.service.seen.length).toBeLessThanOrEqual(60 + 40);
  });
});

describe("import --all of twice as many", () => {
  it("asks twice as much, and writes the state as seldom", async () => {
    const [small, large] = [await costOf(60), await costOf(120)];
    expect(large.imported / small.imported).toBeLessThanOrEqual(2);
    expect(large.planned / small.planned).toBeLessThanOrEqual(2);
    expect(large.imported).toBeLessThanOrEqual(3 * 120 + 40);
    expect(Math.max(small.versions, large.versions)).toBeLessThanOrEqual(3);
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPlan } from "../support/plan-document.ts";
import { type Bench, startBench } from "./harness.ts";

const fields = "tier: free, component: free, cloudProvider: aws, region: us-east-1";
const config = 'config: { name: cache, graphdbUser: app, graphdbPassword: "${env.PW}" }';

/** A manifest in which the database of a free tier, which nothing protects by default, has these keys of its own. */
function manifest(own: string, more = ""): string {
  return `apiVersion: graphform/v1
name: left-out
instances:
  cache: { ${own}${fields}, ${config} }
  orders: { ${fields}, ${config.replace("cache", "orders")} }
${more}`;
}

describe("a bound resource that is left out", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench(manifest(""));
    expect(await bench.gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
  });
  afterAll(() => bench.close());

  const planOf = async (
    own: string,
    more = "",
  ): Promise<{ readonly actions: string; readonly text: string }> => {
    await bench.write("graphform.yaml", manifest(own, more));
    const { resource_changes: changes } = readPlan((await bench.gf("plan", "--json")).out);
    const change = changes.find(({ address }) => address === "instances.cache");
    return { actions: change?.change.actions.join(" ") ?? "none", text: (await bench.gf("plan")).out };
  };

  it("is a deletion that says why, at its own line", async () => {
    const { actions, text } = await planOf("enabled: false, ");
    expect(actions).toBe("delete");
    expect(text).toMatch(/- instances\.cache \(instance-\S+\) +\S*graphform\.yaml:4\n/);
    expect(text).toContain("delete: left out: its enabled is false · data loss");
  });

  it.each([
    ["its own protection, declared in the same change", "lifecycle: { protect: true }, ", "", "protected"],
    ["the threshold of deletions", "", "guards: { maxDeletes: 0 }\n", "guards.maxDeletes allows 0"],
  ])("is held by %s", async (_, own, more, said) => {
    const { text } = await planOf(`enabled: false, ${own}`, more);
    expect(text).toContain("Blocked (1)");
    expect(text).toContain(said);
    expect((await bench.gf("apply", "--auto-approve")).code).toBe(4);
  });

  it("is left running where it says so itself, or `removed` does", async () => {
    expect((await planOf("enabled: false, lifecycle: { onDelete: retain }, ")).actions).toBe("forget");
    const removed = "removed: [{ address: instances.cache, destroy: false }]\n";
    expect((await planOf("enabled: false, ", removed)).actions).toBe("forget");
  });

  it("is deleted by an apply, and made again once it is enabled", async () => {
    await bench.write("graphform.yaml", manifest("enabled: false, "));
    expect(await bench.gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await bench.gf("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    expect((await planOf("enabled: true, ")).actions).toBe("create");
  });
});

describe("what --target and --exclude leave out", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench(manifest(""));
    expect(await bench.gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
  });
  afterAll(() => bench.close());

  it.each([
    ["--target", "instances.orders"],
    ["--exclude", "instances.cache"],
  ])("cannot be replaced in the same run: %s %s", async (...options) => {
    const { code, err } = await bench.gf("plan", "--replace", "instances.cache", ...options);
    expect([code, err]).toEqual([1, expect.stringContaining("--replace instances.cache means nothing")]);
    const named = ["--replace", "instances.cache", "--target", "instances.c*"];
    expect((await bench.gf("plan", ...named)).code).toBe(0);
  });

  it("is counted in a plan of a removal, which declares nothing", async () => {
    const { out } = await bench.gf("plan", "--destroy", "--exclude", "instances.cache");
    expect(out).toContain("--target or --exclude left out 1 resource");
  });

  it("is said to be undeclared if nothing else is left out", async () => {
    await bench.write("graphform.yaml", manifest("enabled: false, "));
    const { out } = await bench.gf("plan", "--exclude", "instances.cache", "--no-probe");
    expect(out).toContain("--target or --exclude left out what is not declared");
  });
});

describe("the output of all of a forEach", () => {
  it("is a map that output prints and that machines read", async () => {
    const each = manifest("forEach: [us, eu], ").replace("name: cache", 'name: "cache-${each.key}"');
    const bench = await startBench(`${each}outputs: { regions: "\${instances.cache[*].region}" }\n`);
    expect(await bench.gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(JSON.parse((await bench.gf("output", "regions", "--json")).out).value).toEqual({
      us: "us-east-1",
      eu: "us-east-1",
    });
    expect((await bench.gf("output", "--json")).code).toBe(0);
    expect(await bench.gf("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    await bench.close();
  });
});

import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Bench, startBench } from "./harness.ts";

const manifest = (memory: string): string => `apiVersion: graphform/v1
name: pages
instances:
  cache:
    forEach: [eu, us]
    tier: enterprise
    component: single-zone
    cloudProvider: aws
    region: us-east-1
    config:
      name: cache-\${each.key}
      nodeInstanceType: m7g.large
      maxMemory: ${memory}
      graphdbUser: app
      graphdbPassword: \${env.PW}
`;

describe("the page of a plan", () => {
  let bench: Bench;
  const path = (name: string): string => join(bench.folder, name);
  const read = (name: string): Promise<string> => readFile(path(name), "utf8");

  beforeEach(async () => {
    bench = await startBench(manifest("4GB"));
  });
  afterEach(() => bench.close());

  it("is written by plan, beside everything that plan prints, and names the saved plan", async () => {
    const plain = await bench.gf("plan");
    const ran = await bench.gf("plan", "--html", path("pages/plan.html"), "--out", path("a.plan"));
    expect(ran).toEqual(plain);
    const page = await read("pages/plan.html");
    expect(page).toContain('<h1 class="careful">2 changes.</h1>');
    expect(page).toContain(`graphform apply ${path("a.plan")}`);
    expect(page).toContain("2 × ");
    expect(page).toContain("&quot;cache-KEY&quot;");
    expect(page).not.toContain("a-password-of-tests");
  });

  it("is written by show from a saved plan, and compares it with another", async () => {
    await bench.gf("plan", "--out", path("a.plan"));
    await bench.write("graphform.yaml", manifest("6GB"));
    await bench.gf("plan", "--out", path("b.plan"));
    const ran = await bench.bare(
      "show",
      path("b.plan"),
      "--html",
      path("b.html"),
      "--compare",
      path("a.plan"),
    );
    expect(ran.code).toBe(0);
    const page = await read("b.html");
    expect(page).toContain("2 differences, no changes as before.");
    expect(page).toContain("config.maxMemory: &quot;6GB&quot;, was: &quot;4GB&quot;");
    expect(page).not.toContain("a-password-of-tests");
  });

  it("says why there is no plan, in place of the page of an earlier one", async () => {
    await bench.gf("plan", "--html", path("plan.html"));
    await bench.write("graphform.yaml", manifest("4GB").replace("tier: enterprise", "tier: <b>"));
    expect((await bench.gf("plan", "--html", path("plan.html"))).code).toBe(3);
    const page = await read("plan.html");
    expect(page).toContain("No plan");
    expect(page).toContain("&lt;b&gt;");
    expect(page).not.toContain("2 changes");
  });

  it.each<[string, readonly string[], string]>([
    [
      "no page to compare on",
      ["plan", "--compare", "x.plan"],
      "--compare is a part of the page that --html writes",
    ],
    ["no saved plan to show", ["show", "--html", "x.html"], "--html shows a saved plan, and none is named"],
    ["standard output", ["plan", "--html", "-"], "--html needs the name of a file"],
    ["a plan that is not there", ["plan", "--html", "PAGE", "--compare", "nowhere.plan"], "cannot be read"],
  ])("refuses %s", async (_, args, message) => {
    const ran = await bench.gf(...args.map((arg) => (arg === "PAGE" ? path("x.html") : arg)));
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(message);
  });

  it("says where it cannot be written", async () => {
    await mkdir(path("folder"));
    const ran = await bench.gf("plan", "--html", path("folder"));
    expect(ran).toMatchObject({
      code: 1,
      err: expect.stringContaining("report of --html cannot be written"),
    });
  });
});

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { eventViolations, planViolations } from "../support/published-schemas.ts";
import { terraformViolations } from "../support/terraform-rules.ts";
import { type Bench, startBench } from "./harness.ts";

const database = (name: string, protect: boolean): string =>
  `  ${name}: { tier: free, component: free, cloudProvider: aws, region: us-east-1, lifecycle: { protect: ${protect} }, config: { name: ${name}, graphdbUser: app, graphdbPassword: "\${env.PW}" } }\n`;
const head =
  'apiVersion: graphform/v1\nname: going\noutputs: { kept: "${instances.kept.id}", gone: "${instances.gone.id}" }\ninstances:\n';

describe("plan --destroy", () => {
  let bench: Bench;
  let file: string;

  beforeAll(async () => {
    bench = await startBench(head + database("kept", true) + database("gone", false));
    file = join(bench.folder, "destroy.plan");
    expect((await bench.gf("apply", "--auto-approve")).code).toBe(0);
  });
  afterAll(() => bench.close());

  it("shows what destroy would do, changes nothing, and needs no secret", async () => {
    const before = await bench.state();
    const { PW } = bench.env;
    bench.env["PW"] = undefined;
    const ran = await bench.gf("plan", "--destroy", "--json");
    bench.env["PW"] = PW;
    expect(ran.code).toBe(0);
    const made = readPlan(ran.out);
    expect(planViolations(JSON.parse(ran.out))).toEqual([]);
    expect(terraformViolations(JSON.parse(ran.out))).toEqual([]);
    expect(actionsIn(made)).toEqual({ "instances.gone": ["delete"], "instances.kept": ["delete"] });
    expect(made.x_graphform.changes["instances.kept"]?.blocked.map(({ code }) => code)).toEqual(["protect"]);
    expect(await bench.state()).toEqual(before);
  });

  it("says of what is blocked that destroy leaves it, and of its outputs that they stay", async () => {
    const { out } = await bench.gf("plan", "--destroy");
    expect(out).toContain("1 of these is blocked: destroy carries out the rest and exits 4.");
    const outputs = out.slice(out.indexOf("\nOutputs\n"), out.indexOf("\nChecked"));
    expect([outputs.includes("gone"), outputs.includes("kept")]).toEqual([true, false]);
  });

  it("names destroy as the next command, or the saved plan", async () => {
    const markdown = join(bench.folder, "plan.md");
    await bench.gf("plan", "--destroy", "--markdown", markdown);
    const { readFile } = await import("node:fs/promises");
    expect(await readFile(markdown, "utf8")).toContain("Next: `graphform destroy`.");
    await bench.gf("plan", "--destroy", "--out", file, "--markdown", markdown);
    expect(await readFile(markdown, "utf8")).toContain(`Next: \`graphform apply ${file}\`.`);
  });

  it("means nothing together with --replace", async () => {
    const ran = await bench.gf("plan", "--destroy", "--replace", "instances.gone");
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining("--replace means nothing to destroy")]);
  });

  it("is shown from its file and carried out by apply under the same guards, once", async () => {
    const shown = await bench.bare("show", file);
    expect(shown.out).toContain("everything of this state is removed");
    const ran = await bench.gf("apply", file, "--json");
    expect(ran.code).toBe(4);
    const events = ran.out.trimEnd().split("\n");
    expect(events.flatMap((line) => eventViolations(JSON.parse(line)))).toEqual([]);
    expect(ran.out).toContain("Destroy incomplete. Resources: 1 destroyed.");
    expect(JSON.parse((await bench.gf("output", "--json")).out)).toEqual({ kept: expect.anything() });
    expect((await bench.gf("state", "list")).out).toMatch(/\ninstances\.kept [^\n]*\n$/);
    expect(await bench.gf("apply", file)).toMatchObject({
      code: 6,
      err: expect.stringContaining("applied already"),
    });
  });

  it("destroys everything once the protection is lifted, and a second plan is empty", async () => {
    const all = join(bench.folder, "all.plan");
    await bench.gf("plan", "--destroy", "--allow-destroy", "instances.kept", "--out", all);
    const ran = await bench.gf("apply", all);
    expect([ran.code, ran.err]).toEqual([0, expect.any(String)]);
    expect(ran.out).toContain("Destroy complete! Resources: 1 destroyed.");
    expect(JSON.parse((await bench.gf("output", "--json")).out)).toEqual({});
    expect(actionsIn(readPlan((await bench.gf("plan", "--destroy", "--json")).out))).toEqual({});
    expect(existsSync(all)).toBe(true);
  });

  it("is refused once the manifest has changed", async () => {
    await bench.gf("apply", "--auto-approve");
    await bench.gf("plan", "--destroy", "--out", file);
    await bench.write("graphform.yaml", head + database("gone", true));
    expect(await bench.gf("apply", file)).toMatchObject({
      code: 6,
      err: expect.stringContaining("manifest has changed"),
    });
  });
});

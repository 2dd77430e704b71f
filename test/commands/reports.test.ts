import { readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv } from "ajv";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { readPlan } from "../support/plan-document.ts";
import { sarifSchema } from "../support/sarif-schema.ts";
import { type Bench, startBench } from "./harness.ts";

const manifest = `apiVersion: graphform/v1
name: reported
instances:
  orders:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config: { name: orders, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${env.PW}" }
`;

interface Log {
  readonly runs: readonly {
    readonly invocations: readonly { readonly executionSuccessful: boolean }[];
    readonly results: readonly {
      readonly ruleId: string;
      readonly locations: readonly {
        readonly physicalLocation: { readonly artifactLocation: { readonly uri: string } };
      }[];
    }[];
  }[];
}

const isSarif = new Ajv({ allErrors: true }).compile(sarifSchema);

describe("reports to files", () => {
  let bench: Bench;
  const path = (name: string): string => join(bench.folder, name);
  const read = (name: string): Promise<string> => readFile(path(name), "utf8");
  const sarif = async (name: string): Promise<Log["runs"][number]> => {
    const log: Log = JSON.parse(await read(name));
    isSarif(log);
    expect(isSarif.errors ?? []).toEqual([]);
    const [run] = log.runs;
    if (run === undefined) throw new Error("no run");
    return run;
  };

  beforeAll(async () => {
    bench = await startBench(manifest);
  });
  beforeEach(async () => {
    await bench.write("graphform.yaml", manifest);
    for (const name of ["GITHUB_ACTIONS", "GITHUB_WORKSPACE", "GITHUB_STEP_SUMMARY"])
      bench.env[name] = undefined;
  });
  afterAll(() => bench.close());

  it("plan writes SARIF and GitLab's counts into folders that it makes, and prints the same plan", async () => {
    bench.env["GITHUB_WORKSPACE"] = bench.folder;
    const plain = await bench.gf("plan", "--json");
    const ran = await bench.gf(
      ...[
        "plan",
        "--json",
        "--sarif",
        path("reports/deep/plan.sarif"),
        "--gitlab",
        path("reports/tfplan.json"),
      ],
    );
    expect(ran).toEqual(plain);
    const { results } = await sarif("reports/deep/plan.sarif");
    expect(results.map(({ ruleId }) => ruleId)).toEqual(["plan-created"]);
    expect(results[0]?.locations[0]?.physicalLocation.artifactLocation.uri).toBe("graphform.yaml");
    expect(JSON.parse(await read("reports/tfplan.json"))).toEqual({ create: 1, update: 0, delete: 0 });
    const actions = readPlan(ran.out).resource_changes.flatMap(({ change }) => change.actions);
    expect(actions).toEqual(["create"]);
    expect(await read("reports/deep/plan.sarif")).not.toContain("a-password-of-tests");
  });

  it("a plan that cannot be made replaces the report of the one before it: with the problems, or with the error", async () => {
    const file = path("plan.sarif");
    await bench.gf("plan", "--sarif", file);
    await bench.write("graphform.yaml", manifest.replace("tier: pro", "tier: prro"));
    expect((await bench.gf("plan", "--sarif", file)).code).toBe(3);
    expect((await sarif("plan.sarif")).results.length).toBeGreaterThan(0);
    expect((await sarif("plan.sarif")).results[0]?.ruleId).toMatch(/^(?!plan-)/);

    await bench.write("graphform.yaml", manifest);
    const failed = await bench.gf("plan", "--sarif", file, "--platform-url", "http://127.0.0.1:1");
    expect(failed.code).toBe(1);
    const run = await sarif("plan.sarif");
    expect([run.results.length, run.invocations[0]?.executionSuccessful]).toEqual([0, false]);
  });

  it("validate writes SARIF, valid or not", async () => {
    await bench.write("graphform.yaml", manifest.replace("region:", "regoin:"));
    const ran = await bench.gf("validate", "--sarif", path("validate.sarif"));
    expect(ran.code).toBe(3);
    expect((await sarif("validate.sarif")).results.map(({ ruleId }) => ruleId)).toContain("unknown-key");
    await bench.write("graphform.yaml", manifest);
    expect((await bench.gf("validate", "--sarif", path("validate.sarif"))).code).toBe(0);
    const rules = (await sarif("validate.sarif")).results.map(({ ruleId }) => ruleId);
    expect(rules).not.toContain("unknown-key");
  });

  it.each([
    [["--sarif", "-"], "standard output has the result"],
    [["--sarif", "FOLDER/x", "--gitlab", "FOLDER/./x"], "--sarif and --gitlab name the same file"],
    [["--out", "FOLDER/x", "--sarif", "FOLDER/x"], "--out and --sarif name the same file"],
    [["--gitlab", "FOLDER/graphform.yaml/x"], "cannot be written to"],
    [["--sarif", "FOLDER"], "cannot be written to"],
  ])("%j is refused with a way out", async (args, message) => {
    const ran = await bench.gf("plan", ...args.map((arg) => arg.replace("FOLDER", bench.folder)));
    expect(ran).toMatchObject({ code: 1, out: "", err: expect.stringContaining(message) });
    expect(ran.err).toContain("hint: ");
  });

  it.each([
    ["plan", "--out", "graphform.yaml"],
    ["plan", "--html", "state.json.backup"],
    ["plan", "--markdown", "link.yaml"],
    ["drift", "--junit", "graphform.yaml"],
    ["validate", "--sarif", "graphform.yaml"],
  ])("%s %s %s would overwrite what it reads, and is refused", async (command, option, name) => {
    onTestFinished(() =>
      Promise.all(
        ["link.yaml", "state.json", "state.json.backup"].map((each) => rm(path(each), { force: true })),
      ).then(() => undefined),
    );
    await symlink("graphform.yaml", path("link.yaml"));
    await writeFile(path("state.json.backup"), "{}");
    const before = await read(name);
    const ran = await bench.gf(
      command,
      ...(command === "apply" ? ["--auto-approve"] : []),
      option,
      path(name),
    );
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(`${option} names ${path(name)}, which this command reads`);
    expect(await read(name)).toBe(before);
  });

  it.each([
    ["a manifest", "apiVersion: graphform/v1\n"],
    ["a state", '{\n  "version": 2\n}\n'],
  ])("--log does not write into %s", async (_what, text) => {
    await writeFile(path("run.log"), text);
    const ran = await bench.gf("plan", "--log", path("run.log"));
    expect(ran).toMatchObject({
      code: 1,
      err: expect.stringContaining("it is a manifest, a state or a plan"),
    });
    expect(await read("run.log")).toBe(text);
    await rm(path("run.log"));
  });

  it("plan writes Markdown; where there is no plan, what kept it from being made, under the same marker", async () => {
    const saved = path("orders.plan");
    expect((await bench.gf("plan", "--out", saved, "--markdown", path("plan.md"))).code).toBe(0);
    const made = await read("plan.md");
    expect(made).toContain(`Next: \`graphform apply ${saved}\`.`);
    expect(made).toContain('+ config.name: "orders"');
    expect(made).not.toContain("a-password-of-tests");
    const failed = await bench.gf(
      "plan",
      "--markdown",
      path("plan.md"),
      "--platform-url",
      "http://127.0.0.1:1",
    );
    expect(failed.code).toBe(1);
    const told = await read("plan.md");
    expect(told).toContain("The plan could not be made.");
    expect(told.split("\n")[0]).toBe(made.split("\n")[0]);
  });

  describe("the summary of a step", () => {
    beforeEach(async () => {
      bench.env["GITHUB_STEP_SUMMARY"] = await bench.write("summary.md", "before\n");
    });

    it("gets the plan behind what it has, and nothing else changes", async () => {
      const ran = await bench.gf("plan", "--json");
      bench.env["GITHUB_STEP_SUMMARY"] = undefined;
      expect(await bench.gf("plan", "--json")).toEqual(ran);
      const written = await read("summary.md");
      expect(written).toMatch(/^before\n<!-- graphform:plan name=reported -->\n/);
      expect(written.match(/^## /gm)).toHaveLength(1);
    });

    it("is left as it is where the plan does not fit into its megabyte, which is said", async () => {
      const full = "x".repeat(1024 * 1024 - 500);
      await bench.write("summary.md", full);
      const ran = await bench.gf("plan");
      expect([ran.code, ran.err]).toEqual([0, expect.stringContaining("the summary of this step is full")]);
      expect(await read("summary.md")).toBe(full);
      bench.env["GITHUB_STEP_SUMMARY"] = join(bench.folder, "no", "such", "summary.md");
      const lost = await bench.gf("plan");
      expect([lost.code, lost.err]).toEqual([
        0,
        expect.stringContaining("summary of this step cannot be written"),
      ]);
    });
  });

  describe("on GitHub", () => {
    beforeEach(() => {
      bench.env["GITHUB_ACTIONS"] = "true";
      bench.env["GITHUB_WORKSPACE"] = bench.folder;
    });

    it("problems are annotations on standard error, and standard output stays JSON", async () => {
      await bench.write("graphform.yaml", manifest.replace("region:", "regoin:"));
      for (const command of ["validate", "plan"]) {
        const ran = await bench.gf(command, "--json");
        expect(() => JSON.parse(ran.out)).not.toThrow();
        expect(ran.err, command).toMatch(
          /^::error file=graphform\.yaml,line=8,[^:]*title=graphform%3A unknown-key::/m,
        );
      }
    });

    it("a plan that has nothing dangerous gives none, and elsewhere nothing does", async () => {
      expect((await bench.gf("plan", "--json")).err).not.toContain("::");
      bench.env["GITHUB_ACTIONS"] = undefined;
      await bench.write("graphform.yaml", manifest.replace("region:", "regoin:"));
      expect((await bench.gf("validate")).err).not.toContain("::error");
    });
  });
});

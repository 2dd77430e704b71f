import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isObject } from "../../src/model/json.ts";
import { pro } from "../platform/harness.ts";
import { quickProfile } from "../support/quick-profile.ts";
import { type Bench, type Ran, startBench } from "./harness.ts";

const manifest = `apiVersion: graphform/v1
name: watched
instances:
  orders:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    lifecycle: { protect: false }
    config: { name: orders, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${env.PW}" }
`;

describe("reports of drift to files", () => {
  let bench: Bench;
  let profile = "";
  let id = "";
  const gf = (...args: readonly string[]): Promise<Ran> => bench.gf(...args, "--profile", profile);
  const path = (name: string): string => join(bench.folder, "reports", name);
  const read = (name: string): Promise<string> => readFile(path(name), "utf8");
  const files: readonly (readonly [option: string, file: string])[] = [
    ["--sarif", "drift.sarif"],
    ["--junit", "drift.xml"],
    ["--markdown", "drift.md"],
    ["--html", "drift.html"],
    ["--prometheus", "drift.prom"],
  ];
  const options = (): readonly string[] => files.flatMap(([option, file]) => [option, path(file)]);

  async function rename(name: string): Promise<void> {
    const { status } = await bench.test.call("PUT", `${pro}/${id}`, { requestParams: { name } });
    expect(status).toBe(202);
    await bench.test.until(`${pro}/${id}`, "RUNNING");
  }

  beforeAll(async () => {
    bench = await startBench(manifest, { echo: true });
    profile = await bench.write("quick.yaml", quickProfile);
    const applied = await gf("apply", "--auto-approve");
    expect(applied.code, applied.err).toBe(0);
    const { resources } = await bench.state();
    const bound = isObject(resources) ? resources["instances.orders"] : undefined;
    id = isObject(bound) ? String(bound["id"]) : "";
  });
  beforeEach(() => {
    for (const name of ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"]) bench.env[name] = undefined;
  });
  afterAll(() => bench.close());

  it("say that nothing has changed, and print the same report", async () => {
    const plain = await gf("drift", "--json", "--no-probe");
    expect(await gf("drift", "--json", "--no-probe", ...options())).toEqual(plain);
    expect(plain.code).toBe(0);
    expect(await read("drift.xml")).toContain('name="watched" tests="1" failures="0" errors="0" skipped="0"');
    expect(JSON.parse(await read("drift.sarif")).runs[0].results).toEqual([]);
    expect(await read("drift.md")).toMatch(/\*\*No drift found\.\*\* \d+ of \d+ values were seen/);
    expect(await read("drift.html")).toMatch(/<h1 class="good">No drift found\.<\/h1>/);
  });

  it("say what was changed outside, where it is declared, and nothing of a secret", async () => {
    await rename("renamed");
    bench.env["GITHUB_ACTIONS"] = "true";
    bench.env["GITHUB_STEP_SUMMARY"] = await bench.write("summary.md", "before\n");
    const { code, err } = await gf("drift", ...options());
    expect(code).toBe(2);
    expect(err).toMatch(/^::warning file=.*graphform\.yaml,line=10,.*drift%2C renamed::instances\.orders: /m);
    expect(await read("drift.xml")).toContain('<failure message="renamed outside graphform" type="drift">');
    expect(JSON.parse(await read("drift.sarif")).runs[0].results).toMatchObject([
      { ruleId: "drift-outside", locations: [{ physicalLocation: { region: { startLine: 10 } } }] },
      { ruleId: "drift-unseen" },
    ]);
    expect(await read("drift.md")).toContain('! config.name: "orders" → "renamed" (echoed back)  # line 10');
    expect(await readFile(join(bench.folder, "summary.md"), "utf8")).toBe(
      `before\n${await read("drift.md")}\n`,
    );
    expect(await read("drift.html")).toContain("Drift: 1 resource changed outside.");
    expect(await read("drift.prom")).toContain('graphform_resources{manifest="watched",state="drifted"} 1\n');
    // The collector is another user, and reads at any moment: the file is whole, and readable.
    expect((await stat(path("drift.prom"))).mode & 0o777).toBe(0o644);
    expect((await readdir(join(bench.folder, "reports"))).sort()).toEqual(
      files.map(([, file]) => file).sort(),
    );
    for (const [, file] of files) expect(await read(file)).not.toContain("a-password-of-tests");
    await rename("orders");
  });

  it("say that nobody could look, so that an earlier report is not taken for this one", async () => {
    const failed = await gf("drift", ...options(), "--platform-url", "http://127.0.0.1:1");
    expect(failed.code).toBe(1);
    expect(await read("drift.xml")).toMatch(/errors="1"[\s\S]*<testcase name="drift" [\s\S]*<error message=/);
    const [run] = JSON.parse(await read("drift.sarif")).runs;
    expect([run.results, run.invocations[0].executionSuccessful]).toEqual([[], false]);

    expect(await read("drift.md")).toMatch(
      /^<!-- graphform:drift name=watched -->\n[\s\S]*The service could not be read\./,
    );
    expect(await read("drift.html")).toContain("Drift is not known:");
    expect(await read("drift.prom")).toMatch(
      /graphform_drift_success\{manifest="watched"\} 0\n[\s\S]*graphform_last_success_timestamp_seconds\{manifest="watched"\} \d+/,
    );

    await bench.write("graphform.yaml", manifest.replace("region:", "regoin:"));
    expect((await gf("drift", ...options())).code).toBe(3);
    expect(await read("drift.xml")).toContain("unknown-key");
    expect(await read("drift.sarif")).toContain('"ruleId": "unknown-key"');
    await bench.write("graphform.yaml", manifest);
  });

  it("are none of what --adopt writes", async () => {
    const refused = await gf("drift", "--junit", path("none.xml"), "--adopt", "instances.orders");
    expect([refused.code, refused.out]).toEqual([1, ""]);
    await expect(read("none.xml")).rejects.toThrow("ENOENT");
  });

  it.each([
    [["--sarif", "-"], "standard output has the result"],
    [["--sarif", "FOLDER/x", "--junit", "FOLDER/./x"], "--sarif and --junit name the same file"],
    [["--junit", "FOLDER"], "cannot be written to"],
  ])("%j is refused", async (args, message) => {
    const ran = await gf("drift", ...args.map((arg) => arg.replace("FOLDER", bench.folder)));
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(message);
  });
});

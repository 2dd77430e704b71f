import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { schemaText } from "../../scripts/compiled-module.ts";
import { eventSchema } from "../../scripts/event-schema.ts";
import { planSchema } from "../../scripts/plan-schema.ts";
import { driftSchema, replaceSchema, severalSchema, validationSchema } from "../../scripts/report-schemas.ts";
import { severalViolations, validationViolations } from "../support/published-schemas.ts";
import { quickProfile } from "../support/quick-profile.ts";
import { type Bench, type Ran, startBench } from "./harness.ts";

const start = process.cwd();
let bench: Bench;

beforeAll(async () => {
  bench = await startBench("apiVersion: graphform/v1\nname: unused\n");
  // No database answers here: nobody waits for one.
  await bench.write("quick.yaml", quickProfile);
  for (const name of ["test", "prod"]) {
    await mkdir(join(bench.folder, "envs", name), { recursive: true });
    await write(name, manifest(name));
  }
  await mkdir(join(bench.folder, "envs", "broken"));
  await write("broken", "apiVersion: graphform/v1\nname: broken\ninstances: { a: { tier: wrong } }\n");
});
afterEach(() => process.chdir(start));
afterAll(() => bench.close());

function manifest(name: string): string {
  return `apiVersion: graphform/v1
name: shop-${name}
service: { profile: "${bench.folder}/quick.yaml" }
instances:
  orders:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: "orders-${name}", graphdbUser: app, graphdbPassword: "\${env.PW}" }
`;
}

function write(name: string, text: string): Promise<void> {
  return writeFile(join(bench.folder, "envs", name, "graphform.yaml"), text);
}

/** Runs a command in the folder of the bench. */
async function gf(...args: readonly string[]): Promise<Ran> {
  process.chdir(bench.folder);
  return bench.bare(...args);
}

const [test, prod, broken] = [
  ["--chdir", "envs/test"],
  ["--chdir", "envs/prod"],
  ["--chdir", "envs/broken"],
] as const;

describe("--chdir with one folder", () => {
  it("runs as if started there: manifest, state and reports stand in it", async () => {
    const ran = await gf(...test, "apply", "--auto-approve");
    expect(ran).toMatchObject({ code: 0 });
    expect(existsSync(join(bench.folder, "envs/test/.graphform/shop-test.state.json"))).toBe(true);
    expect(await gf("plan", ...test, "--detailed-exitcode", "--markdown", "plan.md")).toMatchObject({
      code: 0,
    });
    expect(readFileSync(join(bench.folder, "envs/test/plan.md"), "utf8")).toContain("shop-test");
    expect(await gf("state", "list", ...test)).toMatchObject({
      code: 0,
      out: expect.stringContaining("orders"),
    });
  });

  it("says which folder is missing", async () => {
    expect(await gf("plan", "--chdir", "envs/none")).toMatchObject({
      code: 1,
      err: expect.stringContaining("--chdir envs/none: no such file or directory"),
    });
  });
});

describe("several folders", () => {
  it.each([
    ["plan", [...test, ...prod], 0, "2 manifests: 1 with changes, 1 without."],
    ["plan", [...test, ...prod, "--detailed-exitcode"], 2, "2 manifests: 1 with changes, 1 without."],
    ["plan", [...prod, ...broken, "--detailed-exitcode"], 3, "2 manifests: 1 with changes, 1 failed."],
    ["drift", [...test, ...prod], 1, "2 manifests: 1 without drift, 1 failed."],
    ["validate", [...test, ...prod], 0, "2 manifests: 2 valid."],
    ["validate", [...test, ...broken], 3, "2 manifests: 1 valid, 1 invalid."],
  ] as const)(
    "%s %j exits with the worst code, and says at the end: %s %s",
    async (command, args, code, line) => {
      const ran = await gf(command, ...args);
      expect({ code: ran.code, last: ran.out.trimEnd().split("\n").at(-1) }).toEqual({ code, last: line });
    },
  );

  it("prints one document, each project as the command prints it alone", async () => {
    const { out, code } = await gf("plan", ...test, ...prod, ...broken, "--json");
    expect(code).toBe(3);
    const document = JSON.parse(out);
    expect(document).toMatchObject({
      format_version: "1.0",
      summary: { manifests: 3, changed: 1, unchanged: 1, failed: 1 },
      projects: [
        { folder: "envs/test", exit_code: 0, plan: { errored: false } },
        { folder: "envs/prod", exit_code: 2 },
        { folder: "envs/broken", exit_code: 3, plan: { errored: true } },
      ],
    });
    expect(document.projects[1].plan).toEqual(JSON.parse((await gf("plan", ...prod, "--json")).out));
  });

  it.each([
    ["plan", [...test, ...prod, ...broken]],
    ["drift", [...test, ...prod, ...broken]],
    ["validate", [...test, ...broken]],
    ["validate", [...test, ...prod, "--var-file", "none.yaml"]],
  ] as const)("%s %j prints what `graphform schema several` publishes", async (command, args) => {
    const document = JSON.parse((await gf(command, ...args, "--json")).out);
    expect(severalViolations(document)).toEqual([]);
    const [first, ...others] = document.projects;
    const without = { ...first, exit_code: undefined };
    for (const wrong of [{ ...first, surprise: 1 }, without])
      expect(severalViolations({ ...document, projects: [wrong, ...others] })).not.toEqual([]);
    if (command !== "validate") return;
    for (const project of document.projects) expect(validationViolations(project.validation)).toEqual([]);
  });

  it.each([
    ["plan", planSchema],
    ["events", eventSchema],
    ["drift", driftSchema],
    ["several", severalSchema()],
    ["validation", validationSchema],
    ["replace", replaceSchema],
  ] as const)("`graphform schema %s` is what npm run emit writes", async (name, schema) => {
    expect((await gf("schema", name)).out).toBe(schemaText(schema));
  });

  it("writes one report of each kind for all, and saves each plan in its own folder", async () => {
    const output = join(bench.folder, "output.txt");
    const summary = join(bench.folder, "summary.md");
    await Promise.all([writeFile(output, ""), writeFile(summary, "")]);
    Object.assign(bench.env, {
      GITHUB_ACTIONS: "true",
      GITHUB_WORKSPACE: bench.folder,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
    });
    const files = [
      "--markdown",
      "all.md",
      "--sarif",
      "all.sarif",
      "--gitlab",
      "all.json",
      "--out",
      "a.gfplan",
    ];
    const ran = await gf("plan", ...test, ...prod, ...files);
    const failed = await gf("plan", ...prod, ...broken, "--markdown", "bad.md", "--sarif", "bad.sarif");
    for (const name of Object.keys(bench.env).filter((key) => key.startsWith("GITHUB_")))
      delete bench.env[name];
    expect([ran.code, failed.code]).toEqual([0, 3]);
    const markdown = read("all.md");
    expect(markdown).toMatch(/^<!-- graphform:plan name=envs%2Ftest%2Cenvs%2Fprod -->\n/);
    expect(markdown.match(/<!--/g)).toHaveLength(1);
    expect(markdown).toContain("| `envs/test` | Plan: 0 to add, 0 to change, 0 to destroy. |");
    expect(markdown).toContain("In `envs/prod`:\n\n## Plan for `shop-prod`");
    expect(markdown).not.toContain("Plan for `shop-test`");
    expect(read("summary.md")).toContain("## Plan for 2 manifests");
    expect(JSON.parse(read("all.json"))).toEqual({ create: 1, update: 0, delete: 0 });
    expect(read("output.txt")).toMatch(/^changed=true\nadd=1\nchange=0\n[\s\S]*max_disruption=none\n/);
    for (const name of ["test", "prod"])
      expect(existsSync(join(bench.folder, "envs", name, "a.gfplan"))).toBe(true);
    const [result] = JSON.parse(read("all.sarif")).runs[0].results;
    expect(result.locations[0].physicalLocation.artifactLocation.uri).toBe("envs/prod/graphform.yaml");
    // What failed is in every report, at its own place.
    expect(read("bad.md")).toContain("| `envs/broken` | failed |");
    expect(read("bad.md")).toContain("## No plan");
    const places = JSON.parse(read("bad.sarif")).runs[0].results.map(
      (each: { locations: { physicalLocation: { artifactLocation: { uri: string } } }[] }) =>
        each.locations[0]?.physicalLocation.artifactLocation.uri,
    );
    expect(new Set(places)).toEqual(new Set(["envs/broken/graphform.yaml", "envs/prod/graphform.yaml"]));
    expect(failed.err).toMatch(/::error file=envs\/broken\/graphform.yaml,line=3/);
  });

  it("looks for drift in each, with a suite for each", async () => {
    expect(await gf(...prod, "apply", "a.gfplan")).toMatchObject({ code: 0 });
    expect((await gf("drift", ...test, ...prod)).code).toBe(0);
    await writeFile(join(bench.folder, "envs/test/.graphform/shop-test.state.json"), "{");
    const ran = await gf(
      "drift",
      ...test,
      ...prod,
      "--junit",
      "all.xml",
      "--json",
      "--prometheus",
      "own.prom",
    );
    expect(ran.code).toBe(1);
    expect(JSON.parse(ran.out)).toMatchObject({
      summary: { manifests: 2, changed: 0, unchanged: 1, failed: 1 },
      projects: [{ drift: { errored: true } }, { drift: { errored: false, drifted: false } }],
    });
    const suites = [...read("all.xml").matchAll(/<testsuite name="([^"]*)"/g)].map(([, name]) => name);
    expect(suites).toEqual(["envs/test shop-test", "envs/prod shop-prod"]);
    expect(read("envs/prod/own.prom")).toContain('graphform_drift_success{manifest="shop-prod"} 1');
    expect(read("envs/test/own.prom")).toContain('graphform_drift_success{manifest="shop-test"} 0');
  });

  it.each([
    ["apply", [...test, ...prod, "--auto-approve"], "apply works in one folder"],
    ["state list", [...test, ...prod], "state list works in one folder"],
    ["drift", [...test, ...prod, "--adopt", "instances.orders"], "drift --adopt works in one folder"],
    ["plan", [...test, ...test], "are the same folder"],
    ["plan", [...test, "--chdir", "envs/none"], "--chdir envs/none: there is no such folder"],
  ] as const)("%s %j is refused before anything is done", async (command, args, message) => {
    expect(await gf(...command.split(" "), ...args)).toMatchObject({
      code: 1,
      err: expect.stringContaining(message),
    });
  });

  function read(file: string): string {
    return readFileSync(join(bench.folder, file), "utf8");
  }
});

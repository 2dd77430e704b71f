import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ForgeServer, startForge } from "../support/pipelines/forge-server.ts";
import { quickProfile } from "../support/quick-profile.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Bench, startBench } from "./harness.ts";

const manifest = (description: string): string => `apiVersion: graphform/v1
name: shop
service: { profile: ${join(bench.folder, "quick.yaml")} }
variables: { region: { default: us-east-1 } }
secrets: { pw: { env: PW } }
instances:
${["orders", "stock"]
  .map(
    (name) => `  ${name}:
    tier: free
    component: free
    cloudProvider: aws
    region: "\${var.region}"
    config: { name: ${name}, description: ${description}, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`,
  )
  .join("")}`;

let bench: Bench;
let forge: ForgeServer;
let repository = "";
let plan = "";
let base = "";

beforeEach(async () => {
  // A plan without changes is refused and applied as any other.
  bench = await startBench('apiVersion: graphform/v1\nname: shop\noutputs: { answer: "42" }\n');
  await bench.write("quick.yaml", quickProfile);
  forge = await startForge();
  repository = temporaryFolder("repository");
  plan = join(bench.folder, "shop.gfplan");
});
afterEach(async () => {
  await forge.close();
  await bench.close();
});

/** Pushes the next commit to a branch. */
function push(text: string, branch?: string): string {
  writeFileSync(join(repository, "README.md"), text);
  return forge.git.push(repository, branch);
}

/** Makes the saved plan. */
async function planned(...args: readonly string[]): Promise<void> {
  const { code, err } = await bench.gf("plan", "--out", plan, ...args);
  expect(code, err).toBe(0);
}

const pipelines = {
  GitHub: (commit: string, branch = "main") => ({
    GITHUB_ACTIONS: "true",
    GITHUB_SERVER_URL: forge.url,
    GITHUB_REPOSITORY: "acme/graphs",
    GITHUB_REF: `refs/heads/${branch}`,
    GITHUB_SHA: commit,
    GITHUB_TOKEN: Buffer.from(JSON.stringify({ contents: "read" })).toString("base64url"),
  }),
  GitLab: (commit: string, branch = "main") => ({
    GITLAB_CI: "true",
    CI_PROJECT_URL: `${forge.url}/acme/graphs`,
    CI_COMMIT_BRANCH: branch,
    CI_COMMIT_SHA: commit,
    CI_JOB_TOKEN: "glcbt-64_the-job",
  }),
};

describe.each(Object.entries(pipelines))("a plan of a pipeline on %s", (_, job) => {
  it("is applied while its commit is the newest of its branch, whatever other branches do", async () => {
    push("another branch", "main-2");
    Object.assign(bench.env, job(push("one")));
    await planned();
    push("a third branch", "mai");
    expect(await bench.gf("apply", plan)).toMatchObject({ code: 0 });
  });

  it.each<readonly [string, () => unknown, RegExp]>([
    [
      "was followed by another",
      () => push("two"),
      /from the commit \w{12} of main, which is at \w{12} by now/,
    ],
    ["was taken back by force", () => forge.git.reset("main", base), /which is at \w{12} by now/],
    ["stood on a branch that is gone", () => forge.git.reset("main", undefined), /which is gone/],
  ])("is refused with exit code 6 if its commit %s", async (_name, change, words) => {
    base = push("zero");
    Object.assign(bench.env, job(push("one")));
    await planned();
    change();
    const ran = await bench.gf("apply", plan, "--replan");
    expect(ran).toMatchObject({ code: 6, err: expect.stringMatching(words) });
    // The plan of an old commit is not the plan now.
    expect(ran.out).not.toContain("Plan:");
    await expect(bench.state()).rejects.toThrow("ENOENT");
  });

  it("is refused in the job of a newer commit too, and applied after the branch was set back to it", async () => {
    const first = push("one");
    Object.assign(bench.env, job(first));
    await planned();
    Object.assign(bench.env, job(push("two")));
    expect(await bench.gf("apply", plan)).toMatchObject({ code: 6 });
    push("one");
    expect(await bench.gf("apply", plan)).toMatchObject({ code: 6 });
    forge.git.reset("main", first);
    expect(await bench.gf("apply", plan)).toMatchObject({ code: 0 });
  });
});

describe("a plan of a pipeline", () => {
  it("is not applied by a job that may not ask, which says what it needs", async () => {
    Object.assign(bench.env, pipelines.GitHub(push("one")));
    await planned();
    Object.assign(bench.env, { GITHUB_TOKEN: "" });
    const ran = await bench.gf("apply", plan);
    expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(/401[\s\S]*contents: read/) });
  });

  it.each([
    ["by a person", () => ({ GITHUB_ACTIONS: "" })],
    ["in another repository's pipeline", () => ({ GITHUB_REPOSITORY: "acme/operations" })],
  ])("is applied %s without asking for its commit, which the manifest beside it tells of", async (_, env) => {
    Object.assign(bench.env, pipelines.GitHub(push("one")));
    await planned();
    push("two");
    Object.assign(bench.env, env());
    expect(await bench.gf("apply", plan)).toMatchObject({ code: 0 });
  });
});

describe("a saved plan", () => {
  beforeEach(() => bench.write("graphform.yaml", manifest("first")));

  const choices = [
    "--target",
    "instances.orders",
    "--allow-destroy",
    "instances.orders",
    "--max-disruption",
    "restart",
  ];

  it("is applied with the options that it was made with, or without them", async () => {
    await planned(...choices);
    expect(await bench.gf("apply", plan, ...choices)).toMatchObject({ code: 0 });
    await bench.write("graphform.yaml", manifest("second"));
    await planned(...choices);
    expect(await bench.gf("apply", plan)).toMatchObject({ code: 0 });
    expect((await bench.gf("state", "list")).out).not.toContain("instances.stock");
  });

  it.each([
    ["--target", "instances.stock"],
    ["--exclude", "instances.stock"],
    ["--max-disruption", "none"],
  ])("is not applied with %s %s, which it was not made with", async (option, value) => {
    await planned(...choices);
    const ran = await bench.gf("apply", plan, option, value);
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining(`${option} would change it`) });
  });

  it("says nothing of what its --target or --exclude left out, to destroy or not", async () => {
    await planned();
    expect((await bench.gf("apply", plan)).code).toBe(0);
    await bench.write("graphform.yaml", manifest("second"));
    for (const options of [
      ["--target", "instances.orders"],
      ["--destroy", "--exclude", "instances.stock"],
    ]) {
      await planned(...options);
      const ran = await bench.gf("apply", plan);
      expect([ran.code, `${ran.out}${ran.err}`]).toEqual([
        0,
        expect.not.stringContaining("not part of this plan"),
      ]);
    }
    const list = (await bench.gf("state", "list")).out;
    expect([list.includes("instances.stock"), list.includes("instances.orders")]).toEqual([true, false]);
  });

  it("that is out of date is made again with --replan: with its options and variables, and not applied", async () => {
    const given = ["--target", "instances.orders", "--var", "region=eu-west-1"];
    await planned(...given);
    expect((await bench.gf("apply", plan)).code).toBe(0);
    await bench.write("graphform.yaml", manifest("second"));
    const silent = await bench.gf("apply", plan);
    expect([silent.code, silent.out]).toEqual([6, ""]);
    const ran = await bench.gf("apply", plan, "--replan");
    expect(ran.code).toBe(6);
    expect(ran.out).toContain("Plan: 0 to add, 1 to change, 0 to destroy.");
    expect(ran.out).not.toContain("instances.stock");
    expect(ran.err).toMatch(/This is the plan now\. It was not applied[\s\S]*applied already/);
    expect((await bench.gf("plan", ...given)).out).toContain("1 to change");
  });

  it("with --replan says both why it was refused and why there is no new one", async () => {
    await planned();
    await bench.gf("apply", plan);
    await bench.write("graphform.yaml", manifest("second").replace("tier: free", "tier: fre"));
    const ran = await bench.gf("apply", plan, "--replan");
    expect(ran).toMatchObject({ code: 6, out: "", err: expect.stringMatching(/fre[\s\S]*applied already/) });
  });

  it("is not made again where events are wanted as JSON", async () => {
    await planned();
    expect((await bench.gf("apply", plan, "--json", "--replan")).code).toBe(1);
  });
});

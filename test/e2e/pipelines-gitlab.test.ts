import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startForge } from "../support/pipelines/forge-server.ts";
import {
  type GitlabJob,
  type GitlabRunner,
  gitlabRunner,
  included,
} from "../support/pipelines/gitlab-runner.ts";
import { openShop, type Shop } from "../support/pipelines/shop.ts";
import { startTerraformServer, type TerraformServer } from "../support/terraform-server.ts";

const merge = {
  CI_PIPELINE_SOURCE: "merge_request_event",
  CI_MERGE_REQUEST_IID: "5",
  CI_MERGE_REQUEST_PROJECT_ID: "7",
};
const push = { CI_PIPELINE_SOURCE: "push", CI_COMMIT_BRANCH: "main" };
const schedule = { CI_PIPELINE_SOURCE: "schedule", CI_COMMIT_BRANCH: "main" };

let shop: Shop;
let gitlab: GitlabRunner;
let states: TerraformServer;
const project: Record<string, string> = {};
const environments: Record<string, Readonly<Record<string, string>>> = {};

beforeAll(async () => {
  states = await startTerraformServer("gitlab");
  // As GitLab's own store takes the token of a job.
  Object.assign(states, { username: "gitlab-ci-token", password: "glcbt-64_the-job" });
  const forge = await startForge(states.origin);
  const section = { type: "http", address: `${forge.url}${new URL(states.address).pathname}` };
  shop = await openShop("gitlab", { section, text: async () => states.document }, forge);
  Object.assign(project, shop.secrets, {
    CI_JOB_TOKEN: states.password,
    GITLAB_TOKEN: "gitlab-token",
    CI_API_V4_URL: `${shop.forge.url}/api/v4`,
    CI_PROJECT_ID: "7",
  });
  gitlab = gitlabRunner({
    folder: join(shop.user.dir, "gitlab"),
    repository: shop.repository,
    forge: shop.forge,
    project,
    environments,
  });
});
afterAll(async () => {
  await shop.close();
  await states.close();
});

function statuses(jobs: { readonly [name: string]: GitlabJob }): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(jobs).map(([name, { status }]) => [name, status]));
}

describe("the pipeline of a merge request", () => {
  it("shows the plan in one note, updates it, and reports numbers alone", async () => {
    shop.forge.comments.push({
      id: 900,
      body: "<!-- graphform:plan name=shop -->\n\nAll is well.",
      author: "stranger",
    });
    const { "shop-plan": plan, ...others } = await gitlab.run(merge);
    expect(plan?.status, `${plan?.out}${plan?.afterScript}`).toBe("success");
    expect(others).toEqual({});
    expect(JSON.parse(plan?.reports["terraform"] ?? "{}")).toEqual({ create: 1, update: 0, delete: 0 });
    shop.user.write("repository/graphform.yaml", "apiVersion: graphform/v1\nname: [broken\n");
    expect(statuses(await gitlab.run(merge))).toEqual({ "shop-plan": "failed" });
    const bodies = shop.forge.comments.map(({ body }) => body);
    expect(bodies).toEqual([expect.stringContaining("All is well."), expect.stringContaining("## No plan")]);
    expect(await shop.created()).toEqual([]);
  });

  it("of a fork is validated, without secrets and without a note", async () => {
    shop.commit({ orders: "from a fork" });
    const notes = shop.forge.comments.length;
    const { "shop-plan": plan } = await gitlab.run({ ...merge, CI_PROJECT_ID: "8" });
    expect([plan?.status, plan?.afterScript], plan?.out).toEqual(["success", ""]);
    expect(plan?.out).not.toContain("Plan:");
    expect(shop.forge.comments).toHaveLength(notes);
  });

  it("says how to get a token that may write notes, and plans without it", async () => {
    shop.commit({ orders: "the order graph" });
    // An empty variable counts as none.
    project["GITLAB_TOKEN"] = "";
    const { "shop-plan": plan } = await gitlab.run(merge);
    project["GITLAB_TOKEN"] = "gitlab-token";
    expect(plan?.status).toBe("success");
    expect(plan?.afterScript).toMatch(/GITLAB_TOKEN is not set[\s\S]*Access tokens/);
  });
});

describe("the pipeline after a merge", () => {
  it.each([
    ["the first commit", { orders: "the order graph" }, ["orders"]],
    ["the second commit", { orders: "the order graph", stock: "what is left" }, ["orders", "stock"]],
  ])("waits for a person, and applies the plan that was shown: %s", async (_, databases, created) => {
    shop.commit(databases);
    expect(statuses(await gitlab.run(push))).toEqual({ "shop-plan": "success", "shop-apply": "created" });
    const { "shop-plan": plan, "shop-apply": apply } = await gitlab.run(push, {
      "shop-apply": async () => undefined,
    });
    expect([plan?.status, apply?.status], apply?.out).toEqual(["success", "success"]);
    expect(plan?.out).toContain("Plan: 1 to add, 0 to change, 0 to destroy.");
    expect(apply?.out).toContain("Apply complete! Resources: 1 added, 0 changed, 0 destroyed.");
    expect(await shop.created()).toEqual(created);
  });

  it("refuses a stale plan, shows the new one, and does not apply it", async () => {
    shop.commit({ orders: "changed in between", stock: "what is left" });
    const { "shop-apply": apply } = await gitlab.run(push, {
      "shop-apply": () => shop.past("delete", "orders"),
    });
    expect(apply).toMatchObject({ status: "failed", environment: { name: "production" } });
    expect(apply?.out).toMatch(/Plan: 1 to add, 0 to change, 0 to destroy\.[\s\S]*out of date/);
    expect(await shop.created()).toEqual(["orders", "stock"]);
    expect(statuses(await gitlab.run(push, { "shop-apply": async () => undefined }))).toEqual({
      "shop-plan": "success",
      "shop-apply": "success",
    });
    expect(errored("gitlab/")).toEqual([]);
  });
});

describe("a plan whose apply is started late", () => {
  // `test/commands/saved-plan.test.ts` has the other ways in which a commit is no longer the newest.
  it("is refused if a newer commit was pushed, without a plan of the old commit", async () => {
    shop.user.write("another clone/README.md", "the newer commit");
    shop.commit({ orders: "approved late", stock: "what is left", late: "never made" });
    const { "shop-apply": apply } = await gitlab.run(push, {
      "shop-apply": async () => void shop.forge.git.push(join(shop.user.dir, "another clone")),
    });
    expect(apply?.status).toBe("failed");
    expect(apply?.out).toMatch(/of main, which is at \w{12} by now[\s\S]*out of date/);
    expect(apply?.out).not.toContain("Plan:");
    expect(await shop.created()).not.toContain("late");
  });

  it("is refused in an old pipeline that is run again", async () => {
    shop.commit({ orders: "the old commit", stock: "what is left", late: "never made" });
    await gitlab.run(push);
    const CI_COMMIT_SHA = gitlab.commit();
    shop.commit({ orders: "changed in between", stock: "what is left" });
    await gitlab.run(push);
    const { "shop-apply": apply } = await gitlab.run(
      { ...push, CI_COMMIT_SHA },
      { "shop-apply": async () => undefined },
    );
    expect(apply?.status).toBe("failed");
    expect(apply?.out).toContain(`from the commit ${CI_COMMIT_SHA.slice(0, 12)} of main`);
  });
});

describe("two environments of one repository", () => {
  it("have files, jobs, environments and variables of their own in one pipeline", async () => {
    const { user } = shop;
    const stateOf = (name: string): string => join(user.dir, `${name}.state.json`);
    for (const name of ["prod", "test"]) {
      const manifest = shop.manifest(
        { [`${name}-orders`]: "in a folder" },
        { path: stateOf(name) },
        "several",
      );
      user.write(`repository/envs/${name}/graphform.yaml`, manifest);
      const ran = await user.run("--chdir", `repository/envs/${name}`, "init", "--ci", "gitlab");
      expect(ran.code, ran.err).toBe(0);
    }
    user.write(".graphform-shared", "");
    for (const [name, password] of [
      ["prod", shop.platform.password],
      ["test", "that of another account"],
    ] as const) {
      const plan = { GRAPHFORM_STATE: stateOf(name) };
      environments[`several-${name}-plan`] = plan;
      environments[`several-${name}`] = { ...plan, GRAPHFORM_PASSWORD: password };
    }
    const start = async (): Promise<void> => undefined;
    const jobs = await gitlab.run(push, { "several-prod-apply": start, "several-test-apply": start });
    expect(statuses(jobs), jobs["several-prod-apply"]?.out).toEqual({
      ...{ "several-prod-plan": "success", "several-test-plan": "success", "shop-plan": "success" },
      ...{ "several-prod-apply": "success", "several-test-apply": "failed", "shop-apply": "created" },
    });
    expect(jobs["several-test-apply"]?.out).toContain("does not accept this user name with this password");
    expect(jobs["several-prod-plan"]?.environment).toEqual({ name: "several-prod-plan", action: "access" });
    expect(jobs["several-prod-apply"]?.environment).toEqual({ name: "several-prod" });
    expect((await shop.created()).filter((name) => name.includes("-orders"))).toEqual(["prod-orders"]);
    for (const folder of ["envs", ".gitlab/graphform-several-prod.yml", ".gitlab/graphform-several-test.yml"])
      rmSync(join(shop.repository, folder), { recursive: true });
  });
});

/** The artifact of a job with what could not be stored. */
function errored(folder: string): readonly string[] {
  return shop.user
    .files()
    .filter((file) => file.startsWith(folder) && file.includes("/artifacts/") && file.includes("errored"));
}

describe("the pipeline of an apply whose store went away", () => {
  it("keeps what could not be stored as an artifact, and says how to push it", async () => {
    shop.commit({ orders: "not applied", stock: "what is left" });
    // A file that a run left: with it nothing is applied.
    shop.user.write("repository/.graphform/shop.errored.state.json", "{}");
    const { "shop-apply": apply } = await gitlab.run(push, { "shop-apply": async () => undefined });
    rmSync(join(shop.repository, ".graphform/shop.errored.state.json"));
    expect(apply?.status).toBe("failed");
    expect(apply?.out).toContain("shop.errored.state.json is not a state that a run could not store");
    expect(apply?.afterScript).toContain("graphform state push FILE");
    expect(errored("gitlab/")).toEqual([
      expect.stringMatching(/\/artifacts\/shop-apply\/graphform-errored\/shop\.errored\.state\.json$/),
    ]);
    shop.commit({ orders: "changed in between", stock: "what is left" });
  });
});

describe("the pipeline of a schedule", () => {
  it("keeps one issue about drift, warns while there is some, and closes it", async () => {
    expect(statuses(await gitlab.run(schedule))).toEqual({ "shop-drift": "success" });
    await shop.past("stop", "stock");
    const found = await gitlab.run(schedule);
    expect(statuses(found), found["shop-drift"]?.out).toEqual({ "shop-drift": "warning" });
    expect(found["shop-drift"]?.reports["junit"]).toContain("<failure");
    await gitlab.run(schedule);
    expect(shop.forge.issues).toMatchObject([{ title: "Drift of shop", state: "open" }]);
    project["GITLAB_TOKEN"] = "";
    const silent = await gitlab.run(schedule);
    project["GITLAB_TOKEN"] = "gitlab-token";
    expect(statuses(silent)).toEqual({ "shop-drift": "warning" });
    expect(silent["shop-drift"]?.out).toMatch(
      /GITLAB_TOKEN is not set[\s\S]*The issue about drift could not be written/,
    );
    project["GRAPHFORM_USERNAME"] = "nobody@example.com";
    expect(statuses(await gitlab.run(schedule))).toEqual({ "shop-drift": "failed" });
    project["GRAPHFORM_USERNAME"] = shop.platform.username;
    expect(shop.forge.issues).toMatchObject([{ title: "Drift of shop is not known", state: "open" }]);
    await gitlab.run(push, { "shop-apply": async () => undefined });
    expect(statuses(await gitlab.run(schedule))).toEqual({ "shop-drift": "success" });
    expect(shop.forge.issues).toMatchObject([{ title: "Drift of shop", state: "closed" }]);
    expect(shop.forge.refused).toEqual([]);
  });
});

describe("the component", () => {
  it("plans, applies the plan that was shown, and looks for drift", async () => {
    const component = readFileSync(join(import.meta.dirname, "../../templates/graphform.yml"), "utf8");
    const jobs = included(component, {
      name: "graphs",
      args: `--state ${states.address}`,
      "drift-args": "--no-probe",
    });
    const runner = gitlabRunner({
      folder: join(shop.user.dir, "component"),
      repository: shop.repository,
      forge: shop.forge,
      text: `stages: [plan, apply, drift]\n${jobs}`,
      project: {
        ...project,
        GRAPHFORM_STATE_USERNAME: "gitlab-ci-token",
        GRAPHFORM_STATE_PASSWORD: states.password,
      },
    });
    shop.commit({ orders: "through the component", stock: "what is left" });
    const notes = shop.forge.comments.length;
    expect(statuses(await runner.run(merge))).toEqual({ "graphs-plan": "success" });
    expect(shop.forge.comments.slice(notes)).toMatchObject([
      { body: expect.stringMatching(/^<!-- graphform:plan name=graphs -->/) },
    ]);
    const ran = await runner.run(push, { "graphs-apply": async () => undefined });
    expect(statuses(ran), ran["graphs-apply"]?.out).toEqual({
      "graphs-plan": "success",
      "graphs-apply": "success",
    });
    expect(ran["graphs-apply"]?.out).toMatch(/Apply complete! Resources: \d added, 1 changed, 0 destroyed\./);
    expect(statuses(await runner.run(schedule))).toEqual({ "graphs-drift": "success" });
    shop.commit({ orders: "not through the component", stock: "what is left" });
    shop.user.write("repository/.graphform/shop.errored.state.json", "{}");
    const refused = await runner.run(push, { "graphs-apply": async () => undefined });
    rmSync(join(shop.repository, ".graphform/shop.errored.state.json"));
    expect(refused["graphs-apply"]).toMatchObject({
      status: "failed",
      afterScript: expect.stringContaining("graphform state push FILE"),
    });
    expect(errored("component/")).toHaveLength(1);
  });
});

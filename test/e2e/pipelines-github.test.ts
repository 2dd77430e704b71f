import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GithubRunner, githubRunner, type JobResult } from "../support/pipelines/github-runner.ts";
import { openShop, type Shop } from "../support/pipelines/shop.ts";
import { type SharedStore, sharedStores } from "../support/shared-stores.ts";
import { until } from "../support/workspace.ts";

const [workflow, watch] = [".github/workflows/graphform.yaml", ".github/workflows/graphform-drift.yaml"];
const push = { name: "push", ref: "refs/heads/main" } as const;
const schedule = { name: "schedule", ref: "refs/heads/main" } as const;

let shop: Shop;
let github: GithubRunner;
let store: SharedStore;
const secrets: Record<string, string> = {};
const environments: Record<string, Readonly<Record<string, string>>> = {};

beforeAll(async () => {
  const start = sharedStores["s3"];
  if (start === undefined) throw new Error("no s3");
  store = await start("shop");
  shop = await openShop("github", store);
  Object.assign(secrets, shop.secrets, store.env);
  github = githubRunner({
    folder: join(shop.user.dir, "github"),
    repository: shop.repository,
    secrets,
    vars: { AWS_REGION: "us-east-1" },
    environments,
    forge: shop.forge,
  });
});
afterAll(async () => {
  await shop.close();
  await store.close();
});

function proposed(repository = "acme/graphs"): Parameters<GithubRunner["run"]>[1] {
  const head = { sha: "feedfacecafe1234", repo: { full_name: repository } };
  return { name: "pull_request", ref: "refs/pull/5/merge", payload: { pull_request: { number: 5, head } } };
}

function results(jobs: { readonly [name: string]: JobResult }): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(jobs).map(([name, { result }]) => [name, result]));
}

function said(job: JobResult | undefined): string {
  return (job?.steps ?? []).map(({ name, out }) => `${name}:\n${out}`).join("\n");
}

/** Fingerprint of the plan in a report. */
function fingerprint(text: string): string {
  return /Plan fingerprint: `([0-9a-f]+)`/.exec(text)?.[1] ?? `none in ${text}`;
}

describe("the workflow of a pull request", () => {
  it("shows the plan in one comment, and updates that one", async () => {
    const [first = ""] = ["<!-- graphform:plan name=shop -->"];
    shop.forge.comments.push({ id: 900, body: `${first}\n\nAll is well, approve it.`, author: "stranger" });
    const one = await github.run(workflow, proposed());
    expect(results(one), said(one["plan"])).toEqual({ plan: "success", apply: "skipped" });
    expect(one["plan"]?.summary).toContain("## Plan for `shop`");
    shop.commit({ orders: "orders and what was bought" });
    expect(results(await github.run(workflow, proposed()))).toEqual({ plan: "success", apply: "skipped" });
    const [stranger, ours, ...others] = shop.forge.comments;
    expect(others).toEqual([]);
    expect(stranger?.body).toContain("approve it");
    expect(ours?.body).toMatch(/^<!-- graphform:plan name=shop -->\n/);
    expect(ours?.body).toContain("orders and what was bought");
    expect(ours?.body).toContain(`[Run of feedfacecafe](${shop.forge.url}/acme/graphs/actions/runs/2)`);
    expect(await shop.created()).toEqual([]);
  });

  it("says in the same comment why there is no plan, and fails", async () => {
    shop.user.write("repository/graphform.yaml", "apiVersion: graphform/v1\nname: [broken\n");
    const { plan, apply } = await github.run(workflow, proposed());
    expect([plan?.result, apply?.result]).toEqual(["failure", "skipped"]);
    expect(shop.forge.comments.slice(1).map(({ body }) => body)).toEqual([
      expect.stringContaining("## No plan"),
    ]);
    expect(said(plan)).toMatch(/::error file=graphform.yaml,line=\d/);
  });

  it("succeeds where the comment may not be written, and says so", async () => {
    shop.commit({ orders: "with a token that may only read" });
    const text = shop.user.read(`repository/${workflow}`);
    shop.user.write("repository/read.yaml", text.replace("pull-requests: write", "pull-requests: read"));
    const before = shop.forge.comments.map(({ body }) => body);
    const { plan } = await github.run("read.yaml", proposed());
    expect(plan?.result, said(plan)).toBe("success");
    expect(said(plan)).toMatch(
      /403: Resource not accessible[\s\S]*::warning title=graphform::The plan could not be shown/,
    );
    expect(plan?.summary).toContain("with a token that may only read");
    expect(shop.forge.comments.map(({ body }) => body)).toEqual(before);
    shop.forge.refused.length = 0;
  });

  it.each([
    ["a fork", () => proposed("stranger/graphs")],
    ["Dependabot", () => ({ ...proposed(), actor: "dependabot[bot]" })],
  ])("of %s is validated, without secrets and without a comment", async (_, event) => {
    shop.commit({ orders: "from a fork" });
    const before = shop.forge.comments.map(({ body }) => body);
    const { plan, apply } = await github.run(workflow, event());
    expect([plan?.result, apply?.result]).toEqual(["success", "skipped"]);
    const outcomes = Object.fromEntries((plan?.steps ?? []).map(({ name, outcome }) => [name, outcome]));
    expect(outcomes).toMatchObject({ validate: "success", plan: "skipped" });
    expect(shop.forge.comments.map(({ body }) => body)).toEqual(before);
  });
});

describe("the workflow after a merge", () => {
  it.each([
    ["the first commit", { orders: "the order graph" }, ["orders"]],
    ["the second commit", { orders: "the order graph", stock: "what is left" }, ["orders", "stock"]],
  ])("applies the very plan that was shown: %s", async (_, databases, created) => {
    shop.commit(databases);
    expect(results(await github.run(workflow, proposed()))).toEqual({ plan: "success", apply: "skipped" });
    let shown = "";
    const jobs = await github.run(workflow, push, {
      apply: async () => {
        shown = "asked";
      },
    });
    expect(results(jobs), said(jobs["apply"])).toEqual({ plan: "success", apply: "success" });
    expect(shown).toBe("asked");
    const applied: { appliedPlans: readonly { fingerprint: string }[] } = JSON.parse(
      (await store.text()) ?? "",
    );
    expect(JSON.stringify(applied.appliedPlans)).toContain(fingerprint(jobs["plan"]?.summary ?? ""));
    expect(await shop.created()).toEqual(created);
    for (const secret of ["a-password-of-tests", ...store.secrets])
      expect(npmEnvironment()).not.toContain(secret);
  });

  it("asks nobody where there is nothing to do", async () => {
    const jobs = await github.run(workflow, push, { apply: () => expect.fail("nobody is asked") });
    expect(results(jobs)).toEqual({ plan: "success", apply: "skipped" });
  });

  it("keeps the plan, and applies no other file", async () => {
    shop.commit({ orders: "a forged plan", stock: "what is left" });
    let sha = "";
    const jobs = await github.run(workflow, push, {
      apply: async () => {
        const plan = `github/run-${github.runs()}/artifacts/graphform-shop-plan-1/graphform.gfplan`;
        sha = createHash("sha256").update(shop.user.read(plan)).digest("hex");
        shop.user.write(plan, `${shop.user.read(plan)} `);
      },
    });
    expect(results(jobs)).toEqual({ plan: "success", apply: "failure" });
    expect(jobs["plan"]?.outputs["sha256"]).toBe(sha);
    expect(said(jobs["apply"])).toContain("graphform.gfplan: FAILED");
  });

  it("refuses a stale plan with exit code 6, shows the new one, and applies that only when it is asked again", async () => {
    shop.commit({ orders: "changed in between", stock: "what is left" });
    const jobs = await github.run(workflow, push, { apply: () => shop.past("delete", "orders") });
    expect(results(jobs), said(jobs["apply"])).toEqual({ plan: "success", apply: "failure" });
    const { apply } = jobs;
    expect(apply?.steps.find(({ name }) => name === "apply")?.outputs).toMatchObject({ exitcode: "6" });
    expect(apply?.summary).toContain("## Plan for `shop`");
    expect(fingerprint(apply?.summary ?? "")).not.toBe(fingerprint(jobs["plan"]?.summary ?? ""));
    expect(said(apply)).toContain("::error title=graphform::The plan that was shown is out of date");
    expect(await shop.created()).toEqual(["orders", "stock"]);
    const again = await github.run(workflow, { ...push, attempt: 2 });
    expect(results(again), said(again["apply"])).toEqual({ plan: "success", apply: "success" });
    expect(await shop.created()).toEqual(["orders", "stock", "orders"]);
  });
});

describe("a plan that is approved late", () => {
  /** Runs the workflow, and lets a person approve its plan after something else has happened. */
  async function approvedAfter(change: () => unknown): Promise<JobResult | undefined> {
    const jobs = await github.run(workflow, push, { apply: async () => void change() });
    expect(jobs["plan"]?.result, said(jobs["plan"])).toBe("success");
    return jobs["apply"];
  }

  // `test/commands/saved-plan.test.ts` has the other ways in which a commit is no longer the newest.
  it("is refused if a newer commit was pushed: nothing is done, and no plan of the old commit is shown", async () => {
    const before = await shop.created();
    shop.commit({ orders: "approved late", stock: "what is left", late: "never made" });
    const apply = await approvedAfter(() => pushNext("newer"));
    expect(apply).toMatchObject({ result: "failure", summary: "" });
    expect(said(apply)).toMatch(/which is at \w{12} by now/);
    expect(apply?.steps.find(({ name }) => name === "apply")?.outputs).toMatchObject({ exitcode: "6" });
    expect(await shop.created()).toEqual(before);
  });

  it("is refused in the run of an old commit that is run again", async () => {
    const before = await shop.created();
    shop.commit({ orders: "the old commit", stock: "what is left", late: "never made" });
    await github.run(workflow, { ...push, killed: AbortSignal.abort() });
    const commit = github.commit();
    pushNext("the newer commit");
    const jobs = await github.run(workflow, { ...push, commit, attempt: 2 });
    expect(results(jobs), said(jobs["apply"])).toEqual({ plan: "success", apply: "failure" });
    expect(said(jobs["apply"])).toContain(`from the commit ${commit.slice(0, 12)} of main`);
    expect(await shop.created()).toEqual(before);
  });

  it("is applied if its commit is still the newest of main, whatever other branches do", async () => {
    shop.commit({ orders: "approved in time", stock: "what is left" });
    const apply = await approvedAfter(() => pushNext("of another branch", "main-2"));
    expect(apply?.result, said(apply)).toBe("success");
  });

  function pushNext(description: string, branch?: string): void {
    const folder = join(shop.user.dir, "another clone");
    shop.user.write("another clone/graphform.yaml", shop.manifest({ orders: description }));
    shop.forge.git.push(folder, branch);
  }
});

describe("a job that is lost with its runner", () => {
  it("leaves a lock that the next run takes over, and what was announced is made once", async () => {
    const text = shop.user.read(`repository/${workflow}`);
    shop.user.write(
      `repository/${workflow}`,
      text.replace("\njobs:", "\nenv: { GRAPHFORM_STATE_LEASE: 3s }\njobs:"),
    );
    shop.commit({ orders: "approved in time", stock: "what is left", lost: "made by a job that is lost" });
    const killer = new AbortController();
    let kill: Promise<void> | undefined;
    const killed = await github.run(
      workflow,
      { ...push, killed: killer.signal },
      {
        apply: async () => {
          const isAnnounced = async (): Promise<true | undefined> =>
            (await store.text())?.split('"intents"')[1]?.includes("instances.lost") || undefined;
          kill = until(isAnnounced, "the announced create").then(() => killer.abort());
        },
      },
    );
    await kill;
    expect(results(killed)).toEqual({ plan: "success", apply: "cancelled" });
    const again = await github.run(workflow, push);
    shop.user.write(`repository/${workflow}`, text);
    // Nothing is left to apply if the lost job had come as far as its record before it was lost.
    const outcome = { plan: "success", apply: expect.stringMatching(/^(success|skipped)$/) };
    expect(results(again), said(again["apply"])).toEqual(outcome);
    expect((await shop.created()).filter((name) => name === "lost")).toEqual(["lost"]);
    shop.commit({ orders: "changed in between", stock: "what is left" });
    expect(results(await github.run(workflow, push))).toEqual({ plan: "success", apply: "success" });
  });
});

describe("the workflow of an apply whose store goes away", () => {
  const artifactsOf = (suffix: string): readonly string[] =>
    shop.user
      .files()
      .filter((file) => file.startsWith(`github/run-${github.runs()}/artifacts/`) && file.endsWith(suffix));

  it("keeps what could not be stored as an artifact, which can be pushed from anywhere", async () => {
    const text = shop.user.read(`repository/${workflow}`);
    shop.user.write(
      `repository/${workflow}`,
      text.replace("\njobs:", "\nenv: { GRAPHFORM_STATE_LEASE: 6s }\njobs:"),
    );
    shop.commit({
      orders: "changed in between",
      stock: "what is left",
      late: "made when the store was away",
    });
    const isAnnounced = async (): Promise<true | undefined> =>
      (await store.text())?.split('"intents"')[1]?.includes("instances.late") || undefined;
    let gone: Promise<void> | undefined;
    const jobs = await github.run(workflow, push, {
      apply: async () => {
        gone = until(isAnnounced, "the announced create").then(() => store.away());
      },
    });
    await gone;
    await store.back();
    await store.expire();
    shop.user.write(`repository/${workflow}`, text);
    const { apply } = jobs;
    expect(results(jobs), said(apply)).toEqual({ plan: "success", apply: "failure" });
    expect(said(apply)).toMatch(
      /::error title=graphform::[^\n]*graphform-shop-errored-1[^\n]*graphform state push/,
    );
    expect(apply?.summary).toContain("graphform state push FILE");
    const [file = "", ...others] = artifactsOf("graphform-shop-errored-1/shop.errored.state.json");
    expect(others).toEqual([]);
    const kept = shop.user.read(file);
    const { key }: { key: string } = JSON.parse((await store.text()) ?? "");
    for (const secret of ["a-password-of-tests", ...store.secrets, key]) expect(kept).not.toContain(secret);

    const { user } = shop;
    const environment = { ...user.env };
    Object.assign(user.env, secrets, store.env);
    const pushed = await user.run("--chdir", "repository", "state", "push", join(user.dir, file));
    expect(pushed, pushed.err).toMatchObject({ code: 0 });
    for (const name of Object.keys(user.env)) if (!(name in environment)) user.env[name] = undefined;
    const again = await github.run(workflow, push);
    expect(again["plan"]?.result, said(again["plan"])).toBe("success");
    expect((await shop.created()).filter((name) => name === "late")).toEqual(["late"]);
    expect((await store.text())?.split('"instances.late"')).toHaveLength(2);
    expect(artifactsOf("errored.state.json")).toEqual([]);
    shop.commit({ orders: "changed in between", stock: "what is left" });
    expect(results(await github.run(workflow, push))).toEqual({ plan: "success", apply: "success" });
  });

  it("keeps it also where the action applies", async () => {
    const action = ".github/workflows/action.yaml";
    shop.user.write(`repository/${action}`, actionWorkflow);
    shop.commit({ orders: "not through the action", stock: "what is left" });
    // A file that a run left: with it nothing is applied.
    shop.user.write("repository/.graphform/shop.errored.state.json", "{}");
    const { apply } = await github.run(action, push);
    rmSync(join(shop.repository, ".graphform/shop.errored.state.json"));
    expect(apply?.result).toBe("failure");
    expect(said(apply)).toMatch(
      /error[^\n]*shop\.errored\.state\.json[\s\S]*::error[^\n]*graphform-graphs-errored-1/,
    );
    expect(artifactsOf("graphform-graphs-errored-1/shop.errored.state.json")).toHaveLength(1);
    shop.commit({ orders: "changed in between", stock: "what is left" });
  });
});

describe("the workflow on a schedule", () => {
  it("opens one issue about drift, updates it, and closes it when the drift is gone", async () => {
    expect(results(await github.run(watch, schedule))).toEqual({ drift: "success" });
    expect(shop.forge.issues).toEqual([]);
    await shop.past("stop", "stock");
    expect(results(await github.run(watch, schedule))).toEqual({ drift: "success" });
    expect(shop.forge.issues).toMatchObject([
      { title: "Drift of shop", state: "open", body: expect.stringContaining("instances.stock") },
    ]);
    const { username } = shop.platform;
    secrets["GRAPHFORM_USERNAME"] = "nobody@example.com";
    const failed = await github.run(watch, schedule);
    secrets["GRAPHFORM_USERNAME"] = username;
    expect(results(failed)).toEqual({ drift: "failure" });
    expect(shop.forge.issues).toMatchObject([
      {
        title: "Drift of shop is not known",
        state: "open",
        body: expect.stringContaining("The service could not be read"),
      },
    ]);
    expect(shop.forge.issues[0]?.body).toContain("does not accept this user name");
    expect(shop.forge.issues[0]?.body).not.toContain("nobody@example.com");
    await github.run(watch, schedule);
    expect(shop.forge.issues).toMatchObject([{ title: "Drift of shop", state: "open" }]);
    expect(results(await github.run(workflow, { ...push, name: "workflow_dispatch" }))).toEqual({
      plan: "success",
      apply: "success",
    });
    expect(results(await github.run(watch, schedule))).toEqual({ drift: "success" });
    expect(shop.forge.issues).toMatchObject([{ title: "Drift of shop", state: "closed" }]);
    expect(shop.forge.refused).toEqual([]);
  });
});

describe("the action", () => {
  const action = ".github/workflows/action.yaml";

  it("plans, shows, hands the plan over, applies that one, and looks for drift", async () => {
    shop.user.write(`repository/${action}`, actionWorkflow);
    shop.commit({ orders: "through the action", stock: "what is left" });
    const comments = shop.forge.comments.length;
    const review = await github.run(action, proposed());
    expect(results(review), said(review["plan"])).toMatchObject({ plan: "success", apply: "skipped" });
    expect(shop.forge.comments.slice(comments)).toMatchObject([
      { body: expect.stringMatching(/^<!-- graphform:plan name=graphs -->\n[\s\S]*through the action/) },
    ]);
    const jobs = await github.run(action, push);
    const shown = Object.values(jobs).map(said).join("\n");
    expect(results(jobs), shown).toEqual({ plan: "success", apply: "success", drift: "success" });
    expect(jobs["plan"]?.outputs).toMatchObject({
      ...{ changed: "true", exitcode: "0", add: "0", change: "1", replace: "0", destroy: "0", blocked: "0" },
      max_disruption: expect.stringMatching(/^(none|restart)$/),
    });
    expect(jobs["drift"]?.outputs).toMatchObject({ changed: "false", exitcode: "0" });
    const stale = await github.run(action, push, {
      apply: () => expect.fail("there is nothing to apply"),
      drift: () => shop.past("delete", "stock"),
    });
    expect(results(stale)).toEqual({ plan: "success", apply: "skipped", drift: "success" });
    expect(stale["drift"]?.outputs).toMatchObject({ changed: "true", exitcode: "2" });
    expect(shop.forge.issues.at(-1)).toMatchObject({ title: "Drift of graphs", state: "open" });
  });

  it("fails with the exit code of graphform, and comments on that", async () => {
    shop.user.write("repository/graphform.yaml", "apiVersion: graphform/v1\nname: [broken\n");
    const { plan } = await github.run(action, proposed());
    expect(plan?.result).toBe("failure");
    expect(plan?.outputs).toMatchObject({ exitcode: "3" });
    expect(shop.forge.comments.at(-1)?.body).toMatch(/^<!-- graphform:plan name=graphs -->\n\n## No plan/);
  });
});

describe("two environments in folders of one repository", () => {
  const stateOf = (name: string): string => join(shop.user.dir, `${name}.state.json`);
  const right: Record<string, string> = {};

  it("have workflows, environments and secrets of their own", async () => {
    const { user } = shop;
    for (const name of ["prod", "test"]) {
      const manifest = shop.manifest(
        { [`${name}-orders`]: "in a folder" },
        { path: stateOf(name) },
        "several",
      );
      user.write(`repository/envs/${name}/graphform.yaml`, manifest);
      const ran = await user.run("--chdir", `repository/envs/${name}`, "init", "--ci", "github");
      expect(ran.code, ran.err).toBe(0);
    }
    user.write(".graphform-shared", "");
    Object.assign(right, secrets);
    for (const name of Object.keys(secrets)) delete secrets[name];
    const own = (name: string): Readonly<Record<string, string>> => ({
      ...right,
      GRAPHFORM_STATE: stateOf(name),
    });
    environments["several-prod-plan"] = own("prod");
    environments["several-prod"] = own("prod");
    // Only its plan may sign in.
    environments["several-test-plan"] = own("test");
    environments["several-test"] = { ...own("test"), GRAPHFORM_PASSWORD: "that of another account" };
    const [prod, test] = [await runOf("prod"), await runOf("test")];
    expect(results(prod), Object.values(prod).map(said).join("\n")).toEqual({
      plan: "success",
      apply: "success",
    });
    expect(results(test)).toEqual({ plan: "success", apply: "failure" });
    expect(said(test["apply"])).toContain("does not accept this user name with this password");
    expect(environmentsOf(prod)).toEqual([
      ["several-prod-plan", false],
      ["several-prod", true],
    ]);
    expect(environmentsOf(test)).toEqual([
      ["several-test-plan", false],
      ["several-test", true],
    ]);
    expect((await shop.created()).filter((name) => name.includes("-orders"))).toEqual(["prod-orders"]);
  });

  it("are applied by the action in a matrix, in which one may fail", async () => {
    environments["several-prod"] = { ...environments["several-prod"], SHOP_PASSWORD: "" };
    environments["several-test"] = { ...environments["several-test-plan"] };
    shop.user.write("repository/.github/workflows/matrix.yaml", matrixWorkflow);
    const jobs = await github.run(".github/workflows/matrix.yaml", push);
    expect(results(jobs), Object.values(jobs).map(said).join("\n")).toEqual({
      "apply (prod)": "failure",
      "apply (test)": "success",
    });
    expect((await shop.created()).filter((name) => name.includes("-orders"))).toEqual([
      "prod-orders",
      "test-orders",
    ]);
    Object.assign(secrets, right);
  });

  function runOf(name: string): ReturnType<GithubRunner["run"]> {
    return github.run(`.github/workflows/graphform-several-${name}.yaml`, push);
  }

  function environmentsOf(jobs: { readonly [name: string]: JobResult }): readonly unknown[] {
    return Object.values(jobs).map(({ environment }) => [environment?.name, environment?.deployed]);
  }
});

describe("the action with options", () => {
  it("applies with those that the plan was made with, and plans again with them", async () => {
    const file = ".github/workflows/options.yaml";
    const manifest = shop.manifest({ orders: "changed in between", stock: "not targeted" });
    const { user } = shop;
    user.write("repository/graphform.yaml", "not read");
    user.write(
      "repository/shop.yaml",
      manifest
        .replace("secrets:", "variables: { text: {} }\nsecrets:")
        .replace('"changed in between"', '"${var.text}"'),
    );
    user.write(`repository/${file}`, optionsWorkflow("--target=instances.orders\\n--var=text=with options"));
    const jobs = await github.run(file, push);
    expect(results(jobs), Object.values(jobs).map(said).join("\n")).toEqual({
      plan: "success",
      apply: "success",
    });
    user.write(`repository/${file}`, optionsWorkflow("--target=instances.orders\\n--var=text=with others"));
    const stale = await github.run(file, push, { apply: () => shop.past("delete", "orders") });
    expect(results(stale)).toEqual({ plan: "success", apply: "failure" });
    expect(said(stale["apply"])).toMatch(/instances\.orders[\s\S]*This is the plan now\. It was not applied/);
    expect(stale["apply"]?.summary).toContain("with others");
    expect(stale["apply"]?.summary).not.toContain("instances.stock");
  });

  it("installs a tarball by its path, and nothing by a number", async () => {
    const file = ".github/workflows/version.yaml";
    const workflowOf = (version: string): string => `
permissions: { contents: read }
jobs:
  validate:
    steps:
      - uses: ${pins.checkout}
      - run: npm ci --ignore-scripts
      - uses: ./node_modules/graphform
        with: { command: validate, manifest: shop.yaml, args: --var=text=any, version: "${version}" }
`;
    shop.user.write(`repository/${file}`, workflowOf("0.1.0"));
    const byNumber = await github.run(file, push);
    expect(results(byNumber)).toEqual({ validate: "failure" });
    expect(said(byNumber["validate"])).toMatch(/::error[^\n]*path of a tarball[^\n]*there is no 0\.1\.0/);
    shop.user.write("repository/vendor/graphform-0.1.0.tgz", "as npm takes it");
    shop.user.write(`repository/${file}`, workflowOf("vendor/graphform-0.1.0.tgz"));
    const byPath = await github.run(file, push);
    expect(results(byPath), said(byPath["validate"])).toEqual({ validate: "success" });
    const installed = shop.user.read("github/npm-arguments.txt").trim().split("\n").at(-1);
    expect(installed).toMatch(
      /^install --prefix \S+ .*--ignore-scripts \/.*\/vendor\/graphform-0\.1\.0\.tgz$/,
    );
  });
});

/** Actions of others, by a commit. */
const pins = {
  checkout: `actions/checkout@${"a".repeat(40)}`,
  upload: `actions/upload-artifact@${"b".repeat(40)}`,
  download: `actions/download-artifact@${"c".repeat(40)}`,
};

const environment = `
    env:
      GRAPHFORM_USERNAME: \${{ secrets.GRAPHFORM_USERNAME }}
      GRAPHFORM_PASSWORD: \${{ secrets.GRAPHFORM_PASSWORD }}
      SHOP_PASSWORD: \${{ secrets.SHOP_PASSWORD }}
      AWS_ACCESS_KEY_ID: \${{ secrets.AWS_ACCESS_KEY_ID }}
      AWS_SECRET_ACCESS_KEY: \${{ secrets.AWS_SECRET_ACCESS_KEY }}
    steps:
      - uses: ${pins.checkout}
      - run: npm ci --ignore-scripts`;

const actionWorkflow = `
permissions: { contents: read }
jobs:
  plan:
    permissions: { contents: read, pull-requests: write }
    outputs:
${["changed", "exitcode", "add", "change", "replace", "destroy", "blocked", "max_disruption", "plan_sha256"]
  .map((name) => `      ${name}: \${{ steps.plan.outputs.${name} }}`)
  .join("\n")}${environment}
      - id: plan
        uses: ./node_modules/graphform
        with: { command: plan }
      - run: test -s "\${{ steps.plan.outputs.json_path }}" && test -s "\${{ steps.plan.outputs.sarif_path }}"
      - run: grep -q "Plan for" "\${{ steps.plan.outputs.summary_md_path }}"
      - uses: ${pins.upload}
        with: { name: plan, path: "\${{ steps.plan.outputs.plan_path }}" }
  apply:
    needs: plan
    if: github.ref == 'refs/heads/main' && needs.plan.outputs.changed == 'true'${environment}
      - uses: ${pins.download}
        with: { name: plan }
      - uses: ./node_modules/graphform
        with:
          command: apply
          plan-sha256: \${{ needs.plan.outputs.plan_sha256 }}
  drift:
    if: github.event_name == 'push'
    permissions: { contents: read, issues: write }
    outputs: { changed: "\${{ steps.drift.outputs.changed }}", exitcode: "\${{ steps.drift.outputs.exitcode }}" }${environment}
      - id: drift
        uses: ./node_modules/graphform
        with:
          command: drift
          args: |
            --no-probe
            --verbose
`;

const matrixWorkflow = `
permissions: { contents: read }
jobs:
  apply:
    strategy: { fail-fast: false, matrix: { environment: [prod, test] } }
    environment: several-\${{ matrix.environment }}
    env:
      GRAPHFORM_USERNAME: \${{ secrets.GRAPHFORM_USERNAME }}
      GRAPHFORM_PASSWORD: \${{ secrets.GRAPHFORM_PASSWORD }}
      SHOP_PASSWORD: \${{ secrets.SHOP_PASSWORD }}
      GRAPHFORM_STATE: \${{ vars.GRAPHFORM_STATE }}
    steps:
      - uses: ${pins.checkout}
      - run: npm ci --ignore-scripts
      - id: plan
        uses: ./node_modules/graphform
        with: { command: plan, working-directory: "envs/\${{ matrix.environment }}" }
      - uses: ./node_modules/graphform
        with:
          command: apply
          working-directory: envs/\${{ matrix.environment }}
          plan-sha256: \${{ steps.plan.outputs.plan_sha256 }}
`;

/** A plan and its apply with the same options. */
function optionsWorkflow(args: string): string {
  return `
permissions: { contents: read }
jobs:
  plan:
    outputs: { sha256: "\${{ steps.plan.outputs.plan_sha256 }}" }${environment}
      - id: plan
        uses: ./node_modules/graphform
        with: { command: plan, manifest: shop.yaml, args: "${args}" }
      - uses: ${pins.upload}
        with: { name: plan, path: "\${{ steps.plan.outputs.plan_path }}" }
  apply:
    needs: plan${environment}
      - uses: ${pins.download}
        with: { name: plan }
      - uses: ./node_modules/graphform
        with: { command: apply, manifest: shop.yaml, plan-sha256: "\${{ needs.plan.outputs.sha256 }}", args: "${args}" }
`;
}

function npmEnvironment(): string {
  return readFileSync(join(shop.user.dir, "github", "npm-environment.txt"), "utf8");
}

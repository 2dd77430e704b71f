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

beforeAll(async () => {
  const start = sharedStores["s3"];
  if (start === undefined) throw new Error("no s3");
  store = await start("shop");
  shop = await openShop("github", store);
  Object.assign(secrets, shop.secrets, store.env);
  github = githubRunner({
    folder: join(shop.user.dir, "github"),
    checkout: () => shop.repository,
    secrets,
    vars: { AWS_REGION: "us-east-1" },
    api: shop.forge.url,
    actions: { "acme/graphform@v1": join(import.meta.dirname, "../../action.yml") },
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
    expect(ours?.body).toContain("[Run of feedfacecafe](https://github.example/acme/graphs/actions/runs/2)");
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
    expect(outcomes).toMatchObject({ validate: "success", plan: "skipped", comment: "skipped" });
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

  it("keeps the plan with its checksum, and applies no other file", async () => {
    shop.commit({ orders: "a forged plan", stock: "what is left" });
    let sha = "";
    const jobs = await github.run(workflow, push, {
      apply: async () => {
        const [folder = ""] = shop.user
          .files()
          .filter(
            (file) => file.startsWith(`github/run-${github.runs()}/`) && file.endsWith(".gfplan.sha256"),
          )
          .filter((file) => file.includes("/artifacts/"));
        const plan = folder.replace(/\.sha256$/, "");
        sha = createHash("sha256").update(shop.user.read(plan)).digest("hex");
        expect(shop.user.read(folder)).toBe(`${sha}  graphform.gfplan\n`);
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
    expect(apply?.steps.find(({ name }) => name === "apply")?.outputs).toEqual({ exitcode: "6" });
    expect(apply?.summary).toContain("## Plan for `shop`");
    expect(fingerprint(apply?.summary ?? "")).not.toBe(fingerprint(jobs["plan"]?.summary ?? ""));
    expect(said(apply)).toContain("::error title=graphform::The plan that was shown is stale");
    expect(await shop.created()).toEqual(["orders", "stock"]);
    const again = await github.run(workflow, { ...push, attempt: 2 });
    expect(results(again), said(again["apply"])).toEqual({ plan: "success", apply: "success" });
    expect(await shop.created()).toEqual(["orders", "stock", "orders"]);
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
        body: expect.stringContaining("Nobody could look"),
      },
    ]);
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

it("plans and applies a manifest that stands in a folder of the repository", async () => {
  shop.commit({ orders: "in a folder", stock: "what is left" });
  const { user } = shop;
  user.write("repository/envs/prod/graphform.yaml", user.read("repository/graphform.yaml"));
  user.write("repository/graphform.yaml", "nothing of the kind");
  const written = await user.run("--chdir", "repository/envs/prod", "init", "--ci", "github");
  expect(written.code, written.err).toBe(0);
  const jobs = await github.run(".github/workflows/graphform-shop-prod.yaml", push);
  expect(results(jobs), Object.values(jobs).map(said).join("\n")).toEqual({
    plan: "success",
    apply: "success",
  });
  expect(said(jobs["apply"])).toMatch(/Apply complete! Resources: \d added, 1 changed, 0 destroyed\./);
});

const environment = `
    env:
      GRAPHFORM_USERNAME: \${{ secrets.GRAPHFORM_USERNAME }}
      GRAPHFORM_PASSWORD: \${{ secrets.GRAPHFORM_PASSWORD }}
      SHOP_PASSWORD: \${{ secrets.SHOP_PASSWORD }}
      AWS_ACCESS_KEY_ID: \${{ secrets.AWS_ACCESS_KEY_ID }}
      AWS_SECRET_ACCESS_KEY: \${{ secrets.AWS_SECRET_ACCESS_KEY }}
    steps:
      - uses: actions/checkout@v4
      - run: npm ci`;

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
        uses: acme/graphform@v1
        with: { command: plan }
      - run: test -s "\${{ steps.plan.outputs.json_path }}" && test -s "\${{ steps.plan.outputs.sarif_path }}"
      - run: grep -q "Plan for" "\${{ steps.plan.outputs.summary_md_path }}"
      - uses: actions/upload-artifact@v4
        with: { name: plan, path: "\${{ steps.plan.outputs.plan_path }}" }
  apply:
    needs: plan
    if: github.ref == 'refs/heads/main' && needs.plan.outputs.changed == 'true'${environment}
      - uses: actions/download-artifact@v4
        with: { name: plan }
      - uses: acme/graphform@v1
        with:
          command: apply
          plan-sha256: \${{ needs.plan.outputs.plan_sha256 }}
  drift:
    if: github.event_name == 'push'
    permissions: { contents: read, issues: write }
    outputs: { changed: "\${{ steps.drift.outputs.changed }}", exitcode: "\${{ steps.drift.outputs.exitcode }}" }${environment}
      - id: drift
        uses: acme/graphform@v1
        with:
          command: drift
          args: |
            --no-probe
            --verbose
`;

function npmEnvironment(): string {
  return readFileSync(join(shop.user.dir, "github", "npm-environment.txt"), "utf8");
}

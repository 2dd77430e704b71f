import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { parse } from "yaml";
import { ask, type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

const environments = ["development", "staging", "production"] as const;
type Environment = (typeof environments)[number];

let user: Workspace;
let platform: LocalPlatform;

beforeAll(async () => {
  user = openWorkspace();
  cpSync(join(import.meta.dirname, "..", "..", "examples", "gitops"), user.dir, { recursive: true });
  Object.assign(user.env, { DATABASE_PASSWORD: "database-password", REPORTS_PASSWORD: "reports-password" });
  platform = await platformUp(user);
});
afterAll(() => user.close());

function run(environment: Environment, ...args: readonly string[]): ReturnType<Workspace["run"]> {
  return user.run(...args, "-f", "base.yaml", "-f", `environments/${environment}.yaml`);
}

/** Runs the last step of the scheduled workflow as its runner does. */
function scheduled(environment: Environment): { readonly code: number | null; readonly summary: string } {
  const { jobs }: { jobs: { drift: { steps: { run?: string }[] } } } = parse(
    user.read(".github/workflows/drift.yaml"),
  );
  const program = join(inject("packaged"), "bin", "graphform.js");
  user.write("node_modules/.bin/graphform", `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(join(user.dir, "node_modules/.bin/graphform"), 0o755);
  user.write("summary.md", "");
  const states = join(user.dir, ".graphform");
  copyFileSync(join(states, `shop-${environment}.state.json`), join(states, `${environment}.state.json`));
  const { status } = spawnSync("bash", ["-e", "-c", jobs.drift.steps.at(-1)?.run ?? "exit 99"], {
    cwd: user.dir,
    env: {
      ...user.env,
      ENVIRONMENT: environment,
      STATES: states,
      GITHUB_ACTIONS: "true",
      GITHUB_STEP_SUMMARY: join(user.dir, "summary.md"),
    },
  });
  return { code: status, summary: user.read("summary.md") };
}

async function actions(environment: Environment): Promise<ReturnType<typeof actionsIn>> {
  return actionsIn(readPlan((await run(environment, "plan", "--json")).out));
}

describe("a repository with three environments", () => {
  it.each(environments)("brings up %s with a saved plan, and needs nothing more", async (environment) => {
    const file = `${environment}.gfplan`;
    expect(await run(environment, "plan", "--out", file)).toMatchObject({ code: 0 });
    expect(await run(environment, "apply", file)).toMatchObject({ code: 0 });
    expect(await run(environment, "plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    const { out } = await run(environment, "output", "orders", "--raw");
    expect(await ask(out, { username: "reports", password: "reports-password" }, "PING")).toBe("PONG");
  });

  it("carries a change of the base to each of them, and of one layer to one", async () => {
    user.write("base.yaml", user.read("base.yaml").replace("the order graph", "orders and what was bought"));
    user.write(
      "environments/staging.yaml",
      user.read("environments/staging.yaml").replace("m7g.large", "m7g.xlarge"),
    );
    for (const environment of environments) {
      expect(await actions(environment)).toEqual({ "instances.orders": ["update"] });
      expect(await run(environment, "apply", "--auto-approve")).toMatchObject({ code: 0 });
    }
  });

  it("finds on a schedule what was set by hand, where it was set, and heals it", async () => {
    expect(scheduled("staging")).toMatchObject({ code: 0 });
    const endpoint = (await run("staging", "output", "orders", "--raw")).out;
    const owner = { username: "app", password: "database-password" };
    await ask(endpoint, owner, "GRAPH.CONFIG", "SET", "RESULTSET_SIZE", "77");
    expect(scheduled("development")).toMatchObject({ code: 0 });
    const found = scheduled("staging");
    expect(found).toMatchObject({ code: 2, summary: expect.stringContaining("instances.orders") });
    expect(user.read("drift-staging.xml")).toContain("graphDBResultSetSize");
    expect(user.read(".graphform/graphform-staging.prom")).toContain("graphform_");
    expect(await run("staging", "apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(scheduled("staging")).toMatchObject({ code: 0 });
  });

  it("lets go of development at once, and of production not at all", async () => {
    await platform.forget();
    expect(await run("production", "destroy", "--auto-approve")).toMatchObject({ code: 4 });
    expect((await platform.writes()).filter(({ operation }) => operation === "delete")).toEqual([]);
    expect(await run("development", "destroy", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await actions("staging")).toEqual({});
    expect(await actions("production")).toEqual({});
  });
});

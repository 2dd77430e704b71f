import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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

  it("lets go of development at once, and of production not at all", async () => {
    await platform.forget();
    expect(await run("production", "destroy", "--auto-approve")).toMatchObject({ code: 4 });
    expect((await platform.writes()).filter(({ operation }) => operation === "delete")).toEqual([]);
    expect(await run("development", "destroy", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await actions("staging")).toEqual({});
    expect(await actions("production")).toEqual({});
  });
});

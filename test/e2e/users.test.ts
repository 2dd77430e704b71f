import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { instanceParams } from "../../src/kinds/instance-operations.ts";
import { ask, type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { dialects, outsider, type Spoken } from "../support/local-service.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

let user: Workspace;
let platform: LocalPlatform;
let spoken: Spoken;

const apply = ["apply", "--auto-approve"] as const;
const tiers = ["free", "startup", "pro", "enterprise"];
const rules = "~* +GRAPH.RO_QUERY +PING";

/** What each tier asks for besides. */
const settings: { readonly [tier: string]: object } = {
  free: {},
  startup: { memoryRequestsAndLimits: "1200M" },
  pro: { nodeInstanceType: "m7g.large" },
  enterprise: { nodeInstanceType: "m7g.large", maxMemory: "1GB" },
};

/** A database of each tier, and a user on each of them, with these rules. */
function write(
  over: { readonly [tier: string]: object | undefined } = {},
  service: object = { profile: "full.yaml" },
): void {
  const instances = tiers.map((tier) => {
    const config = { graphdbUser: "app", graphdbPassword: "${env.OWNER_PASSWORD}", ...settings[tier] };
    const place = {
      tier,
      component: tier === "free" ? "free" : "standalone",
      cloudProvider: "aws",
      region: "us-east-1",
    };
    return [tier, { ...place, lifecycle: { protect: false }, config }];
  });
  const users = tiers.flatMap((tier) => {
    const row = Object.hasOwn(over, tier) ? over[tier] : {};
    if (row === undefined) return [];
    return [
      [tier, { instance: tier, username: "reader", password: "${env.READER_PASSWORD}", acl: rules, ...row }],
    ];
  });
  const manifest = {
    ...{ apiVersion: "graphform/v1", name: "users", service },
    ...{ instances: Object.fromEntries(instances), users: Object.fromEntries(users) },
    outputs: Object.fromEntries(tiers.map((tier) => [tier, `\${instances.${tier}.endpoint}`])),
  };
  user.write("graphform.yaml", JSON.stringify(manifest, null, 1));
}

async function planned(): Promise<{ readonly [address: string]: readonly string[] }> {
  const { code, out, err } = await user.run("plan", "--json");
  if (code !== 0) throw new Error(err);
  return actionsIn(readPlan(out));
}

async function endpointOf(tier: string): Promise<string> {
  return (await user.run("output", tier, "--raw")).out;
}

function idOf(address: string): string {
  return user.state("users").resources[address]?.id ?? "";
}

/** Path parameters of the user on a tier's database. */
function reader(tier: string): { readonly instanceId: string; readonly username: string } {
  return { instanceId: idOf(`instances.${tier}`), username: "reader" };
}

const asReader = (
  password = "reader-password",
): { readonly username: string; readonly password: string } => ({ username: "reader", password });

describe.each(Object.entries(dialects))("in %s", (_name, dialect) => {
  beforeAll(async () => {
    user = openWorkspace();
    spoken = dialect;
    copyFileSync(spoken.profile, join(user.dir, "full.yaml"));
    user.env["OWNER_PASSWORD"] = "owner-password";
    user.env["READER_PASSWORD"] = "reader-password";
    platform = await platformUp(user, "--users-per-minute", "10000", "--delay", "5", ...spoken.platform);
    Object.assign(user.env, spoken.env(platform.url));
  });
  afterAll(() => user.close());

  describe("users", () => {
    it("are created once their database is there, on every tier, and can log in and do what they may", async () => {
      write();
      expect(await user.run(...apply)).toMatchObject({ code: 0, out: expect.stringContaining("8 added") });
      expect(await planned()).toEqual({});
      for (const tier of tiers) {
        const endpoint = await endpointOf(tier);
        await ask(
          endpoint,
          { username: "app", password: "owner-password" },
          "GRAPH.QUERY",
          "g",
          "CREATE (:N)",
        );
        expect(
          JSON.stringify(await ask(endpoint, asReader(), "GRAPH.RO_QUERY", "g", "MATCH (n) RETURN count(n)")),
        ).toContain("[[1]]");
        await expect(ask(endpoint, asReader(), "GRAPH.QUERY", "g", "CREATE (:N)")).rejects.toThrow(/NOPERM/);
      }
    });

    it.each([
      ["another order of the grants", "~* +PING +GRAPH.RO_QUERY"],
      ["another case", "~* +graph.ro_query +ping"],
      ["more space", "  ~*   +GRAPH.RO_QUERY  +PING "],
    ])("are what they are in %s: nothing is to do", async (_how, acl) => {
      write(Object.fromEntries(tiers.map((tier) => [tier, { acl }])));
      expect(await planned()).toEqual({});
    });

    it("whose rules somebody spelled otherwise have not drifted; whose rights somebody changed have, and get theirs back", async () => {
      write();
      const other = await outsider(user, spoken);
      await other.write("user.update", reader("free"), { acl: "~* +ping +graph.ro_query" });
      await other.write("user.update", reader("pro"), { acl: "~* +GRAPH.QUERY +GRAPH.RO_QUERY +PING" });
      const plan = readPlan((await user.run("plan", "--json")).out);
      expect(actionsIn(plan)).toEqual({ "users.pro": ["update"] });
      expect(plan.resource_drift.map(({ address }) => address)).toEqual(["users.pro"]);
      await ask(await endpointOf("pro"), asReader(), "GRAPH.QUERY", "g", "CREATE (:N)");
      await platform.forget();
      expect(await user.run(...apply)).toMatchObject({ code: 0 });
      expect(await platform.writes()).toMatchObject([{ operation: "update-user", body: { acl: rules } }]);
      await expect(
        ask(await endpointOf("pro"), asReader(), "GRAPH.QUERY", "g", "CREATE (:N)"),
      ).rejects.toThrow(/NOPERM/);
    });

    it("get a new password, and the old one is worth nothing; no database is restarted for it", async () => {
      const endpoint = await endpointOf("startup");
      const owner = { username: "app", password: "owner-password" };
      const runId = async (): Promise<string | undefined> =>
        /run_id:(\w+)/.exec(String(await ask(endpoint, owner, "INFO", "server")))?.[1];
      const before = await runId();
      user.env["READER_PASSWORD"] = "rotated-password";
      const plan = await user.run("plan");
      expect(plan.out).toMatch(/password +\(sensitive\)/);
      expect(`${plan.out}${plan.err}`).not.toMatch(/rotated-password|reader-password/);
      await platform.forget();
      expect(await user.run(...apply)).toMatchObject({ code: 0 });
      const bodies = (await platform.writes()).map(({ operation, body }) => [
        operation,
        Object.keys(body ?? {}),
      ]);
      expect(bodies).toEqual(tiers.map(() => ["update-user", ["password"]]));
      expect(await ask(endpoint, asReader("rotated-password"), "PING")).toBe("PONG");
      await expect(ask(endpoint, asReader("reader-password"), "PING")).rejects.toThrow(/WRONGPASS/);
      expect(await runId()).toBe(before);
      expect(await planned()).toEqual({});
    });

    it("that somebody deleted are created again", async () => {
      await (await outsider(user, spoken)).write("user.delete", reader("free"));
      expect(await planned()).toEqual({ "users.free": ["create"] });
      expect(await user.run(...apply)).toMatchObject({ code: 0 });
      expect(await ask(await endpointOf("free"), asReader("rotated-password"), "PING")).toBe("PONG");
    });

    it("of another name are other ones: the old one is gone, the new one is there", async () => {
      write({ enterprise: { username: "auditor" } });
      expect(await planned()).toEqual({ "users.enterprise": ["delete", "create"] });
      expect(await user.run(...apply)).toMatchObject({ code: 0 });
      const endpoint = await endpointOf("enterprise");
      expect(await ask(endpoint, { username: "auditor", password: "rotated-password" }, "PING")).toBe("PONG");
      await expect(ask(endpoint, asReader("rotated-password"), "PING")).rejects.toThrow(/WRONGPASS/);
      expect(await planned()).toEqual({});
    });

    it("that are no longer declared are deleted", async () => {
      write({ enterprise: undefined });
      expect(await user.run(...apply)).toMatchObject({ code: 0 });
      const asAuditor = ask(
        await endpointOf("enterprise"),
        { username: "auditor", password: "rotated-password" },
        "PING",
      );
      await expect(asAuditor).rejects.toThrow(/WRONGPASS/);
    });

    it("went with a database that somebody deleted; both are planned anew, and made where that is allowed: it was alone in its tier", async () => {
      const other = await outsider(user, spoken);
      const place = instanceParams({ tier: "pro", component: "standalone" }, other.service.profile);
      const id = idOf("instances.pro");
      await other.write("instance.delete", { ...place, id });
      await expect
        .poll(async () => (await other.read("instance.list", place)).values["ids"])
        .not.toContain(id);
      write({ enterprise: undefined });
      expect(await planned()).toEqual({ "instances.pro": ["create"], "users.pro": ["create"] });
      const held = await user.run(...apply);
      expect(held).toMatchObject({ code: 4 });
      expect(held.out.replace(/\s+/g, " ")).toContain(
        "binds in its tier: lost rights, an ended subscription",
      );
      expect(held.out).toContain("--allow-destroy instances.pro");
      expect(await user.run(...apply, "--allow-destroy", "instances.pro")).toMatchObject({ code: 0 });
      expect(await ask(await endpointOf("pro"), asReader("rotated-password"), "PING")).toBe("PONG");
    });
  });

  it("are made, changed and deleted while their database runs, if one plan starts or stops it", async () => {
    const place = { tier: "free", component: "free", cloudProvider: "aws", region: "us-east-1" };
    const night = { ...place, config: { graphdbUser: "app", graphdbPassword: "${env.OWNER_PASSWORD}" } };
    const reads = (acl: string): object => ({
      ...{ instance: "night", username: "reader", password: "${env.READER_PASSWORD}", acl },
    });
    const steps: readonly (readonly [power: string, users: object, sent: readonly string[]])[] = [
      ["stopped", { reader: reads(rules) }, ["create", "create-user", "stop"]],
      ["running", { reader: reads("~* +PING") }, ["start", "update-user"]],
      ["stopped", {}, ["delete-user", "stop"]],
    ];
    for (const [power, users, sent] of steps) {
      const manifest = { apiVersion: "graphform/v1", name: "night", service: { profile: "full.yaml" } };
      user.write(
        "graphform.yaml",
        JSON.stringify({ ...manifest, instances: { night: { ...night, power } }, users }),
      );
      await platform.forget();
      expect(await user.run(...apply)).toMatchObject({ code: 0 });
      expect((await platform.writes()).map(({ operation }) => operation)).toEqual(sent);
      expect(await planned()).toEqual({});
    }
    expect(await user.run("destroy", "--auto-approve")).toMatchObject({ code: 0 });
  });

  describe("where the profile can neither change nor delete users", () => {
    const service = { profile: "create-only.yaml" };

    it("a change is shown, and held back in words", async () => {
      user.write(
        "create-only.yaml",
        "name: create-only\nextends: ./full.yaml\noperations: { user.update: null, user.delete: null }\n",
      );
      write({ enterprise: undefined, free: { acl: "~* +PING" } }, service);
      await platform.forget();
      const ran = await user.run(...apply);
      expect(ran.code).toBe(4);
      expect(ran.out).toContain("profile create-only has no operation to change a user");
      expect(await platform.writes()).toEqual([]);
    });

    it("one that is no longer declared is let go of, in words, and stays", async () => {
      write({ enterprise: undefined, free: undefined }, service);
      const ran = await user.run(...apply);
      expect(ran.code).toBe(0);
      expect(ran.out.replace(/\s+/g, " ")).toContain(
        "profile create-only has no operation to delete a user: it is let go of and stays",
      );
      expect(idOf("users.free")).toBe("");
      expect(await ask(await endpointOf("free"), asReader("rotated-password"), "PING")).toBe("PONG");
    });
  });
});

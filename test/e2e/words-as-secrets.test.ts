import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { driftViolations, eventViolations, planViolations } from "../support/published-schemas.ts";
import { quickProfile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

const prose = "https://wiki/x never delete this, ask dba@example.com";
const address = (password: string): string => `https://someone:${password}@db.example/x`;

/** Passwords that are words of reports. */
const words = ["delete", "create", "update", "change", "name", "instances", "resource_changes"];

const service = { profile: "./quick.yaml" };
const instances = words.map((word, index) => {
  const description = [prose, address("first-one")][index] ?? word;
  const config = { name: `i${index}`, description, graphdbUser: "app", graphdbPassword: word };
  return [
    `i${index}`,
    { tier: "free", component: "free", cloudProvider: "aws", region: "us-east-1", config },
  ];
});

describe("passwords that are words of reports, prose with an @, and an address with a login", () => {
  let fake: FakeService;
  let user: Workspace;

  const write = (name: string, declared: readonly unknown[][]): void =>
    user.write(
      "graphform.yaml",
      JSON.stringify({
        ...{ apiVersion: "graphform/v1", name, service: { ...service, platformUrl: fake.url } },
        instances: Object.fromEntries(declared),
      }),
    );

  beforeAll(async () => {
    fake = await FakeService.start();
    user = openWorkspace();
    user.write("quick.yaml", quickProfile);
    Object.assign(user.env, fake.env, { GITHUB_OUTPUT: "outputs" });
    write("shop", instances);
  });
  afterAll(async () => {
    await user.close();
    await fake.close();
  });

  it("change neither the actions of a plan nor its counts", async () => {
    const { code, out } = await user.run("plan", "--json", "--out", "first.plan");
    expect(code).toBe(0);
    const plan = readPlan(out);
    expect(planViolations(plan)).toEqual([]);
    expect(actionsIn(plan)).toEqual(
      Object.fromEntries(words.map((_, index) => [`instances.i${index}`, ["create"]])),
    );
    expect(JSON.stringify(plan.resource_changes)).toContain(prose);
    expect(user.read("outputs")).toMatch(/^changed=true\nadd=7\nchange=0\n/);
  });

  it("change no event of an apply, and no line that scripts read", async () => {
    const { code, out } = await user.run("apply", "first.plan", "--json");
    expect(code).toBe(0);
    expect(
      out
        .trim()
        .split("\n")
        .flatMap((line) => eventViolations(JSON.parse(line))),
    ).toEqual([]);
    const drift = await user.run("drift", "--json");
    expect(driftViolations(JSON.parse(drift.out))).toEqual([]);
  });

  it("are shown by a saved plan neither as they were nor as they will be", async () => {
    const text = JSON.stringify(Object.fromEntries(instances)).replace("first-one", "second-one");
    write("shop", Object.entries(JSON.parse(text)));
    const ran = [
      await user.run("plan", "--out", "second.plan"),
      await user.run("show", "second.plan"),
      await user.run("show", "--json", "second.plan"),
      await user.run("show", "--json"),
    ];
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    for (const { out, err } of ran) expect(`${out}${err}`).not.toMatch(/(?:first|second)-one/);
    expect(ran[1]?.out).toContain('"https://(sensitive)@db.example/x"');
  });

  it("leave a manifest that import wrote as it has to be read again", async () => {
    fake.echo = true;
    write("other", []);
    const { code, out } = await user.run("import", "--all");
    expect(code).toBe(0);
    for (const whole of [prose, address("first-one"), "description: update", "instances:"])
      expect(out).toContain(whole);
    expect(out).not.toContain("(sensitive)");
  });
});

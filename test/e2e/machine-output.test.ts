import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { eventViolations, planViolations } from "../support/published-schemas.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

interface Event {
  readonly "@level": string;
  readonly "@message": string;
  readonly "@module": string;
  readonly "@timestamp": string;
  readonly type: string;
  readonly change?: { readonly action: string; readonly resource: { readonly addr: string } };
  readonly changes?: {
    readonly operation: string;
    readonly add: number;
    readonly change: number;
    readonly remove: number;
  };
  readonly hook?: {
    readonly action: string;
    readonly resource: { readonly addr: string };
    readonly id_value?: string;
  };
  readonly outputs?: { readonly [name: string]: { readonly value?: string } };
  readonly diagnostic?: {
    readonly severity: string;
    readonly summary: string;
    readonly detail: string;
    readonly range?: { readonly start: { readonly line: number } };
  };
}

let service: FakeService;
let user: Workspace;

beforeAll(async () => {
  service = await FakeService.start();
  user = openWorkspace(manifest("one"));
  Object.assign(user.env, service.env);
});
afterAll(async () => {
  await user.close();
  await service.close();
});

function manifest(description: string, region = "us-east-1"): string {
  return `apiVersion: graphform/v1
name: machine
service: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }
secrets: { pass: { env: MACHINE_PASSWORD } }
instances:
  a:
    tier: free
    component: free
    cloudProvider: aws
    region: ${region}
    config: { name: a, description: ${description}, graphdbUser: app, graphdbPassword: "\${secret.pass}" }
  b:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config: { name: b, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.pass}", graphDBResultSetSize: 0 }
outputs:
  region: \${instances.a.region}
`;
}

/** A stream: every line an event with all that every event has. */
function events(out: string): readonly Event[] {
  expect(out.endsWith("\n")).toBe(true);
  const all = out
    .trimEnd()
    .split("\n")
    .map((line): Event => JSON.parse(line));
  for (const event of all) {
    expect(eventViolations(event)).toEqual([]);
    expect(event).toMatchObject({
      "@level": expect.stringMatching(/^(info|warn|error)$/),
      "@message": expect.any(String),
      "@module": "graphform.ui",
    });
    expect(new Date(event["@timestamp"]).toISOString()).toBe(event["@timestamp"]);
  }
  expect(all[0]).toMatchObject({ type: "version", ui: expect.any(String) });
  return all;
}

function typeOf(line: string): string {
  const { type }: Event = JSON.parse(line);
  return type;
}

function lastLine(text: string): string | undefined {
  return text.trimEnd().split("\n").at(-1);
}

describe("standard output and standard error", () => {
  it("the first is the result, the second everything else", async () => {
    user.env["MACHINE_PASSWORD"] = "some-password-1";
    const [json, text, traced] = await Promise.all([
      user.run("plan", "--json"),
      user.run("plan"),
      user.run("plan", "--json", "--trace"),
    ]);
    expect(JSON.parse(json.out)).toMatchObject({ format_version: "1.2" });
    expect(planViolations(JSON.parse(json.out))).toEqual([]);
    expect(json.err).toMatch(/^graphform\.yaml:17:\d+: warning: .*graphDBResultSetSize/);
    expect(lastLine(text.out)).toBe("Plan: 2 to add, 0 to change, 0 to destroy.");
    expect(traced.out).toBe(json.out);
    expect(traced.err).toMatch(/^GET \/2022-09-01-00\/\S+ 200 \d+ ms$/m);
  });

  it("plan and apply do not repeat what only validate is asked about: create-only fields left to their defaults", async () => {
    const [plan, validate] = await Promise.all([user.run("plan"), user.run("validate")]);
    expect(plan.err).not.toContain("the service's defaults apply");
    expect(plan.err).toContain("1 warning");
    expect(validate.err).toContain("the service's defaults apply");
  });

  it("nothing is coloured, and no cursor moved, where nobody looks", async () => {
    const { out, err } = await user.run("plan");
    expect(`${out}${err}`).not.toContain("\u001b");
  });

  it("a reader that has seen enough is no error", async () => {
    const running = user.start("plan", "--json");
    running.child.stdout?.destroy();
    const { code, err } = await running.ended;
    expect(code).toBe(0);
    expect(err).not.toMatch(/EPIPE/);
  });
});

describe("apply --json", () => {
  it("tells of plan, steps, outputs and the end", async () => {
    const { code, out } = await user.run("apply", "--auto-approve", "--json");
    expect(code).toBe(0);
    const all = events(out);
    const types = all.map(({ type }) => type);
    expect(types.filter((type) => type === "planned_change")).toHaveLength(2);
    expect(
      all
        .filter(({ type }) => type === "planned_change")
        .map(({ change }) => [change?.resource.addr, change?.action]),
    ).toEqual([
      ["instances.a", "create"],
      ["instances.b", "create"],
    ]);
    for (const type of ["apply_start", "apply_complete"]) {
      const hooks = all.filter((event) => event.type === type).map(({ hook }) => hook);
      expect(hooks).toHaveLength(2);
      expect(hooks).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            action: "create",
            resource: expect.objectContaining({ addr: "instances.a", resource_type: "graphform_instance" }),
          }),
        ]),
      );
    }
    const ids = [...service.instances.keys()].sort();
    expect(
      all
        .filter(({ type }) => type === "apply_complete")
        .map(({ hook }) => hook?.id_value)
        .sort(),
    ).toEqual(ids);
    const summaries = all.filter(({ type }) => type === "change_summary");
    expect(summaries.map(({ changes }) => changes)).toMatchObject([
      { operation: "plan", add: 2, change: 0, remove: 0 },
      { operation: "apply", add: 2, change: 0, remove: 0 },
    ]);
    expect(all.at(-1)).toMatchObject({
      type: "outputs",
      outputs: { region: { value: "us-east-1", type: "string", sensitive: false } },
    });
    expect(types.indexOf("apply_start")).toBeGreaterThan(types.indexOf("change_summary"));
  });

  it("ends a refused replacement with diagnostics and exit 4", async () => {
    user.write("graphform.yaml", manifest("one", "eu-west-1").replace("name: a,", "name: a,"));
    const { code, out } = await user.run("apply", "--auto-approve", "--json");
    user.write("graphform.yaml", manifest("one"));
    expect(code).toBe(4);
    const all = events(out);
    expect(all.find(({ type }) => type === "diagnostic")).toMatchObject({
      diagnostic: {
        severity: "warning",
        summary: expect.stringContaining("refused"),
        detail: expect.stringContaining("--replace"),
      },
    });
    expect(all.findLast(({ type }) => type === "change_summary")).toMatchObject({
      changes: { operation: "apply", add: 0, remove: 0 },
    });
  });

  it("has an error as its last event where nothing could be done at all, and says it to people as well", async () => {
    user.env["GRAPHFORM_PASSWORD"] = "wrong";
    const refused = await user.run("apply", "--auto-approve", "--json");
    user.env["GRAPHFORM_PASSWORD"] = service.password;
    expect(refused.code).toBe(1);
    expect(events(refused.out).at(-1)).toMatchObject({
      type: "diagnostic",
      diagnostic: { severity: "error", detail: expect.stringContaining("GRAPHFORM_PASSWORD") },
    });
    expect(refused.err).toContain("error: ");

    user.write("graphform.yaml", manifest("one").replace("tier: free", "tier: freee"));
    const broken = await user.run("apply", "--auto-approve", "--json");
    user.write("graphform.yaml", manifest("one"));
    expect(broken.code).toBe(3);
    expect(events(broken.out)).toContainEqual(
      expect.objectContaining({
        type: "diagnostic",
        diagnostic: expect.objectContaining({
          severity: "error",
          range: expect.objectContaining({ start: expect.objectContaining({ line: 7 }) }),
        }),
      }),
    );
  });
});

describe("--log", () => {
  it("appends what was done as JSON lines to a private file, and changes nothing of what is printed", async () => {
    user.write("graphform.yaml", manifest("one"));
    const [plain, logged] = [
      await user.run("plan", "--json"),
      await user.run("plan", "--json", "--log", "run.log"),
    ];
    expect(logged).toEqual(plain);
    await user.run("apply", "--auto-approve", "--log", "run.log");
    const lines = user.read("run.log").trimEnd().split("\n");
    const types = lines.map((line) => typeOf(line));
    expect(types).toEqual(expect.arrayContaining(["request", "version", "change_summary"]));
    expect(types.indexOf("request")).toBeLessThan(types.indexOf("version"));
    expect(user.read("run.log")).not.toContain("some-password-1");
    expect(statSync(join(user.dir, "run.log")).mode & 0o777).toBe(0o600);
    const nowhere = await user.run("plan", "--log", "no/such/folder/run.log");
    expect(nowhere).toMatchObject({ code: 1, err: expect.stringContaining("no/such/folder") });
  });
});

describe("the last line for people", () => {
  it("is stable: of a plan, an apply, an apply with nothing to do, and a destroy", async () => {
    user.write("graphform.yaml", manifest("two"));
    expect(lastLine((await user.run("plan")).out)).toBe("Plan: 0 to add, 1 to change, 0 to destroy.");
    const applied = await user.run("apply", "--auto-approve");
    expect(applied.out).toContain("\nPlan: 0 to add, 1 to change, 0 to destroy.\n");
    expect(lastLine(applied.out)).toBe("Apply complete! Resources: 0 added, 1 changed, 0 destroyed.");
    expect(applied.err).toMatch(/^instances\.a: updating\.\.\.\ninstances\.a: updated in /m);
    const idle = await user.run("apply", "--auto-approve");
    expect(lastLine(idle.out)).toBe("Apply complete! Resources: 0 added, 0 changed, 0 destroyed.");
    const destroyed = await user.run("destroy", "--auto-approve");
    expect(destroyed.code).toBe(4);
    expect(lastLine(destroyed.out)).toBe("Destroy incomplete. Resources: 1 destroyed.");
  });

  it("output prints a bare value, a JSON value, or all of them", async () => {
    user.write("graphform.yaml", manifest("two"));
    await user.run("apply", "--auto-approve");
    expect((await user.run("output", "region", "--raw")).out).toBe("us-east-1");
    expect(JSON.parse((await user.run("output", "region", "--json")).out)).toMatchObject({
      value: "us-east-1",
    });
    expect((await user.run("output")).out).toMatch(/^region += "us-east-1"$/m);
  });
});

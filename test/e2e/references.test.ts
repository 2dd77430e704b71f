import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

let service: FakeService;
let user: Workspace;

beforeAll(async () => {
  service = await FakeService.start();
  user = openWorkspace();
  Object.assign(user.env, service.env);
});
afterAll(async () => {
  await user.close();
  await service.close();
});

const apply = ["apply", "--auto-approve"] as const;

/** `last` tells of `first`, and comes after `middle`, of which there are as many as keys. */
function manifest(region: string, keys: readonly string[]): string {
  return `
apiVersion: graphform/v1
name: linked
service: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }
variables:
  words: { type: string, default: the first one }
secrets: { pass: { env: LINKED_PASSWORD } }
defaults:
  instances:
    tier: free
    component: free
    cloudProvider: aws
    lifecycle: { onReplace: recreate }
instances:
  last:
    region: us-east-1
    lifecycle: { dependsOn: [instances.middle] }
    config: { name: last, description: "after \${instances.first.id} in \${instances.first.region}", graphdbUser: app, graphdbPassword: "\${secret.pass}" }
  middle:
    forEach: ${JSON.stringify(keys)}
    region: us-east-1
    config: { name: "m-\${each.key}", description: "\${each.value} $\${literal}", graphdbUser: app, graphdbPassword: "\${secret.pass}" }
  first:
    region: ${region}
    config: { name: first, description: "\${var.words}", graphdbUser: app, graphdbPassword: "\${secret.pass}" }
outputs:
  first: \${instances.first.id}
  all: "\${instances.first.region}/\${instances.last.id}"
  secret: { value: "\${secret.pass}", sensitive: true }
`;
}

function idOf(address: string): string {
  return user.state("linked").resources[address]?.id ?? "";
}

function descriptionOf(address: string): unknown {
  return service.instances.get(idOf(address))?.params["description"];
}

describe("references", () => {
  it("order the creates, and are filled in with what the service gave", async () => {
    user.env["LINKED_PASSWORD"] = "linked-password-1";
    user.write("graphform.yaml", manifest("us-east-1", ["eu", "us west", 'a"b']));
    const plan = readPlan((await user.run("plan", "--json")).out);
    const last = plan.resource_changes.find(({ address }) => address === "instances.last");
    expect(last?.change.after_unknown).toEqual({ config: { description: true } });
    expect(await user.run(...apply)).toMatchObject({ code: 0, out: expect.stringContaining("5 added") });
    expect(descriptionOf("instances.last")).toBe(`after ${idOf("instances.first")} in us-east-1`);
    expect(descriptionOf('instances.middle["us west"]')).toBe("us west ${literal}");
    const created = service.writes().map(({ body }) => JSON.stringify(body));
    expect(created.at(-1)).toContain('"name":"last"');
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });

  it("become outputs; a sensitive one is shown to who asks for it alone", async () => {
    const [all, json, raw] = await Promise.all([
      user.run("output"),
      user.run("output", "--json"),
      user.run("output", "secret", "--raw"),
    ]);
    expect(all.out).toContain(`us-east-1/${idOf("instances.last")}`);
    expect(`${all.out}${json.out}`).not.toContain("linked-password-1");
    expect(JSON.parse(json.out)).toMatchObject({
      first: { value: idOf("instances.first") },
      secret: { sensitive: true },
    });
    expect(raw).toMatchObject({ code: 1, out: "", err: expect.stringContaining("secrets are not stored") });
  });

  it("follow an instance that is replaced", async () => {
    user.write("graphform.yaml", manifest("eu-west-1", ["eu", "us west", 'a"b']));
    const before = idOf("instances.first");
    service.forget();
    expect(await user.run(...apply, "--allow-destroy", "instances.first")).toMatchObject({ code: 0 });
    expect(idOf("instances.first")).not.toBe(before);
    expect(service.writes().map(({ operation }) => operation)).toEqual(["delete", "create", "update"]);
    expect(descriptionOf("instances.last")).toBe(`after ${idOf("instances.first")} in eu-west-1`);
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });

  it("of forEach: keys that come and go touch nobody else, and --target takes what it refers to along", async () => {
    user.write("graphform.yaml", manifest("eu-west-1", ["eu", "new"]));
    const { out } = await user.run("plan", "--json");
    expect(actionsIn(readPlan(out))).toEqual({
      'instances.middle["a\\"b"]': ["delete"],
      'instances.middle["new"]': ["create"],
      'instances.middle["us west"]': ["delete"],
    });
    const targeted = readPlan((await user.run("plan", "--json", "--target", 'instances.middle["new"]')).out);
    expect(targeted.complete).toBe(false);
    expect(actionsIn(targeted)).toEqual({ 'instances.middle["new"]': ["create"] });
    expect(await user.run(...apply)).toMatchObject({
      code: 0,
      out: expect.stringContaining("1 added, 0 changed, 2 destroyed"),
    });
  });

  it("of variables: --var, --var-file and the environment reach the service", async () => {
    user.write("vars.yaml", "words: from a file\n");
    expect(await user.run(...apply, "--var-file", "vars.yaml")).toMatchObject({ code: 0 });
    expect(descriptionOf("instances.first")).toBe("from a file");
    expect(
      await user.run(...apply, "--var-file", "vars.yaml", "--var", "words=from = an option"),
    ).toMatchObject({ code: 0 });
    expect(descriptionOf("instances.first")).toBe("from = an option");
    expect(await user.run("plan", "--var", "nonsense=1")).toMatchObject({
      code: 3,
      err: expect.stringContaining("nonsense"),
    });
  });

  it("go in the right order when all is destroyed", async () => {
    service.forget();
    expect(await user.run("destroy", "--auto-approve")).toMatchObject({ code: 0 });
    expect(service.instances.size).toBe(0);
    expect(user.state("linked").resources).toEqual({});
    expect((await user.run("output")).out).not.toContain("first");
  });
});

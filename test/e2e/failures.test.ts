import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { actionsIn, readPlan } from "../support/plan-document.ts";
import { quickProfile } from "../support/quick-profile.ts";
import { openWorkspace, type Ran, until, type Workspace } from "../support/workspace.ts";

let service: FakeService;
let user: Workspace;

beforeAll(async () => {
  service = await FakeService.start();
});

beforeEach(() => {
  service.behave();
  service.instances.clear();
  user = openWorkspace(manifest());
  user.write("quick.yaml", quickProfile);
  Object.assign(user.env, service.env);
});
afterEach(() => user.close());
afterAll(() => service.close());

/** One instance, with more or other lines of its config. */
function manifest(more = ""): string {
  return `
apiVersion: graphform/v1
name: trouble
service: { profile: ./quick.yaml, platformUrl: "${service.url}" }
instances:
  orders:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config:
      name: orders
      description: first words
      nodeInstanceType: m7g.large
      graphdbUser: app
      graphdbPassword: a-password-of-some-length
${more}`;
}

const address = "instances.orders";

function twin(name: string, words: string): string {
  return `{ tier: pro, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: ${name}, description: ${words}, nodeInstanceType: m7g.large, graphdbUser: app } }`;
}

/** Two instances of one class, without passwords. */
function twins(words: string): string {
  return `
apiVersion: graphform/v1
name: trouble
service: { profile: ./quick.yaml, platformUrl: "${service.url}" }
instances:
  a: ${twin("a", words)}
  b: ${twin("b", words)}
`;
}
const apply = ["apply", "--auto-approve"] as const;

function bound(): { readonly id: string; readonly converging?: { readonly operation: string } } | undefined {
  return user.state("trouble").resources[address];
}

function countOf(operation: string): number {
  return service.requests.filter((request) => request.operation === operation).length;
}

/** What goes for every failure: words for people, and never the inside of the program. */
function expectWords({ out, err }: Ran): void {
  expect(`${out}${err}`).not.toMatch(/\bat .*\.js:\d+|node:internal|\[object |undefined/);
  expect(err).not.toBe("");
}

describe("the way to the service", () => {
  it("a wrong password is said to be one: exit 1", async () => {
    user.env["GRAPHFORM_PASSWORD"] = "not-this-one";
    for (const command of [["plan"], apply]) {
      const ran = await user.run(...command);
      expect(ran).toMatchObject({ code: 1, out: "" });
      expect(ran.err).toMatch(/does not accept this user name with this password[\s\S]*GRAPHFORM_PASSWORD/);
      expectWords(ran);
    }
    expect(service.writes()).toEqual([]);
  });

  it("nothing to sign in with is said before anything is sent: exit 1", async () => {
    user.env["GRAPHFORM_PASSWORD"] = undefined;
    const ran = await user.run("plan");
    expect(ran).toMatchObject({
      code: 1,
      err: expect.stringContaining("GRAPHFORM_USERNAME and GRAPHFORM_PASSWORD"),
    });
    expect(service.requests).toEqual([]);
  });

  it("a service that is down is named with its address: exit 1", async () => {
    const gone = await FakeService.start();
    await gone.close();
    const ran = await user.run("plan", "--platform-url", gone.url);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain(gone.url);
    expect(ran.err).toMatch(/cannot be reached/);
    expectWords(ran);
  });

  it.each([
    ["not-a-url", /not an http or https URL/],
    ["http://platform.example.com", /https/],
    ["ftp://127.0.0.1", /http/],
  ])("the address %s is refused before the password travels: exit 1", async (url, words) => {
    const ran = await user.run("plan", "--platform-url", url);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(words);
    expectWords(ran);
  });

  it("an authority that is not there is named: exit 1", async () => {
    user.env["GRAPHFORM_CA_FILE"] = "/no/such/ca.pem";
    const ran = await user.run("plan");
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("/no/such/ca.pem cannot be read") });
    expectWords(ran);
  });

  it("a session that ends in the middle of an apply is renewed, and nothing is done twice", async () => {
    service.duration = 500;
    service.misbehave = ({ operation }) => {
      if (operation === "describe" && [1, 3].includes(countOf("describe"))) service.expire();
      return undefined;
    };
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(countOf("signin")).toBe(3);
    expect([countOf("create"), service.instances.size]).toEqual([1, 1]);
  });

  it("a service that takes no session any more ends an apply with exit 1, and the next run goes on", async () => {
    service.misbehave = ({ operation }) => (operation === "describe" ? { status: 401 } : undefined);
    const ran = await user.run(...apply);
    expect(ran.code).toBe(1);
    expectWords(ran);
    expect(bound()).toMatchObject({ converging: { operation: "create" } });
    service.misbehave = () => undefined;
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect([countOf("create"), service.instances.size]).toEqual([1, 1]);
  });

  it.each([
    [400, "bad_request"],
    [403, "forbidden"],
    [409, "invalid_state"],
  ])("a create that is refused with %i says what the service said: exit 1", async (status, name) => {
    const body = JSON.stringify({
      name,
      id: "x",
      message: "no room in this tier",
      temporary: false,
      timeout: false,
      fault: false,
    });
    service.misbehave = ({ operation }) => (operation === "create" ? { status, body } : undefined);
    const ran = await user.run(...apply);
    expect(ran).toMatchObject({ code: 1, out: expect.stringContaining("no room in this tier") });
    expectWords(ran);
    expect(user.state("trouble")).toMatchObject({ resources: {}, intents: {} });
  });

  it.each([
    ["an empty object", "{}"],
    ["a list", "[]"],
    ["text", "<html>Bad Gateway</html>"],
    ["an id of the wrong kind", '{"id":{"a":1}}'],
    ["a hostile key", '{"__proto__":{"id":"x"}}'],
  ])("a create that is answered with %s is looked for, and not sent again", async (_, body) => {
    let left = 1;
    service.misbehave = ({ operation }) => {
      if (operation !== "create" || left === 0) return undefined;
      left -= 1;
      return { status: 202, body, work: true };
    };
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect([countOf("create"), service.instances.size]).toEqual([1, 1]);
  });

  it("a describe that makes no sense is an error that names the operation: exit 1", async () => {
    await user.run(...apply);
    service.misbehave = ({ operation }) =>
      operation === "describe" ? { status: 200, body: '{"status":7,"result_params":[]}' } : undefined;
    const ran = await user.run("plan");
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("instance.describe") });
    expectWords(ran);
  });
});

describe("an operation that goes wrong", () => {
  it("a failed create is exit 1 with the reason; the next plan offers a restart, and the next apply does it", async () => {
    service.fate = () => ({ failed: "no capacity in us-east-1a" });
    const ran = await user.run(...apply);
    expect(ran).toMatchObject({ code: 1, out: expect.stringContaining("no capacity in us-east-1a") });
    expectWords(ran);
    service.fate = () => undefined;
    const plan = await user.run("plan", "--json");
    expect(actionsIn(readPlan(plan.out))).toEqual({ [address]: ["update"] });
    expect(readPlan(plan.out).x_graphform.steps).toMatchObject([{ operation: "operate" }]);
    expect((await user.run("plan")).out).toContain("no capacity in us-east-1a");
    service.forget();
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(service.writes().map(({ operation }) => operation)).toEqual(["restart"]);
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });

  it("a failed update is exit 1 with the reason; the next apply updates again", async () => {
    await user.run(...apply);
    user.write("graphform.yaml", manifest().replace("first words", "second words"));
    service.fate = () => ({ failed: "the node did not come back" });
    expect(await user.run(...apply)).toMatchObject({
      code: 1,
      out: expect.stringContaining("the node did not come back"),
    });
    service.fate = () => undefined;
    service.forget();
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(service.writes()).toMatchObject([
      { operation: "update", body: { requestParams: { description: "second words" } } },
    ]);
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });

  it("a second look that fails after the work is done: exit 1, and what was done is told", async () => {
    service.misbehave = ({ operation }) =>
      operation === "list" && [...service.instances.values()].some(({ status }) => status === "RUNNING")
        ? { status: 403 }
        : undefined;
    const ran = await user.run(...apply);
    expect(ran).toMatchObject({
      code: 1,
      out: expect.stringContaining("Apply incomplete. Resources: 1 added, 0 changed, 0 destroyed."),
      err: expect.stringContaining("instance.list"),
    });
    service.misbehave = () => undefined;
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });

  it("waiting that ends with --timeout is exit 7, and the next run goes on waiting", async () => {
    service.duration = 3000;
    const ran = await user.run(...apply, "--timeout", "1s");
    expect(ran).toMatchObject({ code: 7, out: expect.stringContaining("Still converging") });
    expect(bound()).toMatchObject({ converging: { operation: "create" } });
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(bound()).not.toHaveProperty("converging");
    expect([countOf("create"), service.instances.size]).toEqual([1, 1]);
  });

  it("an old status after an update is not taken for its end", async () => {
    await user.run(...apply);
    user.write("graphform.yaml", manifest().replace("first words", "second words"));
    // Within the 300 ms that the profile allows for it.
    service.stale = 250;
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    const instances = [...service.instances.values()];
    expect(instances).toMatchObject([{ status: "RUNNING", params: { description: "second words" } }]);
    expect(instances.map(({ next }) => next)).toEqual([undefined]);
  });

  it("an update while the service is busy with another operation is sent once that is over", async () => {
    await user.run(...apply);
    user.write("graphform.yaml", manifest().replace("first words", "second words"));
    let left = 2;
    const body = JSON.stringify({
      name: "invalid_state",
      id: "x",
      message: "operation is already in progress",
      temporary: true,
      timeout: false,
      fault: false,
    });
    service.misbehave = ({ operation }) => {
      if (operation !== "update" || left === 0) return undefined;
      left -= 1;
      return { status: 409, body };
    };
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(countOf("update")).toBe(3);
  });
});

describe("an interruption", () => {
  it("while a create is waited for: exit 130, the state has its id, the next run finishes it", async () => {
    service.duration = 2500;
    const running = user.start(...apply);
    await until(() => (service.instances.size === 1 && bound() !== undefined) || undefined, "the create");
    running.child.kill("SIGINT");
    const ran = await running.ended;
    expect(ran).toMatchObject({ code: 130, out: expect.stringContaining("Interrupted") });
    expectWords(ran);
    expect(bound()).toMatchObject({
      id: [...service.instances.keys()][0],
      converging: { operation: "create" },
    });
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect([countOf("create"), service.instances.size]).toEqual([1, 1]);
  });

  it("while the answer to a create is on its way: the next run finds the instance and makes no other", async () => {
    service.misbehave = ({ operation }) =>
      operation === "create"
        ? "cut-after"
        : operation === "list" && countOf("create") > 0
          ? "hang"
          : undefined;
    const running = user.start(...apply);
    await until(() => service.instances.size === 1 || undefined, "the create");
    running.child.kill("SIGINT");
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
    expect(user.state("trouble").intents).toHaveProperty([address]);
    service.misbehave = () => undefined;
    expect(await user.run(...apply)).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /\nResumed: 1 create of an earlier run was found\.\nApply complete! Resources: 0 added, 0 changed, 0 destroyed\.\n$/,
      ),
    });
    expect([countOf("create"), service.instances.size]).toEqual([1, 1]);
    expect(user.state("trouble").intents).toEqual({});
  });

  it("by kill -9, at any moment of an apply: the next run makes no second one", async () => {
    for (const moment of ["list", "create", "describe"]) {
      service.behave();
      service.duration = 300;
      const before = service.instances.size;
      user.write("graphform.yaml", manifest().replaceAll("trouble", `trouble-${moment}`));
      const running = user.start(...apply);
      service.misbehave = ({ operation }) => {
        if (operation === moment) running.child.kill("SIGKILL");
        return undefined;
      };
      await running.ended;
      service.misbehave = () => undefined;
      expect(await user.run(...apply)).toMatchObject({ code: 0 });
      expect(service.instances.size).toBe(before + 1);
    }
  });

  it("while the service cannot be reached says so, and what was left undone", async () => {
    service.misbehave = ({ operation }) => (operation === "describe" ? "cut" : undefined);
    const running = user.start(...apply);
    await until(() => countOf("describe") > 6 || undefined, "the client's patience with one look");
    running.child.kill("SIGINT");
    expect(await running.ended).toMatchObject({
      code: 130,
      out: expect.stringMatching(/was left not reachable \(instance\.describe: /),
    });
    service.misbehave = () => undefined;
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect([countOf("create"), service.instances.size]).toEqual([1, 1]);
  });

  it("of a plan is exit 130 as well", async () => {
    service.misbehave = ({ operation }) => (operation === "list" ? "hang" : undefined);
    const running = user.start("plan");
    await until(() => countOf("list") > 0 || undefined, "the list");
    running.child.kill("SIGINT");
    const ran = await running.ended;
    expect(ran).toMatchObject({ code: 130, out: "" });
    expectWords(ran);
  });
});

describe("a deletion that is taken, and not done", () => {
  it.each([1, 2, 3])("is exit 1 and named, if describe answers 404 the first %i times", async (times) => {
    service.duration = 0;
    user.write("graphform.yaml", twins("words"));
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    const [id = ""] = service.instances.keys();
    let hidden = 0;
    service.misbehave = ({ operation, path }) => {
      if (operation === "delete") return { status: 202 };
      if (operation !== "describe" || !path.endsWith(id) || countOf("delete") === 0) return undefined;
      hidden += 1;
      return hidden > times ? undefined : { status: 404 };
    };
    const gone = user.state("trouble").resources["instances.a"]?.id === id ? "a" : "b";
    user.write("graphform.yaml", twins("words").replace(new RegExp(`\n  ${gone}: .*`), ""));
    const ran = await user.run(...apply, "--allow-destroy", `instances.${gone}`);
    expect(ran).toMatchObject({
      code: 1,
      out: expect.stringMatching(/was deleted and released,\s+and\s+the\s+service\s+shows\s+it\s+again/),
    });
    service.behave();
    service.instances.clear();
  });
});

describe("what a command is refused for", () => {
  it("two applies at once: the second is exit 5 and says who holds the lock", async () => {
    service.duration = 600_000;
    const first = user.start(...apply);
    await until(() => service.instances.size === 1 || undefined, "the create");
    const second = await user.run(...apply);
    expect(second).toMatchObject({ code: 5, out: "", err: expect.stringContaining(String(first.child.pid)) });
    expectWords(second);
    const third = user.start(...apply, "--lock-timeout", "30s");
    for (const instance of service.instances.values()) instance.next = { at: 0, status: "RUNNING" };
    expect((await first.ended).code).toBe(0);
    expect((await third.ended).code).toBe(0);
    expect([countOf("create"), service.instances.size]).toEqual([1, 1]);
  });

  it("a saved plan runs once: exit 6 the second time, and after the manifest or the instance has changed", async () => {
    expect(await user.run("plan", "--out", "first.plan")).toMatchObject({ code: 0 });
    expect(await user.run("apply", "first.plan")).toMatchObject({ code: 0 });
    const again = await user.run("apply", "first.plan");
    expect(again).toMatchObject({ code: 6, err: expect.stringContaining("applied already") });
    expectWords(again);

    user.write("graphform.yaml", manifest().replace("first words", "second words"));
    await user.run("plan", "--out", "second.plan");
    user.write("graphform.yaml", manifest().replace("first words", "third words"));
    expect(await user.run("apply", "second.plan")).toMatchObject({
      code: 6,
      err: expect.stringContaining("manifest has changed"),
    });

    service.echo = true;
    await user.run("plan", "--out", "third.plan");
    const [instance] = service.instances.values();
    if (instance === undefined) expect.fail();
    instance.params = { ...instance.params, description: "somebody else's words" };
    service.forget();
    const stale = await user.run("apply", "third.plan");
    expect(stale).toMatchObject({ code: 6, out: expect.stringContaining("config.description") });
    expect(service.writes()).toEqual([]);
  });

  it("a saved plan answers for its own steps, and not for what it left out", async () => {
    user.write("graphform.yaml", twins("first words"));
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    user.write("graphform.yaml", twins("second words"));
    await user.run("plan", "--out", "part.plan", "--target", "instances.a");
    service.forget();
    expect(await user.run("apply", "part.plan")).toMatchObject({ code: 0 });
    expect(service.writes()).toHaveLength(1);
  });

  it("a state that was put back beside newer versions is refused, and nothing is made twice", async () => {
    user.write("graphform.yaml", twins("first words").replace(/ {2}b:.*/, ""));
    await user.run(...apply);
    const file = ".graphform/trouble.state.json";
    const older = user.read(file);
    user.write("graphform.yaml", twins("first words"));
    await user.run(...apply);
    user.write("graphform.yaml", `${twins("first words")}  c: ${twin("c", "third")}`);
    await user.run("plan", "--out", "c.plan");
    expect(await user.run("apply", "c.plan")).toMatchObject({ code: 0 });
    user.write(file, older);
    const put = await user.run("apply", "c.plan");
    expect(put).toMatchObject({
      code: 1,
      err: expect.stringMatching(/an older copy was put in its place\nhint: .*\.backup/),
    });
    expectWords(put);
    expect([countOf("create"), service.instances.size]).toEqual([3, 3]);
  });

  it.each([["apply"], ["destroy"]])(
    "%s without a terminal and --auto-approve: exit 1 with the way out",
    async (command) => {
      const ran = await user.run(command);
      expect(ran).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringContaining(`${command} --auto-approve`),
      });
      expect(service.requests).toEqual([]);
    },
  );

  it.each([
    [["plan", "--frobnicate"], /unknown option '--frobnicate'/],
    [["plam"], /unknown command 'plam'/],
    [["apply", "--timeout", "soon"], /must be a duration/],
    [["apply", "--parallelism", "0"], /whole number/],
    [["apply", "no-such.plan"], /no-such\.plan/],
    [["apply", "graphform.yaml"], /is not a plan of graphform/],
    [["output", "nothing"], /there is no output "nothing"/],
  ])("%j: exit 1", async (args, words) => {
    const ran = await user.run(...args);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(words);
    expectWords(ran);
  });

  it.each([
    [["plan"], "graphform.yaml"],
    [["validate", "-f", "elsewhere.yaml"], "elsewhere.yaml"],
    [["apply", "--auto-approve", "-f", "."], "."],
  ])("%j without a manifest: exit 3", async (args, name) => {
    const nobody = openWorkspace();
    const ran = await nobody.run(...args);
    await nobody.close();
    expect(ran).toMatchObject({ code: 3, out: "", err: expect.stringContaining(name) });
    expectWords(ran);
  });

  it("an empty manifest against a state that knows something: exit 4, and nothing is deleted", async () => {
    await user.run(...apply);
    const empty = manifest().slice(0, manifest().indexOf("instances:"));
    user.write("graphform.yaml", `${empty}removed: [{ address: instances.orders, destroy: true }]\n`);
    service.forget();
    for (const text of [empty, `${empty}instances: {}\n`]) {
      user.write("graphform.yaml", text);
      expect(await user.run(...apply, "--allow-destroy", address)).toMatchObject({
        code: 4,
        out: expect.stringContaining("the manifest is empty"),
      });
    }
    expect(service.writes()).toEqual([]);
  });

  it("a block that is gone is still protected: exit 4, until somebody says so", async () => {
    const other = manifest("").replace("  orders:", "  others:").replace("name: orders", "name: others");
    await user.run(...apply);
    user.write("graphform.yaml", other);
    service.forget();
    expect(await user.run(...apply)).toMatchObject({
      code: 4,
      out: expect.stringContaining("protection from the last apply still holds"),
    });
    expect(service.writes().map(({ operation }) => operation)).toEqual(["create"]);
    expect(await user.run(...apply, "--allow-destroy", address)).toMatchObject({ code: 0 });
    expect([...service.instances.values()]).toMatchObject([{ params: { name: "others" } }]);
  });
});

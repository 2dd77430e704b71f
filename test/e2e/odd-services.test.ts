import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { type FakeInstance, FakeService } from "../support/fake-service.ts";
import { actionsIn, type PlanDocument, readPlan } from "../support/plan-document.ts";
import { quickProfile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

let service: FakeService;
let user: Workspace;
const address = "instances.odd";
const apply = ["apply", "--auto-approve"] as const;

beforeAll(async () => {
  service = await FakeService.start();
});
beforeEach(() => {
  service.behave();
  service.instances.clear();
  user = openWorkspace(`
apiVersion: graphform/v1
name: odd
service: { profile: default, platformUrl: "${service.url}" }
instances:
  odd:
    tier: enterprise
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config: { name: odd, description: words, nodeInstanceType: m7g.large, maxMemory: 6GB, graphdbUser: app, graphDBCacheSize: 100, enableTLS: false }
`);
  Object.assign(user.env, service.env);
});
afterEach(() => user.close());
afterAll(() => service.close());

async function only(): Promise<FakeInstance> {
  expect(await user.run(...apply)).toMatchObject({ code: 0 });
  const [instance] = service.instances.values();
  return instance ?? expect.fail();
}

async function planned(): Promise<PlanDocument> {
  const { code, out, err } = await user.run("plan", "--json");
  expect([code, err]).toEqual([0, expect.not.stringContaining("error")]);
  return readPlan(out);
}

describe("what describe shows", () => {
  it.each<[string, JsonObject]>([
    ["everything as text", {}],
    ["a size in another unit", { maxMemory: "6144MB" }],
    ["a size with a space and in small letters", { maxMemory: "6 gb" }],
    [
      "nulls and empty texts for what it does not know",
      { description: "", maxMemory: null, graphDBCacheSize: null },
    ],
    ["fields that nobody declared", { graphDBTimeoutMax: 1234, somethingNew: { a: [1] }, __proto__: null }],
  ])("%s: no difference", async (_, shown) => {
    const instance = await only();
    instance.params = { ...instance.params, ...shown };
    service.echo = true;
    expect(actionsIn(await planned())).toEqual({});
  });

  it("what somebody else changed is drift, shown with where it was seen, and put right", async () => {
    const instance = await only();
    instance.params = { ...instance.params, description: "somebody else's", graphDBTimeoutMax: 5 };
    service.echo = true;
    const plan = await planned();
    expect(actionsIn(plan)).toEqual({ [address]: ["update"] });
    expect(plan.resource_drift.map((drift) => drift.address)).toEqual([address]);
    expect(plan.x_graphform.changes[address]?.fields).toMatchObject({
      "config.description": { source: "echoed" },
    });
    service.forget();
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(service.writes()).toMatchObject([{ body: { requestParams: { description: "words" } } }]);
    expect(actionsIn(await planned())).toEqual({});
  });

  it("an instance that somebody stopped is started", async () => {
    const instance = await only();
    instance.status = "STOPPED";
    expect(actionsIn(await planned())).toEqual({ [address]: ["update"] });
    service.forget();
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(service.writes().map(({ operation }) => operation)).toEqual(["start"]);
  });

  it("a status in small letters is the same status", async () => {
    const instance = await only();
    instance.status = "running";
    expect(actionsIn(await planned())).toEqual({});
  });

  it("a status that nobody knows is on its way to something: waited for, exit 7", async () => {
    const instance = await only();
    instance.status = "WOBBLING";
    expect((await user.run("plan")).out).toContain("WOBBLING");
    expect(await user.run(...apply, "--timeout", "1s")).toMatchObject({
      code: 7,
      out: expect.stringContaining("WOBBLING"),
    });
    instance.status = "RUNNING";
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
  });
});

describe("the answer to a create", () => {
  beforeEach(() => {
    const one = (name: string): string =>
      `{ tier: pro, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: ${name}, nodeInstanceType: m7g.large, graphdbUser: app } }`;
    // These services show at once what they show at all.
    user.write("quick.yaml", quickProfile.replace("listLag: 1s", "listLag: 300ms"));
    user.write(
      "graphform.yaml",
      `
apiVersion: graphform/v1
name: odd
service: { profile: ./quick.yaml, platformUrl: "${service.url}" }
instances:
  a: ${one("a")}
  b: ${one("b")}
  c: ${one("c")}
`,
    );
  });

  /** As often as a user would run it again. */
  async function untilDone(): Promise<readonly (number | null)[]> {
    const codes: (number | null)[] = [];
    while (codes.length < 3 && codes.at(-1) !== 0) codes.push((await user.run(...apply)).code);
    return codes;
  }

  it.each<[string, object]>([
    [
      "an operation in progress, with the work done",
      { status: 409, body: '{"message":"operation is already in progress"}' },
    ],
    ["an id above 2^53", { status: 202, body: '{"id":12345678901234567890}' }],
    ["an id that is no id", { status: 202, body: '{"id":".."}' }],
    ["a blank id", { status: 202, body: '{"id":"  "}' }],
    ["204", { status: 204, body: "" }],
  ])("is %s: three instances, in one run", async (_, mischief) => {
    service.misbehave = ({ operation }) =>
      operation === "create" ? { status: 202, work: true, ...mischief } : undefined;
    expect(await untilDone()).toEqual([0]);
    expect(service.instances.size).toBe(3);
    expect(actionsIn(await planned())).toEqual({});
  });

  it.each<[string, { readonly status: number; readonly body: string }]>([
    ["400", { status: 400, body: '{"message":"no such region"}' }],
    ["409", { status: 409, body: '{"name":"invalid_state","message":"exists"}' }],
    ["422", { status: 422, body: '{"message":"no"}' }],
  ])(
    "is %s, with the work done: reported at once, and the next run finds what was made",
    async (_, mischief) => {
      service.misbehave = ({ operation }) =>
        operation === "create" ? { work: true, ...mischief } : undefined;
      expect(await untilDone()).toEqual([1, 0]);
      expect(service.instances.size).toBe(3);
      expect(actionsIn(await planned())).toEqual({});
    },
  );

  it("is the same id every time: each address is bound to an instance of its own", async () => {
    let first = "";
    service.misbehave = ({ operation }) => {
      if (operation !== "create") return undefined;
      first = service.instances.keys().next().value ?? "";
      return first === "" ? undefined : { status: 202, work: true, body: JSON.stringify({ id: first }) };
    };
    expect(await untilDone()).toEqual([0]);
    const ids = Object.values(user.state("odd").resources).map(({ id }) => id);
    expect(ids.toSorted()).toEqual([...service.instances.keys()].toSorted());
  });

  it("is an id that was never there: exit 1, and the next run finds what was made", async () => {
    let wrong = 1;
    service.misbehave = ({ operation }) => {
      if (operation !== "create" || wrong === 0) return undefined;
      wrong -= 1;
      return { status: 202, work: true, body: '{"id":"orchestration-7"}' };
    };
    expect(await untilDone()).toEqual([1, 0]);
    expect(service.instances.size).toBe(3);
    expect(actionsIn(await planned())).toEqual({});
  });

  it("is lost, and lists name everything twice", async () => {
    service.misbehave = ({ operation, place }) => {
      if (operation === "create") return "cut-after";
      if (operation !== "list") return undefined;
      const ids = [...service.instances.values()].filter((each) => each.place === place).map(({ id }) => id);
      return { status: 200, body: JSON.stringify({ ids: [...ids, ...ids] }) };
    };
    expect(await untilDone()).toEqual([0]);
    expect(service.instances.size).toBe(3);
  });

  it.each([
    ["ten minutes slow", -10 * 60_000, undefined],
    ["ten hours fast", 10 * 3_600_000, undefined],
    ["without a zone", 0, "Asia/Tokyo"],
  ])("is lost, and the service's clock is %s", async (_, ahead, zone) => {
    user.env["TZ"] = zone;
    service.ahead = ahead;
    service.clock = (time) => {
      const text = new Date(Date.parse(time) + ahead).toISOString();
      return zone === undefined ? text : text.replace("Z", "");
    };
    service.misbehave = ({ operation }) => (operation === "create" ? "cut-after" : undefined);
    expect(await untilDone()).toEqual([0]);
    expect(service.instances.size).toBe(3);
  });

  it("is lost, and its time is as far from the service's clock as the profile says", async () => {
    user.write("quick.yaml", quickProfile.replace("settle: 300ms", "settle: 300ms\n  clock: 10m"));
    service.clock = (time) => new Date(Date.parse(time) - 600_000).toISOString();
    service.misbehave = ({ operation }) => (operation === "create" ? "cut-after" : undefined);
    expect(await untilDone()).toEqual([0]);
    expect(service.instances.size).toBe(3);
  });

  it("is lost, and its time is hours off: nothing is guessed, and none is made twice", async () => {
    service.clock = (time) => new Date(Date.parse(time) - 7_200_000).toISOString();
    service.misbehave = ({ operation }) => (operation === "create" ? "cut-after" : undefined);
    // Held back from the second run on: in doubt.
    expect(await untilDone()).toEqual([1, 4, 4]);
    expect(service.instances.size).toBe(3);
    const ids = [...service.instances.keys()];
    for (const [at, lost] of Object.keys(user.state("odd").intents).entries())
      expect(await user.run("import", lost, ids[at] ?? "")).toMatchObject({ code: 0 });
    service.behave();
    expect(await untilDone()).toEqual([0]);
    expect(service.instances.size).toBe(3);
  });
});

describe("what a service says", () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  const steering = /[\u0000-\u0008\u000b-\u001f\u007f\u009b\u202e]/;

  it("never steers the terminal: not a reason, an error, an id or a status", async () => {
    const evil = "\u001b[2J\u001b]0;owned\u0007red\u202edrow\u009b31m\r\nPlan: 0 to add";
    service.fate = () => ({ failed: evil });
    const failed = await user.run(...apply);
    expect(failed.code).toBe(1);
    const plan = await user.run("plan");
    service.fate = () => undefined;
    const body = JSON.stringify({
      name: evil,
      id: "x",
      message: evil,
      temporary: false,
      timeout: false,
      fault: false,
    });
    service.misbehave = ({ operation }) => (operation === "describe" ? { status: 403, body } : undefined);
    const refused = await user.run("plan", "--trace");
    expect(refused.code).toBe(1);
    for (const { out, err } of [failed, plan, refused]) expect(`${out}${err}`).not.toMatch(steering);
    expect(plan.out.trimEnd().split("\n").at(-1)).toMatch(
      /^Plan: \d+ to add, \d+ to change, \d+ to destroy\.$/,
    );
  });

  it.each<[string, Parameters<FakeService["misbehave"]>[0]["operation"], object, RegExp]>([
    [
      "a redirect is not followed",
      "describe",
      { status: 302, headers: { location: "http://127.0.0.1:1/" }, body: "" },
      /redirect/,
    ],
    [
      "17 MB are not read",
      "describe",
      { status: 200, body: `{"a":"${"x".repeat(17 * 1024 * 1024)}"}` },
      /larger than 16 MB/,
    ],
    ["a list that is none", "list", { status: 200, body: '{"ids":"all"}' }, /instance\.list/],
    ["no list at all", "list", { status: 200, body: "null" }, /instance\.list/],
    ["a sign-in without a token", "signin", { status: 200, body: "{}" }, /session token/],
  ])("%s: exit 1 in words", async (_, operation, mischief, words) => {
    await only();
    service.misbehave = (request) =>
      request.operation === operation ? { status: 200, ...mischief } : undefined;
    const { code, out, err } = await user.run("plan");
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(words);
    expect(err).not.toMatch(/\bat .*\.js:\d+|node:internal|did not expect/);
  });

  it("a new instance that describe and lists do not show yet is waited for", async () => {
    const born = Date.now();
    service.misbehave = ({ operation }) => {
      if (Date.now() - born > 2500) return undefined;
      if (operation === "describe") return { status: 404 };
      return operation === "list" ? { status: 200, body: '{"ids":[]}' } : undefined;
    };
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(service.instances.size).toBe(1);
    expect(actionsIn(await planned())).toEqual({});
  });
});

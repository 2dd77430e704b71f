import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { openWorkspace, until, type Workspace } from "../support/workspace.ts";

let user: Workspace;
let platform: LocalPlatform;
let round = 0;

/** The default service, but quicker to give up on what is lost. */
const quick = `
name: quick
extends: default
timing: { settle: 400ms, listLag: 900ms, poll: { first: 50ms, longest: 200ms } }
`;

beforeAll(async () => {
  user = openWorkspace();
  user.write("quick.yaml", quick);
  platform = await platformUp(user, "--engine", "none", "--delay", "100");
});

beforeEach(async () => {
  round += 1;
  await platform.faults();
  await platform.forget();
});
afterAll(() => user.close());

/** Three of one class, so that a lost create could be any of them; a name and a state of its own for each test. */
function write(description = "first words", count = 3): string {
  const name = `round-${round}`;
  const one = (n: number): string =>
    `  x${n}: { tier: startup, component: standalone, cloudProvider: aws, region: us-east-1, lifecycle: { protect: false }, config: { name: ${name}-${n}, description: ${description}, graphdbUser: app, graphdbPassword: some-password-1 } }\n`;
  const all = Array.from({ length: count }, (_, n) => one(n)).join("");
  user.write(
    "graphform.yaml",
    `apiVersion: graphform/v1\nname: ${name}\nservice: { profile: ./quick.yaml }\ninstances:\n${all}`,
  );
  return name;
}

const apply = ["apply", "--auto-approve"] as const;

/** How many creates were accepted, heard of or not. */
async function accepted(): Promise<number> {
  const creates = (await platform.requests()).filter(({ operation }) => operation === "create");
  return creates.filter(({ status }) => status === 202 || status === 0).length;
}

async function expectDone(name: string, count: number): Promise<void> {
  expect(Object.keys(user.state(name).resources)).toHaveLength(count);
  expect(user.state(name).intents).toEqual({});
  expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
}

/** How many instances there are in all. */
async function living(): Promise<number> {
  const status: { readonly instances: readonly unknown[] } = JSON.parse(
    await platform.control("GET", "status"),
  );
  return status.instances.length;
}

describe("a service that allows only so much", () => {
  it.each<[string, readonly JsonObject[]]>([
    ["4 requests at a time", [{ concurrent: 4, fault: { status: 429 } }, { fault: { latency: 10 } }]],
    ["30 a second", [{ perSecond: 30, fault: { status: 429 } }]],
    [
      "30 a second, and a pause of a second for whoever asks for more",
      [{ perSecond: 30, fault: { status: 429, retryAfter: 1 } }],
    ],
    ["one in twelve answered with 503", [{ probability: 0.08, seed: 5, fault: { status: 503 } }]],
    ["one in twenty cut off after a second", [{ probability: 0.05, seed: 5, fault: { hang: 1000 } }]],
    ["an old status for a second", [{ fault: { staleStatus: 1000 } }]],
  ])("%s: twelve instances, in one run, and the plan is empty", async (_, rules) => {
    const name = write("first words", 12);
    const before = await living();
    await platform.faults(...rules);
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    await platform.faults();
    await expectDone(name, 12);
    expect((await living()) - before).toBe(12);
  });
});

describe("creates on a bad day", () => {
  it.each<[string, JsonObject]>([
    ["every answer is lost", { operation: "create", fault: { reset: "after" } }],
    [
      "the first answer is lost, and lists lag",
      { operation: "create", count: 1, fault: { reset: "after", missingFromList: 800 } },
    ],
    ["the first request is lost", { operation: "create", count: 1, fault: { reset: "before" } }],
    [
      "the first answer is 500, and the work was done",
      { operation: "create", count: 1, fault: { status: 500, work: true } },
    ],
    [
      "the first answer is 500, and nothing was done",
      { operation: "create", count: 1, fault: { status: 500 } },
    ],
    [
      "the first answer is 503 with Retry-After",
      { operation: "create", count: 1, fault: { status: 503, retryAfter: 1 } },
    ],
    [
      "the first answer is 202 and nonsense",
      { operation: "create", count: 1, fault: { body: "<html>", work: true } },
    ],
    ["the service is full", { operation: "create", count: 4, fault: { status: 429, retryAfter: 0.2 } }],
    ["one in five requests fails", { probability: 0.2, seed: 7, fault: { status: 502 } }],
    ["one in five answers is lost", { probability: 0.2, seed: 8, fault: { reset: "after" } }],
  ])("%s: three instances, no more and no less", async (_, rule) => {
    const name = write();
    const before = await living();
    await platform.faults(rule);
    const ran = await user.run(...apply);
    await platform.faults();
    // What is not done in one run is done in the next; nothing is made twice.
    if (ran.code !== 0) expect(await user.run(...apply)).toMatchObject({ code: 0 });
    await expectDone(name, 3);
    expect((await living()) - before).toBe(3);
    const ids = Object.values(user.state(name).resources).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });

  it("429 slows everybody down, and nothing is sent in vain", async () => {
    const name = write();
    await platform.faults({ perSecond: 20, fault: { status: 429, retryAfter: 1 } });
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    await platform.faults();
    await expectDone(name, 3);
    expect(await accepted()).toBe(3);
  });
});

describe("changes on a bad day", () => {
  it.each<[string, JsonObject]>([
    ["the old status is shown for a while", { operation: "update", fault: { staleStatus: 300 } }],
    ["the first answer is lost", { operation: "update", count: 1, fault: { reset: "after" } }],
    ["the first request is lost", { operation: "update", count: 1, fault: { reset: "before" } }],
    [
      "the first answer is 500, and the work was done",
      { operation: "update", count: 1, fault: { status: 500, work: true } },
    ],
    ["the first answer is 409", { operation: "update", count: 1, fault: { status: 409 } }],
  ])("%s: the update arrives", async (_, rule) => {
    const name = write("first words", 1);
    await user.run(...apply);
    write("second words", 1);
    await platform.faults(rule);
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    await platform.faults();
    await expectDone(name, 1);
    expect(user.state(name).resources["instances.x0"]?.recorded).toMatchObject({
      "config.description": "second words",
    });
  });

  it("a create that never ends is exit 7 with --timeout, and can be destroyed", async () => {
    const name = write("first words", 1);
    await platform.faults({ operation: "create", fault: { stuck: true } });
    expect(await user.run(...apply, "--timeout", "1s")).toMatchObject({ code: 7 });
    await platform.faults();
    expect(user.state(name).resources["instances.x0"]).toMatchObject({ converging: { operation: "create" } });
    expect(await user.run("destroy", "--auto-approve", "--timeout", "10s")).toMatchObject({ code: 0 });
    expect(user.state(name).resources).toEqual({});
  });

  it.each<[string, JsonObject]>([
    ["the first answer is lost", { operation: "delete", count: 1, fault: { reset: "after" } }],
    [
      "the first answer is 500, and the work was done",
      { operation: "delete", count: 1, fault: { status: 500, work: true } },
    ],
    ["the first request is lost", { operation: "delete", count: 1, fault: { reset: "before" } }],
  ])("%s: the destruction is done", async (_, rule) => {
    const name = write("first words", 2);
    await user.run(...apply);
    await platform.faults(rule);
    expect(await user.run("destroy", "--auto-approve")).toMatchObject({ code: 0 });
    await platform.faults();
    expect(user.state(name).resources).toEqual({});
  });

  it("an instance that somebody deleted is said to be gone, and made anew", async () => {
    const name = write("first words", 1);
    await user.run(...apply);
    const other = openWorkspace();
    other.write("quick.yaml", quick);
    other.write("graphform.yaml", user.read("graphform.yaml"));
    Object.assign(other.env, {
      GRAPHFORM_USERNAME: "local@graphform.invalid",
      GRAPHFORM_PASSWORD: platform.password,
      GRAPHFORM_PLATFORM_URL: platform.url,
    });
    other.write(`.graphform/${name}.state.json`, user.read(`.graphform/${name}.state.json`));
    // Elsewhere it is known by its address alone.
    expect(await other.run("state", "rebind")).toMatchObject({ code: 0 });
    expect(await other.run("destroy", "--auto-approve")).toMatchObject({ code: 0 });
    await other.close();
    // Until then it might only not be shown yet.
    const plan = await until(async () => {
      const { out } = await user.run("plan");
      return out.includes("not shown yet") ? undefined : out;
    }, "the time after which what is not shown is gone");
    expect(plan).toMatch(/is gone: it was deleted outside graphform/);
    // It is all that the state binds: lost rights would look the same.
    expect(await user.run(...apply)).toMatchObject({
      code: 4,
      out: expect.stringContaining("--allow-destroy"),
    });
    const again = await user.run(...apply, "--allow-destroy", "instances.*");
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("1 added") });
    await expectDone(name, 1);
  });
});

import { hostname, userInfo } from "node:os";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { instance } from "../../src/kinds/instance.ts";
import { instanceParams } from "../../src/kinds/instance-operations.ts";
import { isObject } from "../../src/model/json.ts";
import { flatten } from "../../src/model/spec.ts";
import { type CuttingProxy, cuttingProxy, type Moment } from "../cuts/cutting-proxy.ts";
import { type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { dialects, inDefault, type Outsider, outsider } from "../support/local-service.ts";
import { openWorkspace, type Ran, type Running, type Workspace } from "../support/workspace.ts";

let user: Workspace;
let platform: LocalPlatform;
let proxy: CuttingProxy;
let spoken = inDefault;

// A service of its own for every test: what one left there would be looked at by the next, and shift its moments.
beforeEach(async () => {
  user = openWorkspace();
  platform = await platformUp(user, "--engine", "none", "--echo", "--delay", "150", ...spoken.platform);
  proxy = await cuttingProxy(platform.url);
  Object.assign(user.env, {
    GRAPHFORM_USERNAME: "local@graphform.invalid",
    GRAPHFORM_PASSWORD: platform.password,
    GRAPHFORM_PLATFORM_URL: proxy.url,
    GRAPHFORM_USERS_URL: proxy.url,
    GRAPHFORM_SUBSCRIPTION_ID: spoken.subscriptionId,
  });
});

afterEach(async () => {
  proxy.close();
  await user.close();
});

const apply = ["apply", "--auto-approve"] as const;
const stateFile = ".graphform/trusted.state.json";

/** So many instances, the first five of them of one class. */
function declare(count: number, words = "first words"): void {
  const one = (n: number): string =>
    `  x${n}: { tier: pro, component: ${n < 5 ? "standalone" : "single-zone"}, cloudProvider: aws, region: us-east-1, config: { name: x${n}, description: ${words}, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: some-password-1 } }\n`;
  const all = Array.from({ length: count }, (_, n) => one(n)).join("");
  user.write(
    "graphform.yaml",
    `apiVersion: graphform/v1\nname: trusted\nservice: { profile: ${spoken.profile} }\ninstances:\n${all}`,
  );
}

/** What the service has, by its own account: addresses and ids. */
async function there(): Promise<readonly (readonly [address: string, id: string])[]> {
  const status: { readonly instances: readonly { readonly id: string; readonly name: string }[] } =
    JSON.parse(await platform.control("GET", "status"));
  return status.instances.map(({ id, name }) => [`instances.${name}`, id] as const).toSorted();
}

function bound(): readonly (readonly [address: string, id: string])[] {
  const { resources } = user.state("trusted");
  return Object.entries(resources)
    .map(([address, { id }]) => [address, id] as const)
    .toSorted();
}

/** The state tells the truth: what is there is bound to its own address, or looked for under it; what is bound is there. */
async function expectTruth(hasBegun: boolean, isUntouched = false): Promise<void> {
  const { resources, intents } = user.state("trusted");
  const found = await there();
  if (hasBegun) expect(found).not.toEqual([]);
  if (isUntouched) expect(found).toEqual([]);
  const unknown = found.filter(([address, id]) => resources[address]?.id !== id && !(address in intents));
  expect(unknown).toEqual([]);
  expect(found).toEqual(expect.arrayContaining([...bound()]));
}

/** One more apply, by nobody's help, ends with exactly what is declared, and with nothing left to do. */
async function expectFinished(count: number): Promise<void> {
  expect(await user.run(...apply)).toMatchObject({ code: 0 });
  expect(bound()).toHaveLength(count);
  expect(await there()).toEqual(bound());
  expect(user.state("trusted").intents).toEqual({});
  expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
}

/** Starts an apply that gets this signal at its n-th request, and resolves once it was sent. */
async function applyUntil(n: number, moment: Moment, signal: NodeJS.Signals): Promise<Running> {
  const sent = Promise.withResolvers<void>();
  proxy.arm(n, moment, () => {
    running.child.kill(signal);
    sent.resolve();
  });
  const running = user.start(...apply);
  const early = running.ended.then(({ out, err }) => Promise.reject(new Error(`no signal: ${out}${err}`)));
  await Promise.race([sent.promise, early]);
  return running;
}

describe("an apply of eight instances is interrupted", () => {
  // The first five requests sign in and look; the sixth is the first create; from there on things happen side by side.
  it.each<[NodeJS.Signals, Moment, number]>([
    ["SIGINT", "answered", 3],
    ["SIGINT", "before", 6],
    ["SIGINT", "after", 6],
    ["SIGTERM", "answered", 12],
  ])("by %s (%s, request %i): exit 130, and the next one finishes", async (signal, moment, n) => {
    declare(8);
    const running = await applyUntil(n, moment, signal);
    const { code, out } = await running.ended;
    expect(code).toBe(130);
    // Before there is a plan there is nothing to tell of. What was in flight has been waited for, and is recorded.
    if (n > 3) expect(out).toContain("Apply incomplete.");
    if (moment === "answered") expect(user.state("trusted").intents).toEqual({});
    expect(user.has(`${stateFile}.lock`)).toBe(false);
    await expectTruth(n > 6 || (n === 6 && moment !== "before"), n < 6);
    await expectFinished(8);
  });
});

describe("two applies at once", () => {
  it("one finishes; the other is exit 5 and names who, where, which process, what and since when", async () => {
    declare(5);
    const before = Date.now();
    const running = await applyUntil(8, "answered", "SIGSTOP");
    const other = await user.run(...apply);
    expect(other).toMatchObject({ code: 5, out: "" });
    const who = `${userInfo().username}@${hostname()} (process ${running.child.pid})`;
    expect(other.err).toContain(`the state is locked: ${who} has held it for apply since `);
    const since = Date.parse(/since (\S+Z)/.exec(other.err)?.[1] ?? "");
    expect(since).toBeGreaterThanOrEqual(before);
    expect(since).toBeLessThan(Date.now());
    running.child.kill("SIGCONT");
    expect(await running.ended).toMatchObject({ code: 0 });
    await expectFinished(5);
  });

  it.each<[Moment, number]>([
    ["after", 6],
    ["answered", 14],
  ])("one is killed (%s, request %i): the next takes over", async (moment, n) => {
    declare(8);
    const running = await applyUntil(n, moment, "SIGKILL");
    expect(await running.ended).toMatchObject({ code: null });
    await expectTruth(true);
    await expectFinished(8);
  });
});

/** Path parameters of the databases that are declared here. */
function standalone({ service }: Outsider): ReturnType<typeof instanceParams> {
  return instanceParams({ tier: "pro", component: "standalone" }, service.profile);
}

describe.each(Object.entries(dialects))("in %s", (_name, dialect) => {
  beforeAll(() => {
    spoken = dialect;
  });
  afterAll(() => {
    spoken = inDefault;
  });

  describe("a saved plan of five updates", () => {
    it("runs once, and refuses the one step that was decided upon what has changed since", async () => {
      declare(5);
      await expectFinished(5);
      const words = async (id: string): Promise<unknown> => {
        const { values } = await other.read("instance.describe", { ...pro, id });
        const shown = values["resultParams"];
        return values["status"] === "RUNNING" && isObject(shown) ? shown["description"] : undefined;
      };
      const other = await outsider(user, spoken);
      const pro = standalone(other);
      const save = async (text: string): Promise<void> => {
        declare(5, text);
        expect(await user.run("plan", "--out", "five.plan")).toMatchObject({ code: 0 });
        await platform.forget();
      };
      const updates = async (): Promise<readonly unknown[]> =>
        (await platform.writes()).map(({ operation }) => operation);

      await save("second words");
      expect(await user.run("apply", "five.plan")).toMatchObject({ code: 0 });
      expect(await updates()).toEqual(["update", "update", "update", "update", "update"]);
      const again = await user.run("apply", "five.plan");
      expect(again).toMatchObject({ code: 6, err: expect.stringContaining("applied already") });
      expect(await updates()).toHaveLength(5);

      await save("third words");
      const id = user.state("trusted").resources["instances.x2"]?.id ?? "";
      const body = { requestParams: { description: "somebody else's" } };
      await other.write("instance.update", { ...pro, id }, body);
      await expect.poll(() => words(id), { timeout: 60_000 }).toBe("somebody else's");
      await platform.forget();
      const ran: Ran = await user.run("apply", "five.plan");
      expect(ran).toMatchObject({
        code: 6,
        out: expect.stringMatching(/instances\.x2.*config\.description/s),
      });
      expect(await updates()).toHaveLength(4);
      const shown = await Promise.all(bound().map(([, each]) => words(each)));
      expect(shown).toEqual(["third words", "third words", "somebody else's", "third words", "third words"]);
      await expectFinished(5);
    });
  });

  describe("a saved plan of two creates", () => {
    it("makes no second one of what somebody else has made since under that name", async () => {
      declare(2);
      expect(await user.run("plan", "--out", "two.plan")).toMatchObject({ code: 0 });
      const other = await outsider(user, spoken);
      const config = {
        name: "x1",
        nodeInstanceType: "m7g.large",
        graphdbUser: "app",
        graphdbPassword: "other-1",
      };
      const place = { tier: "pro", component: "standalone", cloudProvider: "aws", region: "us-east-1" };
      await instance
        .driver(other.service)
        .create(flatten({ ...place, config }), new AbortController().signal);
      expect(await user.run("apply", "two.plan")).toMatchObject({
        code: 6,
        out: expect.stringContaining("instances.x1"),
      });
      expect((await there()).map(([address]) => address)).toEqual(["instances.x0", "instances.x1"]);
      expect(bound().map(([address]) => address)).toEqual(["instances.x0"]);
    });
  });
});

describe("a saved replacement", () => {
  const declareOne = (cacheSize: number): void =>
    user.write(
      "graphform.yaml",
      `apiVersion: graphform/v1
name: trusted
service: { profile: ${spoken.profile} }
secrets: { word: { env: WORD } }
instances:
  x0:
    tier: pro
    component: standalone
    cloudProvider: aws
    region: us-east-1
    config: { name: x0, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.word}", graphDBCacheSize: ${cacheSize} }
    lifecycle: { protect: false, onReplace: recreate }
guards: { maxDisruption: data-loss, maxDeletes: 1 }
`,
    );

  it("deletes nothing that it could not create again, and is not used up", async () => {
    user.env["WORD"] = "some-password-1";
    declareOne(50);
    await expectFinished(1);
    declareOne(60);
    expect(await user.run("plan", "--out", "one.plan")).toMatchObject({ code: 0 });
    await platform.forget();
    const before = await there();

    user.env["WORD"] = "some-password-2";
    expect(await user.run("apply", "one.plan")).toMatchObject({
      code: 6,
      err: expect.stringContaining("a secret has changed since this plan was made: instances.x0"),
    });
    expect([await there(), await platform.writes()]).toEqual([before, []]);

    user.env["WORD"] = "some-password-1";
    expect(await user.run("apply", "one.plan")).toMatchObject({ code: 0 });
    expect(bound()).not.toEqual(before);
    await expectFinished(1);
  });
});

describe("a protected instance", () => {
  it.each([
    [0, "cannot be read as a state"],
    [9, "has what this graphform does not know: it has format 9"],
  ])("survives a state of format %i, and so does that state", async (version, words) => {
    declare(1);
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    const [before, whole] = [await there(), user.read(stateFile)];
    const foreign = JSON.stringify({ ...JSON.parse(whole), version });
    user.write(stateFile, foreign);
    await platform.forget();
    for (const command of [apply, ["destroy", "--auto-approve", "--allow-destroy", "instances.x0"]]) {
      expect(await user.run(...command)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`${stateFile} ${words}`),
      });
      expect(user.read(stateFile)).toBe(foreign);
    }
    expect([await there(), await platform.writes()]).toEqual([before, []]);
    user.write(stateFile, whole);
    await expectFinished(1);
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { openWorkspace, until, type Workspace } from "../support/workspace.ts";

let service: FakeService;
let user: Workspace;

beforeAll(async () => {
  service = await FakeService.start();
});

beforeEach(() => {
  service.behave();
  service.instances.clear();
  user = openWorkspace(manifest());
  Object.assign(user.env, service.env);
});
afterEach(() => user.close());
afterAll(() => service.close());

const names = ["a", "b", "c", "d", "e"];
const apply = ["apply", "--auto-approve"] as const;

/** Five instances of two classes. */
function manifest({ words = "first", region = "us-east-1", lifecycle = "" } = {}): string {
  const block = (name: string, at: number): string =>
    `  ${name}: { tier: pro, component: ${at % 2 === 0 ? "standalone" : "single-zone"}, cloudProvider: aws, region: ${region}, ${lifecycle}config: { name: ${name}, description: ${words}, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: a-password-of-some-length } }\n`;
  return `${head()}instances:\n${names.map(block).join("")}`;
}

function head(): string {
  return `apiVersion: graphform/v1\nname: many\nservice: { profile: default, platformUrl: "${service.url}" }\n`;
}

/** The state tells the truth: whatever is there is bound, or looked for by the next run. */
function expectKnown(): void {
  const { resources, intents } = user.state("many");
  const bound = new Set(Object.values(resources).map(({ id }) => id));
  const unknown = [...service.instances.keys()].filter((id) => !bound.has(id));
  expect(unknown.length).toBeLessThanOrEqual(Object.keys(intents).length);
}

async function expectDone(): Promise<void> {
  expect(await user.run(...apply)).toMatchObject({ code: 0 });
  expect(service.instances.size).toBe(names.length);
  expect(user.state("many")).toMatchObject({ intents: {} });
  expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
}

describe("an apply that ends early", () => {
  it.each([1, 2, 4, 7, 10, 13, 16, 19, 22, 25])(
    "by Ctrl-C or SIGTERM at request %i: exit 130 within 3 s, and the next one finishes",
    async (moment) => {
      service.duration = 400;
      let pressed = 0;
      const running = user.start(...apply);
      service.misbehave = () => {
        if (service.requests.length < moment || pressed > 0) return undefined;
        pressed = Date.now();
        running.child.kill(moment % 2 === 0 ? "SIGINT" : "SIGTERM");
        return undefined;
      };
      const ran = await running.ended;
      expect(pressed).toBeGreaterThan(0);
      expect(Date.now() - pressed).toBeLessThan(3000);
      expect(ran.code).toBe(130);
      expectKnown();
      await expectDone();
    },
  );

  it("by kill -9 leaves a lock that the next one takes over", async () => {
    service.duration = 400;
    const running = user.start(...apply);
    await until(() => service.instances.size > 1 || undefined, "the second create");
    const { pid = 0 } = running.child;
    const other = await user.run(...apply);
    expect(other).toMatchObject({ code: 5, out: "" });
    expect(other.err).toContain(`process ${pid}`);
    running.child.kill("SIGKILL");
    await running.ended;
    expectKnown();
    await expectDone();
  });
});

describe("a saved plan of five updates", () => {
  it("refuses the one step whose instance was changed meanwhile, does the others, and runs once", async () => {
    service.echo = true;
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    user.write("graphform.yaml", manifest({ words: "second" }));
    expect(await user.run("plan", "--out", "five.plan")).toMatchObject({ code: 0 });
    const changed = [...service.instances.values()].find(({ params }) => params["name"] === "c");
    if (changed === undefined) expect.fail();
    changed.params = { ...changed.params, description: "somebody else's" };
    service.forget();
    const ran = await user.run("apply", "five.plan");
    expect(ran).toMatchObject({ code: 6, out: expect.stringMatching(/instances\.c.*config\.description/s) });
    expect(service.writes()).toHaveLength(4);
    const words = [...service.instances.values()].map(({ params }) => params["description"]);
    expect(words.toSorted()).toEqual(["second", "second", "second", "second", "somebody else's"]);
    expect(await user.run("apply", "five.plan")).toMatchObject({ code: 6 });
  });
});

describe("a protected instance", () => {
  it.each<[string, () => readonly string[], number]>([
    [
      "survives the end of its block",
      () => {
        user.write("graphform.yaml", manifest().replace(/ {2}a: .*\n/, ""));
        return apply;
      },
      4,
    ],
    [
      "survives an empty file",
      () => {
        user.write("graphform.yaml", head());
        return apply;
      },
      4,
    ],
    ["survives destroy", () => ["destroy", "--auto-approve"], 4],
    [
      "survives a replacement, allowed as it is",
      () => {
        const lifecycle = "lifecycle: { protect: true, onReplace: recreate }, ";
        user.write("graphform.yaml", manifest({ region: "eu-west-1", lifecycle }));
        return [...apply, "--replace", "instances.a"];
      },
      4,
    ],
    [
      "survives another name of its block",
      () => {
        user.write("graphform.yaml", manifest().replace("  a: {", "  z: {").replace("name: a,", "name: z,"));
        return apply;
      },
      4,
    ],
    [
      "survives a state of an older format",
      () => {
        const state = JSON.parse(user.read(file));
        user.write(file, JSON.stringify({ ...state, version: 0 }));
        user.write("graphform.yaml", head());
        return ["destroy", "--auto-approve"];
      },
      1,
    ],
  ])("%s", async (_, prepare, code) => {
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    const before = [...service.instances.keys()];
    const command = prepare();
    service.forget();
    expect((await user.run(...command)).code).toBe(code);
    expect([...service.instances.keys()]).toEqual(expect.arrayContaining(before));
    expect(service.writes().filter(({ operation }) => operation === "delete")).toEqual([]);
  });
});

const file = ".graphform/many.state.json";

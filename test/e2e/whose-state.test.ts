import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { erroredText } from "../../src/state/errored-file.ts";
import { cuttingProxy } from "../cuts/cutting-proxy.ts";
import { FakeService } from "../support/fake-service.ts";
import { platformUp } from "../support/local-platform.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

const apply = ["apply", "--auto-approve"] as const;
const stateFile = ".graphform/owned.state.json";

/** A manifest of one free instance; `service` is its section. */
function manifest(service: string, description = "one"): string {
  return `apiVersion: graphform/v1
name: owned
${service}
instances:
  a:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: a, description: ${description}, graphdbUser: app, graphdbPassword: "\${env.OWNED_PASSWORD}" }
`;
}

let user: Workspace;

beforeEach(() => {
  user = openWorkspace();
  user.env["OWNED_PASSWORD"] = "a-password-of-tests";
});
afterEach(() => user.close());

describe("a state belongs to its service", () => {
  let service: FakeService;
  let other: FakeService;

  beforeEach(async () => {
    [service, other] = [await FakeService.start(), await FakeService.start()];
    Object.assign(user.env, service.env);
    user.write("mine.yaml", "name: mine\nextends: default\n");
    user.write("graphform.yaml", manifest(`service: { profile: mine.yaml, platformUrl: "${service.url}" }`));
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    service.forget();
  });
  afterEach(async () => {
    await service.close();
    await other.close();
  });

  /** Every command that would look for the state's objects. */
  const commands: readonly (readonly string[])[] = [
    ["plan"],
    apply,
    ["destroy", "--auto-approve"],
    ["instance", "restart", "instances.a"],
    ["import", "instances.a", "instance-x"],
    ["account", "bootstrap", "cloudAccounts.a"],
  ];

  /** Runs everything with these options and settings; nothing may be sent. */
  async function expectRefused(words: RegExp, env: Workspace["env"], ...options: readonly string[]) {
    Object.assign(user.env, env);
    for (const command of commands) {
      const ran = await user.run(...command, ...options);
      expect(ran, command.join(" ")).toMatchObject({ code: 1, err: expect.stringMatching(words) });
      expect(ran.err).toContain("graphform state rebind");
      expect(ran.err).toContain(stateFile);
    }
    expect([...service.requests, ...other.requests]).toEqual([]);
  }

  it.each([
    [
      "platform",
      /belongs to another service: platform http/,
      () => ({}),
      () => ["--platform-url", other.url],
    ],
    ["platform of the environment", /platform http/, () => ({ GRAPHFORM_PLATFORM_URL: other.url }), () => []],
    ["subscription", /subscription .*now sub-b/, () => ({ GRAPHFORM_SUBSCRIPTION_ID: "sub-b" }), () => []],
    ["subscription of an option", /subscription .*now sub-b/, () => ({}), () => ["--subscription", "sub-b"]],
  ])("another %s is refused before anything is sent", async (_, words, env, options) => {
    const before = user.read(stateFile);
    await expectRefused(words, env(), ...options());
    expect(user.read(stateFile)).toBe(before);
  });

  it.each([
    ["other keys", "keys: { provider: sp-other }", /provider key sp-default, now sp-other/],
    [
      "another environment in its paths",
      "prefixes: { component: '/2022-09-01-00/resource-instance/{provider}/{service}/v1/dev/{serviceModelKey}/{productTierKey}/{resourceKey}' }",
      /other paths or keys for instance\.describe/,
    ],
    ["another place of a tier", "tiers: { free: { productTierKey: pro } }", /for free\/free/],
  ])("a profile with %s is refused", async (_, words, said) => {
    const before = user.read(stateFile);
    user.write("mine.yaml", `name: mine\nextends: default\n${words}\n`);
    await expectRefused(said, {});
    expect(user.read(stateFile)).toBe(before);
  });

  it("a profile that has learned more, and thinks otherwise of times and types, is the same service", async () => {
    user.write(
      "mine.yaml",
      `name: renamed
extends: default
operations: { network.delete: "DELETE <networks>/{id}" }
tiers: { free: { components: { second: second } } }
statuses: { WARMING: pending }
timing: { settle: 1s, listLag: 1s }
instanceTypes: { aws: { x9.huge: { cpus: 64, memoryGB: 512 } } }
`,
    );
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });

  it("a saved plan is refused elsewhere, also one that was made before there was a state", async () => {
    user.write(
      "graphform.yaml",
      manifest(`service: { profile: mine.yaml, platformUrl: "${service.url}" }`, "two"),
    );
    for (const state of [stateFile, "fresh.json"]) {
      expect(await user.run("plan", "--out", "it.gfplan", "--state", state)).toMatchObject({ code: 0 });
      service.forget();
      const ran = await user.run(
        ...["apply", "it.gfplan", "--state", state, "--platform-url", other.url],
        ...["--users-url", other.url],
      );
      expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("belongs to another service") });
      expect([...service.requests, ...other.requests]).toEqual([]);
    }
  });

  it("a state of an earlier version is read, and knows its service from its next write on", async () => {
    const { service: known, ...earlier } = JSON.parse(user.read(stateFile));
    user.write(stateFile, JSON.stringify(earlier));
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    expect(JSON.parse(user.read(stateFile)).service).toBeUndefined();
    user.write(
      "graphform.yaml",
      manifest(`service: { profile: mine.yaml, platformUrl: "${service.url}" }`, "two"),
    );
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(JSON.parse(user.read(stateFile)).service).toEqual(known);
  });

  it("a state that binds nothing any more belongs to nobody", async () => {
    expect(await user.run("destroy", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await user.run("plan", "--platform-url", other.url)).toMatchObject({
      code: 0,
      out: expect.stringContaining("1 to add"),
    });
  });

  it("rebind takes it to another address of the same service, and to no other service", async () => {
    const before = user.read(stateFile);
    const refused = await user.run("state", "rebind", "--platform-url", other.url);
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/1 of 1 resources.*instances\.a/) });
    expect(user.read(stateFile)).toBe(before);

    const proxy = await cuttingProxy(service.url);
    const there = ["--platform-url", proxy.url];
    expect(await user.run("plan", ...there)).toMatchObject({ code: 1 });
    expect(await user.run("state", "rebind", ...there)).toMatchObject({
      code: 0,
      out: expect.stringContaining(`belongs to this manifest and to ${proxy.url} now`),
    });
    expect(await user.run("plan", "--detailed-exitcode", ...there)).toMatchObject({ code: 0 });
    expect(await user.run("plan")).toMatchObject({ code: 1 });
    expect(await user.run("state", "rebind", ...there)).toMatchObject({
      code: 0,
      out: "The state belongs to this service and this manifest already.\n",
    });
    proxy.close();
  });

  it("another account of the platform is refused, and nothing is made there, changed or forgotten", async () => {
    service.subscriptions = ["sub-a", "sub-team"];
    user.write(
      "graphform.yaml",
      manifest(`service: { profile: mine.yaml, platformUrl: "${service.url}" }`, "two"),
    );
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    const ours = new Map(service.instances);
    const before = user.read(stateFile);
    expect(JSON.parse(before).service.accountSubscriptions).toEqual(["sub-a", "sub-team"]);

    service.instances.clear();
    service.subscriptions = ["sub-x"];
    service.forget();
    for (const command of [["plan"], apply, ["destroy", "--auto-approve"], ["drift"]]) {
      const ran = await user.run(...command);
      expect(ran, command.join(" ")).toMatchObject({
        code: 1,
        err: expect.stringMatching(
          /belongs to another service: an account with .*sub-team, now one with sub-x/,
        ),
      });
    }
    expect(await user.run("state", "rebind")).toMatchObject({ code: 1 });
    expect([service.writes(), service.instances.size, user.read(stateFile)]).toEqual([[], 0, before]);

    for (const [id, instance] of ours) service.instances.set(id, instance);
    service.subscriptions = ["sub-b", "sub-team"];
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });

  it("a state that binds one object twice is refused, until one of the two is forgotten", async () => {
    const state = JSON.parse(user.read(stateFile));
    state.resources["instances.b"] = state.resources["instances.a"];
    user.write(stateFile, JSON.stringify(state));
    for (const command of [
      ["plan"],
      apply,
      ["destroy", "--auto-approve"],
      ["instance", "stop", "instances.a"],
    ])
      expect(await user.run(...command)).toMatchObject({
        code: 1,
        err: expect.stringMatching(
          /binds \S+ twice, at instances\.a and at instances\.b[\s\S]*state rm instances\.b/,
        ),
      });
    expect(service.writes()).toEqual([]);
    expect(await user.run("state", "rm", "instances.b")).toMatchObject({ code: 0 });
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });

  it("show says whose it is", async () => {
    expect((await user.run("show")).out).toContain(service.url);
    expect(JSON.parse((await user.run("state", "pull")).out).service.platform).toBe(service.url);
  });
});

describe("a state belongs to its manifest", () => {
  let service: FakeService;
  const at = (folder: string): readonly string[] => ["--chdir", folder];

  /** A manifest in a folder, whose state stands where that of all others stands. */
  function declare(folder: string, description: string, head = ""): void {
    const place = `service: { platformUrl: "${service.url}" }\nstate: { type: file, path: ${user.dir}/shared.json }`;
    user.write(`${folder}/graphform.yaml`, manifest(`${head}\n${place}`, description));
  }

  beforeEach(async () => {
    service = await FakeService.start();
    Object.assign(user.env, service.env);
    user.write("repository/.git/HEAD", "");
    declare("repository/envs/prod", "prod");
    declare("repository/envs/test", "test");
    expect(await user.run(...apply, ...at("repository/envs/prod"))).toMatchObject({ code: 0 });
    service.forget();
  });
  afterEach(() => service.close());

  it("refuses another folder with one name and one place, and changes nothing", async () => {
    const before = user.read("shared.json");
    const errored = JSON.parse(before);
    const kept = { where: `${user.dir}/shared.json`, state: errored, follows: [], created: [] };
    user.write("errored.json", erroredText(kept));
    for (const command of [
      ["plan"],
      apply,
      ["destroy", "--auto-approve"],
      ["drift"],
      ["import", "instances.b", "instance-x"],
      ["instance", "restart", "instances.a"],
      ["state", "mv", "instances.a", "instances.b"],
      ["state", "rm", "instances.a"],
      ["state", "restore", "none"],
      ["state", "restore", "current"],
      ["state", "migrate", "--to", `${user.dir}/elsewhere.json`],
      ["state", "push", `${user.dir}/errored.json`],
    ]) {
      const ran = await user.run(...command, ...at("repository/envs/test"));
      expect(ran, command.join(" ")).toMatchObject({
        code: 1,
        err: expect.stringMatching(/another manifest: envs\/prod\/graphform\.yaml.*, now envs\/test/),
      });
      expect(ran.err).toContain("graphform state rebind");
    }
    expect([service.requests, user.read("shared.json")]).toEqual([[], before]);
    const { out } = await user.run("doctor", ...at("repository/envs/test"));
    expect(out).toMatch(/failed\s+state: .*belongs to another manifest/);
  });

  it("refuses to begin with nothing if the document is gone and the last version was another manifest's", async () => {
    declare("repository/envs/prod", "two");
    expect(await user.run(...apply, ...at("repository/envs/prod"))).toMatchObject({ code: 0 });
    rmSync(join(user.dir, "shared.json"));
    const none = ["state", "restore", "none"];
    expect(await user.run(...none, ...at("repository/envs/test"))).toMatchObject({
      code: 1,
      err: expect.stringContaining("another manifest"),
    });
    expect(await user.run(...none, ...at("repository/envs/prod"))).toMatchObject({ code: 0 });
  });

  it("takes the same manifest of another working copy, and never knows where that stands", async () => {
    user.write("copy/.git", "gitdir: elsewhere");
    declare("copy/envs/prod", "prod");
    expect(await user.run("plan", "--detailed-exitcode", ...at("copy/envs/prod"))).toMatchObject({ code: 0 });
    expect(user.read("shared.json")).not.toContain(user.dir);
    expect(
      await user.run("plan", "--detailed-exitcode", ...at("copy/envs/prod"), "-f", "./graphform.yaml"),
    ).toMatchObject({ code: 0 });
  });

  it("follows one that was moved, once rebind says that it is the same", async () => {
    const there = at("repository/envs/test");
    declare("repository/envs/test", "prod");
    expect(await user.run("plan", ...there)).toMatchObject({ code: 1 });
    expect(await user.run("state", "rebind", ...there)).toMatchObject({ code: 0 });
    expect(await user.run("plan", "--detailed-exitcode", ...there)).toMatchObject({ code: 0 });
    expect(await user.run("plan", ...at("repository/envs/prod"))).toMatchObject({ code: 1 });
  });

  it("goes by a declared environment, wherever it stands, and in whichever layer", async () => {
    declare("repository/envs/prod", "prod", "environment: prod");
    declare("repository/envs/test", "test");
    user.write("repository/envs/prod/more.yaml", "instances: { a: { config: { description: more } } }\n");
    expect(await user.run(...apply, ...at("repository/envs/prod"))).toMatchObject({ code: 0 });
    expect(
      await user.run(...apply, ...at("repository/envs/prod"), "-f", "graphform.yaml", "-f", "more.yaml"),
    ).toMatchObject({ code: 0 });
    expect(JSON.parse(user.read("shared.json")).manifest).toEqual({
      environment: "prod",
      paths: ["envs/prod/graphform.yaml", "envs/prod/more.yaml"],
    });
    user.write("repository/envs/test/layer.yaml", "environment: test\n");
    const layered = [...at("repository/envs/test"), "-f", "graphform.yaml", "-f", "layer.yaml"];
    expect(await user.run("plan", ...layered)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/environment prod\), now .*environment test/),
    });
    declare("moved", "more", "environment: prod");
    expect(await user.run("plan", "--detailed-exitcode", ...at("moved"))).toMatchObject({ code: 0 });
  });

  it("blocks the end of what only a file declares that was not given, and remembers that file until rebind", async () => {
    const folder = at("repository/envs/prod");
    const layers = ["-f", "graphform.yaml", "-f", "more.yaml"];
    const free = "tier: free, component: free, cloudProvider: aws, region: us-east-1";
    const login = 'graphdbUser: app, graphdbPassword: "${env.OWNED_PASSWORD}"';
    user.write(
      "repository/envs/prod/more.yaml",
      `instances: { b: { ${free}, config: { name: b, ${login} } } }\n`,
    );
    const paths = () => JSON.parse(user.read("shared.json")).manifest.paths;
    expect(await user.run(...apply, ...folder, ...layers)).toMatchObject({ code: 0 });
    // The rest of the plan is applied, and the file stays remembered, run after run.
    declare("repository/envs/prod", "changed");
    for (const code of [4, 4]) {
      const ran = await user.run(...apply, ...folder);
      expect(ran).toMatchObject({ code });
      expect(ran.out).toMatch(/not given now:\s+envs\/prod\/more\.yaml[\s\S]*state\s+rebind/);
      expect(paths()).toEqual(["envs/prod/graphform.yaml", "envs/prod/more.yaml"]);
    }
    expect(await user.run("plan", "--detailed-exitcode", ...folder, ...layers)).toMatchObject({ code: 0 });
    expect(await user.run(...apply, ...folder, "--target", "instances.a")).toMatchObject({ code: 0 });
    expect(paths()).toHaveLength(2);
    expect(await user.run("state", "rebind", ...folder)).toMatchObject({ code: 0 });
    expect(paths()).toEqual(["envs/prod/graphform.yaml"]);
    expect(await user.run(...apply, ...folder)).toMatchObject({ code: 0 });
    expect(service.writes().filter((write) => write.method === "DELETE")).toHaveLength(1);
  });

  it("forgets a file that was not given once the others declare everything", async () => {
    const folder = at("repository/envs/prod");
    user.write("repository/envs/prod/more.yaml", "instances: { a: { config: { description: more } } }\n");
    expect(await user.run(...apply, ...folder, "-f", "graphform.yaml", "-f", "more.yaml")).toMatchObject({
      code: 0,
    });
    expect(await user.run(...apply, ...folder)).toMatchObject({ code: 0 });
    expect(JSON.parse(user.read("shared.json")).manifest.paths).toEqual(["envs/prod/graphform.yaml"]);
  });

  it("is looked for among several manifests of one command: none shares a place with another", async () => {
    const both = [...at("repository/envs/prod"), ...at("repository/envs/test")];
    for (const command of ["validate", "plan", "drift"]) {
      const ran = await user.run(command, ...both);
      expect(ran, command).toMatchObject({
        code: 1,
        err: expect.stringMatching(/envs\/prod and repository\/envs\/test keep their states in one place/),
      });
    }
  });
});

describe("a state of the local platform", () => {
  const up = ["--engine", "none", "--delay", "5"] as const;

  beforeEach(() => user.write("graphform.yaml", manifest("")));

  it("goes on after down and up, whatever the port is", async () => {
    const first = await platformUp(user, ...up);
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    await user.run("platform", "down");
    const second = await platformUp(user, ...up, "--port", String(await otherPort(first.url)));
    expect(second.url).not.toBe(first.url);
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });

  it("is refused at one whose data was wiped, and nothing is created there", async () => {
    await platformUp(user, ...up);
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    await user.run("platform", "down");
    rmSync(join(user.dir, ".graphform", "platform"), { recursive: true });
    const wiped = await platformUp(user, ...up);
    const ran = await user.run(...apply);
    expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(/created again[\s\S]*--state/) });
    expect(await wiped.requests()).toEqual([]);
    expect(await user.run("state", "rebind")).toMatchObject({ code: 1 });
  });
});

/** A port that is free now and is not that of the URL. */
async function otherPort(url: string): Promise<number> {
  const { createServer } = await import("node:net");
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return String(port) === new URL(url).port ? otherPort(url) : port;
}

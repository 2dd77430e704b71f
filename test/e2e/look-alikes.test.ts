import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { type CloudBench, cloudBench } from "../commands/cloud-bench.ts";
import { FakeService } from "../support/fake-service.ts";
import { quickProfile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

/** Creates of others that are the same in everything but their name and tags, made in the same second. */
const others = 50;

describe("a create at the vendor's service whose answer is lost among fifty look-alikes", () => {
  const manifest = `instances:
  one:
    tier: pro
    component: single-zone
    cloudProvider: aws
    region: us-east-1
    config: { name: one, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`;

  /** Answers nothing to the first create; `tagged` makes the tags that each object shows of those that it was made with. */
  function lose({ cloud }: CloudBench, tagged: (tags: Json, at: number) => Json): void {
    let isLost = false;
    cloud.meddle = ({ method, url, body }) => {
      if (method !== "POST" || !/single-Zone\?/.test(url) || isLost) return undefined;
      isLost = true;
      const {
        requestParams = {},
        customTags = null,
        ...top
      }: { readonly [name: string]: Json } = JSON.parse(body);
      const created_at = new Date().toISOString();
      for (let at = 0; at <= others; at += 1) {
        const shown: JsonObject = {
          ...top,
          created_at,
          result_params: requestParams,
          customTags: tagged(customTags, at),
        };
        cloud.instances.push({ id: `instance-${at * 7}`, tier: "pro", resource: "single-Zone", shown });
      }
      return "cut";
    };
  }
  const ours = 23;

  it.each<[string, (tags: Json, at: number) => Json]>([
    ["have no tags", (tags, at) => (at === ours ? tags : [])],
    ["show none", (tags, at) => (at === ours ? tags : null)],
    [
      "carry those of another state",
      (tags, at) =>
        at === ours
          ? tags
          : [
              { key: "graphform-state", value: `other-${at}` },
              { key: "graphform-address", value: "instances.one" },
            ],
    ],
  ])("that %s is bound by its tags, and nothing is made twice", async (_, tagged) => {
    const bench = await cloudBench(manifest);
    lose(bench, tagged);
    const ran = await bench.gf("apply", "--auto-approve");
    expect(ran.code, ran.out + ran.err).toBe(0);
    expect(bench.cloud.instances).toHaveLength(others + 1);
    expect(await bench.read("state.json")).toContain(`"instance-${ours * 7}"`);
    expect((await bench.gf("plan", "--detailed-exitcode")).code).toBe(0);
  });

  it.each<[string, Json]>([
    ["drops all tags", []],
    ["shows no tags", null],
  ])("at a service that %s: none is guessed, and none is made again", async (_, tags) => {
    const bench = await cloudBench(manifest);
    lose(bench, () => tags);
    for (const code of [1, 4]) {
      const ran = await bench.gf("apply", "--auto-approve");
      expect(ran.code, ran.out + ran.err).toBe(code);
      expect(ran.out + ran.err).toMatch(
        /neither time nor mark proves|nothing tells which of the new objects are theirs/,
      );
      expect(bench.cloud.instances).toHaveLength(others + 1);
    }
    expect((await bench.gf("import", "instances.one", "instance-161")).code).toBe(0);
    expect((await bench.gf("apply", "--auto-approve")).code).toBe(0);
    expect(bench.cloud.instances).toHaveLength(others + 1);
  });
});

describe("a create at the specification's service whose answer is lost among fifty look-alikes", () => {
  let service: FakeService;
  let user: Workspace;
  beforeEach(async () => {
    service = await FakeService.start();
    user = openWorkspace(`
apiVersion: graphform/v1
name: alike
service: { profile: ./quick.yaml, platformUrl: "${service.url}" }
instances:
  one: { tier: pro, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: one, nodeInstanceType: m7g.large, graphdbUser: app } }
`);
    user.write("quick.yaml", quickProfile);
    Object.assign(user.env, service.env);
  });
  afterEach(async () => {
    user.close();
    await service.close();
  });

  function lose(name: (at: number) => string): void {
    service.misbehave = ({ operation }) => (operation === "create" ? "cut-after" : undefined);
    service.fate = (operation, { id, ...made }) => {
      if (operation !== "create") return undefined;
      for (let at = 1; at <= others; at += 1)
        service.instances.set(`${id}-${at}`, {
          ...made,
          id: `${id}-${at}`,
          status: "RUNNING",
          params: { ...made.params, name: name(at) },
        });
      return undefined;
    };
  }

  it("is found by its name where the service shows one", async () => {
    service.echo = true;
    lose((at) => `other ${at}`);
    const ran = await user.run("apply", "--auto-approve");
    expect(ran.code, ran.out + ran.err).toBe(0);
    expect(service.instances.size).toBe(others + 1);
    expect((await user.run("plan", "--detailed-exitcode")).code).toBe(0);
  });

  it("is not guessed where nothing is shown that tells them apart, and none is made again", async () => {
    lose(() => "one");
    for (const code of [1, 4]) {
      const ran = await user.run("apply", "--auto-approve");
      expect(ran.code, ran.out + ran.err).toBe(code);
      expect(ran.out + ran.err).toMatch(/nothing tells which of the new objects are theirs/);
      expect(service.instances.size).toBe(others + 1);
    }
  });
});

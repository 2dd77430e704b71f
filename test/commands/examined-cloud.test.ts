import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import type { Reply, Seen } from "../hosting/listen.ts";
import { type CloudBench, cloudBench } from "./cloud-bench.ts";

const pro = `instances:
  one:
    tier: pro
    component: single-zone
    cloudProvider: aws
    region: us-east-1
    config: { name: one, nodeInstanceType: m6i.large, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`;

async function bound(shown: JsonObject = {}): Promise<CloudBench> {
  const bench = await cloudBench(pro);
  const ran = await bench.gf("apply", "--auto-approve");
  expect(ran.code, ran.err).toBe(0);
  show(bench, shown);
  return bench;
}

function show({ cloud }: CloudBench, shown: JsonObject): void {
  const [instance] = cloud.instances;
  if (instance !== undefined) cloud.instances[0] = { ...instance, shown: { ...instance.shown, ...shown } };
}

const posted =
  (path: RegExp, reply: Reply) =>
  ({ method, url }: Seen): Reply | undefined =>
    method === "POST" && path.test(url) ? reply : undefined;

describe("an upgrade", () => {
  it.each([
    ["that left the version as it was is not said to be complete", "1.0", 1, /shows version 1\.0 after/],
    ["that shows its version is complete", "2.0", 0, /upgrade complete/],
    ["whose version is not shown is complete as far as anybody sees", undefined, 0, /upgrade complete/],
  ] as const)("%s", async (_, version, code, says) => {
    const bench = await bound(version === undefined ? {} : { tierVersion: version });
    bench.cloud.meddle = posted(/version-upgrade/, { status: 202 });
    const ran = await bench.gf("instance", "upgrade", "instances.one", "--to", "2.0");
    expect(ran.out + ran.err).toMatch(says);
    expect(ran.code).toBe(code);
  });
});

it("says that a restore is unknown where the answer names no instance", async () => {
  const bench = await bound();
  bench.cloud.meddle = posted(/\/restore/, { status: 202, body: {} });
  const ran = await bench.gf("instance", "restore", "instances.one", "--to", "2026-01-01T00:00:00Z");
  expect(ran.err).toMatch(/not known whether instances\.one is being restored/);
  expect(ran.code).toBe(1);
});

describe("a database that is being deleted", () => {
  it("is left out of import --all, and named", async () => {
    const bench = await bound({ status: "DELETING" });
    const [file, state] = [`${bench.folder}/all.yaml`, `${bench.folder}/all.json`];
    const ran = await bench.bare("import", "--all", "--out", file, "--state", state);
    expect(ran.err).toMatch(/left out instance-1: it is being deleted/);
    expect(await bench.read("all.yaml")).not.toMatch(/tier: pro/);
  });

  it("is not bound by import", async () => {
    const bench = await bound({ status: "DELETING" });
    const [file, state] = [`${bench.folder}/graphform.yaml`, `${bench.folder}/other.json`];
    const ran = await bench.bare("import", "instances.one", "instance-1", "-f", file, "--state", state);
    expect(ran.err).toMatch(/instance-1 is being deleted/);
    expect(ran.code).toBe(1);
  });
});

it("takes a list that leaves itself out for an empty one", async () => {
  const bench = await cloudBench(pro);
  bench.cloud.meddle = ({ method, url }) =>
    method === "GET" && /single-Zone(\?|$)|custom-network/.test(url) && bench.cloud.instances.length === 0
      ? { body: {} }
      : undefined;
  const ran = await bench.gf("apply", "--auto-approve");
  expect(ran.code, ran.err).toBe(0);
});

it("neither makes a second database nor takes another's where the service drops the tags of a lost create", async () => {
  const bench = await cloudBench(pro);
  bench.cloud.meddle = ({ method, url, body }) => {
    if (method !== "POST" || !/single-Zone/.test(url)) return undefined;
    const { requestParams }: { requestParams: JsonObject } = JSON.parse(body);
    const shown = { customTags: [], result_params: requestParams, created_at: new Date().toISOString() };
    bench.cloud.instances.push({ id: "instance-1", tier: "pro", resource: "single-Zone", shown });
    return { status: 502, body: { message: "bad gateway" } };
  };
  const ran = await bench.gf("apply", "--auto-approve");
  expect(ran.err + ran.out).toMatch(/nothing tells which of the new objects are theirs: instance-1/);
  expect(ran.code).toBe(1);
  expect(bench.cloud.instances).toHaveLength(1);
});

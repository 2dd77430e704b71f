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
  expect(ran.err + ran.out).toMatch(
    /neither time nor mark proves whether these are theirs: instance-1 \(created /,
  );
  expect(ran.code).toBe(1);
  expect(bench.cloud.instances).toHaveLength(1);
});

const importAll = ({ bare, folder }: CloudBench): ReturnType<CloudBench["bare"]> =>
  bare("import", "--all", "--out", `${folder}/a.yaml`, "--state", `${folder}/a.json`);

describe("import --all", () => {
  it("goes on without a database that has failed, and names it", async () => {
    const bench = await bound({ status: "FAILED" });
    const shown = { result_params: { name: "two", nodeInstanceType: "m6i.large", falkordbUser: "app" } };
    bench.cloud.instances.push({ id: "instance-2", tier: "pro", resource: "single-Zone", shown });
    const ran = await importAll(bench);
    expect(ran.code, ran.err).toBe(0);
    expect(ran.err).toMatch(/left out instance-1: it is FAILED/);
    expect(ran.err).toMatch(/users of databases are left out; add --users to import them/);
    expect(await bench.read("a.yaml")).toMatch(/two:/);
  });

  it.each(["__proto__", "a.b"])("says of the tag %s that it cannot be declared", async (key) => {
    const bench = await bound({
      customTags: [
        { key, value: "x" },
        { key: "team", value: "blue" },
      ],
    });
    const ran = await importAll(bench);
    expect(ran.code, ran.err).toBe(0);
    expect(await bench.read("a.yaml")).toMatch(/team: blue/);
    expect(await bench.read("a.yaml")).toContain(`customTags.${key} cannot be declared`);
  });
});

it.each(["internal-thing", "gone"])(
  "gives up no node of an entry that is no database: %s",
  async (resourceKey) => {
    const nodes = (id: string, healthStatus: string): JsonObject[] => [{ id, healthStatus, role: "PRIMARY" }];
    const topology = {
      x: { resourceKey, hasCompute: true, disabled: true, nodes: nodes("odd-0", "UNHEALTHY") },
      y: {
        resourceKey: "node-sz",
        hasCompute: true,
        nodes: [...nodes("node-0", "HEALTHY"), { id: "node-1" }],
      },
    };
    const bench = await bound({ detailedNetworkTopology: topology });
    bench.cloud.meddle = posted(/failover/, { status: 202 });
    const ran = await bench.gf("instance", "failover", "instances.one");
    expect(ran.code, ran.err).toBe(0);
    const sent = bench.cloud.service.seen.filter(({ url }) => /failover/.test(url));
    expect(sent.map(({ body }) => body).join()).toMatch(/node-0/);
  },
);

it("names the subscription of a snapshot that shows none", async () => {
  const bench = await bound();
  const snapshot = { snapshotId: "snapshot-1", status: "COMPLETE", sourceInstanceId: "instance-1" };
  bench.cloud.meddle = ({ method, url }) =>
    /\/snapshot/.test(url)
      ? {
          status: 202,
          body:
            method === "GET" && !/snapshot-1/.test(url)
              ? { snapshots: [snapshot] }
              : { ...snapshot, instanceId: "instance-2" },
        }
      : undefined;
  const ran = await bench.gf("snapshot", "restore", "snapshot-1");
  expect(ran.code, ran.err).toBe(0);
  const sent = bench.cloud.service.seen.filter(
    ({ method, url }) => method === "POST" && /\/restore/.test(url),
  );
  expect(sent.map(({ url }) => url).join()).toMatch(/subscriptionId=sub-pro/);
});

it("says of a refused restore that it was refused", async () => {
  const bench = await bound();
  bench.cloud.meddle = posted(/\/restore/, { status: 400, body: { message: "no backups here" } });
  const ran = await bench.gf("instance", "restore", "instances.one", "--to", "2026-01-01T00:00:00Z");
  expect(ran.err).toMatch(/the service refused to restore instances\.one: .*no backups here/);
  expect(ran.code).toBe(1);
});

it("asks for no setting that the service does not have, and for no engine that nothing needs", async () => {
  const bench = await bound();
  expect((await bench.gf("validate")).err).not.toMatch(/enableEnterpriseModule/);
  expect((await bench.gf("doctor")).out).not.toMatch(/failed +local engine/);
});

it("says the way out where the service keeps what it was to delete", async () => {
  const bench = await bound();
  bench.cloud.meddle = ({ method }) =>
    method === "DELETE" ? { status: 409, body: { message: "deletion protection" } } : undefined;
  const ran = await bench.gf("destroy", "--auto-approve", "--allow-destroy", "instances.one");
  expect(ran.out + ran.err).toMatch(/declare deletionProtection: false, apply that, then delete it/);
  expect(ran.code).toBe(1);
});

it.each([
  [40, 7, false],
  [undefined, 0, true],
  [100, 0, true],
])(
  "waits with a deletion for a snapshot that is COMPLETE and shows a progress of %s",
  async (progress, code, deletes) => {
    const guarded = `${pro}    lifecycle: { protect: false, onDelete: backup }\n`;
    const bench = await cloudBench(guarded);
    expect((await bench.gf("apply", "--auto-approve")).code).toBe(0);
    let made: JsonObject[] = [];
    bench.cloud.meddle = ({ method, url }) => {
      if (!/\/snapshot/.test(url)) return undefined;
      const createdTime = new Date().toISOString();
      const snapshot = {
        snapshotId: "snapshot-1",
        status: "COMPLETE",
        sourceInstanceId: "instance-1",
        createdTime,
      };
      if (method === "POST") made = [{ ...snapshot, ...(progress === undefined ? {} : { progress }) }];
      return method === "POST"
        ? { status: 202, body: { snapshotId: "snapshot-1" } }
        : { body: { snapshots: made } };
    };
    const ran = await bench.gf("destroy", "--auto-approve", "--timeout", "1s");
    expect(ran.code, ran.out + ran.err).toBe(code);
    expect(bench.cloud.service.seen.some(({ method }) => method === "DELETE")).toBe(deletes);
    if (!deletes) expect(ran.out + ran.err).toMatch(/snapshot-1 is COMPLETE 40 %/);
  },
);

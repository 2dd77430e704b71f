import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createService } from "../../src/hosting/client.ts";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { openConnections, type WireRequest, type WireResponse } from "../../src/hosting/wire/transport.ts";
import { systemClock } from "../../src/model/clock.ts";
import { isServiceError } from "../../src/model/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Driver } from "../../src/model/kind.ts";
import type { Live, Ref } from "../../src/model/observed.ts";
import { flatten } from "../../src/model/spec.ts";
import { always, until, untilReady } from "../conformance/benches.ts";
import { createReferents, type Sample, samples } from "../conformance/samples.ts";
import { poll, startTest, type TestPlatform } from "../platform/harness.ts";
import { fullProfile } from "../support/local-service.ts";
import { until as eventually } from "../support/workspace.ts";
import { readContract } from "./contract.ts";

const contracts = { platform: readContract("platform.yaml"), users: readContract("users.yaml") };

let platform: TestPlatform;
let service: ReturnType<typeof createService>;
const connections = openConnections();
/** Every answer, in its order. */
const answered: (readonly [WireRequest, WireResponse])[] = [];

beforeAll(async () => {
  platform = await startTest({
    echo: true,
    networks: "full",
    usersPerMinute: 100_000,
    delays: 1,
    now: () => now,
  });
  const profile = await loadProfile(fullProfile);
  service = createService({
    // The vendor changes by PATCH; the platform takes both.
    profile: { ...profile, operations: { ...profile.operations, ...patched(profile.operations) } },
    platformUrl: platform.platform.url,
    subscriptionId: "sub-1",
    credentials: platform,
    clock: { ...systemClock, now: () => now, sleep: (_ms, signal) => systemClock.sleep(1, signal) },
    transport: async (request, signal) => {
      const response = await connections.send(request, signal);
      answered.push([request, response]);
      return response;
    },
  });
});
afterAll(async () => {
  await service.close();
  connections.close();
  await platform.close();
});

let now = Date.now();

function patched(operations: Awaited<ReturnType<typeof loadProfile>>["operations"]): typeof operations {
  const update = operations["instance.update"];
  return update === undefined ? {} : { "instance.update": { ...update, method: "PATCH" } };
}

/** What is wrong with the answers since the last look, each with its operation and status. */
function faults(): readonly string[] {
  const seen = answered.splice(0);
  expect(seen.length).toBeGreaterThan(0);
  return seen.flatMap(([request, response]) => {
    const contract = request.path.startsWith("/v1/") ? contracts.users : contracts.platform;
    met.add(contract.operationOf(request.method, request.path) ?? request.path);
    return contract
      .answerFaults(request, response)
      .map((fault) => `${request.operation} ${response.status}: ${fault}`);
  });
}

/** Operations of the documents that an answer was seen of. */
const met = new Set<string>();

async function refused(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => "taken",
    (thrown: unknown) => thrown,
  );
  return isServiceError(error) ? `${error.status}` : String(error);
}

function named(name: string): Sample {
  return samples.find(({ kind }) => kind.name === name) ?? expect.fail(`no sample of ${name}`);
}

describe("every answer of the local platform is one of the vendor's API", () => {
  it.each(["instances", "networks", "users"])(
    "%s: created with every field, seen, listed, changed, deleted, asked for again",
    async (name) => {
      const sample = named(name);
      if (name === "instances") void person();
      const referents = await createReferents(sample, service);
      const driver = sample.kind.driver(service);
      for (const make of sample.specs) {
        const spec = make(referents);
        const ref = { id: await driver.create(spec, always), place: sample.kind.place(spec) };
        await untilReady(driver, ref);
        await driver.list(ref.place, always);
        for (const { path, value } of spec === sample.specs[0]?.(referents)
          ? []
          : sample.changes.filter(({ path }) => Object.hasOwn(spec, path))) {
          await driver.update(ref, { [path]: value }, always);
          await untilReady(driver, ref);
        }
        await gone(driver, ref);
        expect(await refused(driver.delete(ref, always))).toMatch(/404|500/);
      }
      expect(faults()).toEqual([]);
    },
  );

  it("an account of each cloud: while it waits, with its configuration, once it is set up, while it is given back", async () => {
    const sample = named("cloudAccounts");
    const driver = sample.kind.driver(service);
    for (const make of sample.specs) {
      const spec = make({ network: "", configId: "", instance: "" });
      const ref = { id: await driver.create(spec, always), place: {} };
      const waiting = await until(driver, ref, (live) => live?.phase.is === "waiting-for-person");
      expect(waiting?.outputs["bootstrap"]).toMatch(/bootstrap|template/);
      await platform.call("POST", `/_platform/accounts/${ref.id}/bootstrap`);
      await untilReady(driver, ref);
      await driver.delete(ref, always);
      await until(driver, ref, (live) => live?.phase.is === "waiting-for-person");
      expect(await refused(driver.delete(ref, always))).toBe("409");
      await platform.call("POST", `/_platform/accounts/${ref.id}/offboard`);
      await gone(driver, ref);
    }
    await driver.list({}, always);
    expect(faults()).toEqual([]);
  });

  it("lifecycle operations, snapshots, copies, restores", async () => {
    const [driver, pair] = await running("single-zone");
    for (const verb of ["stop", "start", "restart", "failover", "backup"]) {
      await driver.operate(pair, verb, always);
      await until(driver, pair, (live) => live?.phase.is === (verb === "stop" ? "stopped" : "ready"));
    }
    const place = {
      serviceModelKey: "hosted",
      productTierKey: "pro",
      resourceKey: "single-zone",
      id: pair.id,
    };
    const own = async (): Promise<JsonObject> => {
      const { items } = (await service.read({ operation: "instance.snapshots", params: place }, always))
        .values;
      const [first] = Array.isArray(items) ? items : [];
      return JSON.parse(JSON.stringify(first ?? {}));
    };
    const id = String(
      (await poll(async () => ((await own())["status"] === "completed" ? own() : undefined), "the snapshot"))[
        "snapshotId"
      ],
    );
    await service.read({ operation: "snapshot.describe", params: { id } }, always);
    await service.write({ operation: "snapshot.create", params: {}, body: { instanceId: pair.id } }, always);
    await service.write(
      { operation: "snapshot.copy", params: { id }, body: { targetRegion: "eu-west-1" } },
      always,
    );
    await until(driver, pair, (live) => live?.phase.is === "ready");
    await service.write(
      {
        operation: "instance.copy-snapshot",
        params: place,
        body: { targetRegion: "eu-west-1", sourceSnapshotId: id },
      },
      always,
    );
    await service.read({ operation: "snapshot.list", params: {} }, always);
    const { values } = await service.write(
      { operation: "snapshot.restore", params: { id }, body: {} },
      always,
    );
    const restored: Ref = { id: String(values["id"]), place: pair.place };
    await untilReady(driver, restored);
    // Its copies are made from it.
    await eventually(async () => {
      const listed = await service.read({ operation: "snapshot.list", params: {} }, always);
      return !JSON.stringify(listed).includes('"pending"') || undefined;
    }, "the copies to be complete");
    await service.write({ operation: "snapshot.delete", params: { id } }, always);
    expect(await refused(service.read({ operation: "snapshot.describe", params: { id } }, always))).toBe(
      "404",
    );
    await gone(driver, restored);
    await gone(driver, pair);
    expect(faults()).toEqual([]);
  });

  it("plans and subscriptions", async () => {
    await service.read({ operation: "plans.list", params: {} }, always);
    await service.read({ operation: "subscriptions.list", params: {} }, always);
    const all = await platform.call("GET", "/2022-09-01-00/resource-instance?environmentType=PROD");
    const contentType = all.headers.get("content-type") ?? "";
    const response = { status: all.status, headers: { "content-type": contentType }, body: all.text };
    expect(
      contracts.platform.answerFaults({ method: "GET", path: "/2022-09-01-00/resource-instance" }, response),
    ).toEqual([]);
    met.add("listAllResourceInstances");
    expect(faults()).toEqual([]);
  });

  it("refusals: of bad fields, of fixed ones, of what is not there, of a wrong status, of a wrong user", async () => {
    const [driver, ref] = await running("standalone");
    const bad = {
      tier: "pro",
      component: "standalone",
      cloudProvider: "aws",
      region: "us-east-1",
      "config.graphDBCacheSize": 9999,
    };
    expect(await refused(driver.create(bad, always))).toBe("400");
    expect(await refused(driver.update(ref, { "config.graphDBCacheSize": 30 }, always))).toBe("400");
    expect(await refused(driver.operate(ref, "start", always))).toBe("409");
    expect(await refused(driver.delete({ ...ref, id: "nothing" }, always))).toBe("404");
    const people = named("users").kind.driver(service);
    const wrong = { instance: ref.id, username: "reader", password: "long-enough", acl: "~* +CONFIG" };
    expect(await refused(people.create(wrong, always))).toBe("400");
    await people.create({ ...wrong, acl: "~* +PING" }, always);
    expect(await refused(people.create({ ...wrong, acl: "~* +PING" }, always))).toBe("409");
    await gone(driver, ref);
    expect(faults()).toEqual([]);
  });

  it("a session that is renewed, and ended", async () => {
    now += 3_570_000;
    await service.read({ operation: "plans.list", params: {} }, always);
    await service.signOut();
    expect(faults()).toEqual([]);
    expect([...met]).toEqual(expect.arrayContaining(["signIn", "refreshToken", "logout"]));
  });

  it("and nothing is left out: every operation of the documents was answered", () => {
    const known = [...contracts.platform.operations, ...contracts.users.operations];
    // Only the vendor's own dialect has them: openapi/dialect.
    const elsewhere = [
      "updateResourceInstanceMetadata",
      "describeServiceOffering",
      "describeSubscription",
      "describeServiceOfferingResource",
      "restoreResourceInstance",
      "upgradeResourceInstanceVersion",
      "listResourceInstanceEvents",
      "updateResourceInstanceAccountConfigConnection",
    ];
    expect(known.filter((operation) => !met.has(operation)).sort()).toEqual(elsewhere.sort());
  });
});

/** A person who sets up every account that asks for it, until the suite's accounts are there. */
async function person(): Promise<void> {
  const accounts = named("cloudAccounts").kind.reader(service);
  const id = await poll(async () => (await accounts.list({}, always))[0], "an account");
  await platform.call("POST", `/_platform/accounts/${id}/bootstrap`);
}

async function running(component: string): Promise<readonly [Driver, Ref]> {
  const { kind } = named("instances");
  const driver = kind.driver(service);
  const config = { nodeInstanceType: "m7g.large", graphdbUser: "app", graphdbPassword: "long-enough" };
  const spec = flatten({ tier: "pro", component, cloudProvider: "aws", region: "us-east-1", config });
  const ref = { id: await driver.create(spec, always), place: kind.place(spec) };
  await untilReady(driver, ref);
  return [driver, ref];
}

async function gone(driver: Driver, ref: Ref): Promise<Live | undefined> {
  await driver.delete(ref, always);
  return until(driver, ref, (live) => live === undefined);
}

import { describe, expect, it } from "vitest";
import { createService } from "../../src/hosting/client.ts";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import type { WireRequest, WireResponse } from "../../src/hosting/wire/transport.ts";
import { instanceEvents } from "../../src/kinds/instance-history.ts";
import { systemClock } from "../../src/model/clock.ts";
import type { JsonObject } from "../../src/model/json.ts";
import { flatten } from "../../src/model/spec.ts";
import { always } from "../conformance/benches.ts";
import { type Referents, type Sample, samples } from "../conformance/samples.ts";
import { readContract } from "./contract.ts";

const contracts = { platform: readContract("platform.yaml"), users: readContract("users.yaml") };
const profile = await loadProfile("falkordb-cloud");

/** What the vendor would answer: as little as a client can do with. */
const answers: { readonly [operation: string]: JsonObject } = {
  "session.sign-in": { token: "token-1" },
  "session.refresh": { jwtToken: "token-2", refreshToken: "refresh-2" },
  "plans.list": {
    serviceIds: ["s"],
    services: [
      {
        offerings: [
          {
            serviceModelURLKey: "m",
            productTierURLKey: "t",
            resourceParameters: [{ resourceId: "r-injectedaccountconfig-1", urlKey: "accounts" }],
          },
        ],
      },
    ],
  },
  "plans.parameters": { apis: [] },
  "subscriptions.list": { ids: [], subscriptions: [] },
  "instance.create": { id: "instance-1" },
  "instance.list": { ids: ["instance-1"] },
  "instance.list-all": { resourceInstances: [] },
  "instance.describe": {
    id: "instance-1",
    status: "RUNNING",
    detailedNetworkTopology: { r: { main: true, nodes: [{ id: "node-sz-0" }, { id: "node-sz-1" }] } },
  },
  "instance.events": { events: [] },
  "instance.restore": { id: "instance-2" },
  "instance.copy-snapshot": { snapshotId: "snapshot-2" },
  "instance.snapshots": { snapshots: [] },
  "account.create": { id: "account-1" },
  "account.list": { ids: ["account-1"] },
  "account.get": {
    id: "account-1",
    status: "PENDING",
    result_params: { cloud_provider_account_config_id: "ac-1" },
  },
  "account.describe": { id: "ac-1", status: "PENDING" },
  "network.list": { customNetworks: [] },
  "network.create": { id: "n-1" },
  "network.describe": { id: "n-1", name: "core" },
  "network.update": { id: "n-1" },
  "snapshot.list": { snapshots: [] },
  "snapshot.create": { id: "o-1" },
  "snapshot.describe": { snapshotId: "snapshot-1", status: "COMPLETE" },
  "snapshot.copy": { id: "o-1" },
  "snapshot.restore": { instanceId: "instance-2" },
  "user.list": { users: [] },
  "user.create": { message: "created" },
  "user.update": { message: "updated" },
  "user.delete": { message: "deleted" },
};

/** A client whose requests go nowhere; what is wrong with each of them. */
function recorded(): {
  readonly service: ReturnType<typeof createService>;
  readonly sent: WireRequest[];
  readonly faults: () => readonly string[];
} {
  const sent: WireRequest[] = [];
  const service = createService({
    profile,
    platformUrl: "https://platform.example.com",
    usersUrl: "https://users.example.com",
    subscriptionId: "sub-1",
    credentials: { username: "somebody@example.com", password: "open-sesame" },
    clock: systemClock,
    transport: async (request): Promise<WireResponse> => {
      sent.push(request);
      const body = answers[request.operation];
      const cookie =
        request.operation === "session.sign-in"
          ? { "set-cookie": "omnistrate_refresh_token=refresh-1; Max-Age=86400" }
          : {};
      return {
        status: body === undefined ? 202 : 200,
        headers: cookie,
        body: body === undefined ? "" : JSON.stringify(body),
      };
    },
  });
  const faults = (): readonly string[] =>
    sent.flatMap((request) => {
      const contract = request.origin.includes("users") ? contracts.users : contracts.platform;
      return contract.requestFaults(request).map((fault) => `${request.operation}: ${fault}`);
    });
  return { service, sent, faults };
}

const referents: Referents = { network: "n-1", configId: "ac-1", instance: "instance-1" };
/** The vendor's components by the manifest's names. */
const everyPlace = Object.entries(profile.tiers).flatMap(([tier, { components }]) =>
  Object.keys(components).map((component) => ({ tier, component })),
);

/** Everything that a kind ever sends. */
async function exercise(
  { kind, specs, changes }: Sample,
  service: ReturnType<typeof createService>,
): Promise<void> {
  const driver = kind.driver(service);
  for (const make of specs) {
    const spec = make(referents);
    const place = kind.place(spec);
    await driver.list(place, always);
    const ref = { id: await driver.create(spec, always), place };
    await driver.get(ref, always);
    await driver.delete(ref, always);
  }
  const [first] = specs;
  const ref = { id: "id-1", place: kind.place(first?.(referents) ?? {}) };
  for (const { path, value } of changes) {
    await driver.update(ref, { [path]: value }, always);
  }
}

describe("every request under the falkordb-cloud profile is one of the vendor's API", () => {
  it.each(samples.map((sample) => [sample.kind.name, sample] as const))(
    "%s: list, create with every field, get, update of every field, delete",
    async (_kind, sample) => {
      const { service, sent, faults } = recorded();
      await exercise(sample, service);
      expect(sent.length).toBeGreaterThan(4);
      expect(faults()).toEqual([]);
    },
  );

  it.each(everyPlace)("$tier $component: at its own path", async (place) => {
    const { service, sent, faults } = recorded();
    const [sample] = samples;
    await sample?.kind.driver(service).get({ id: "instance-1", place }, always);
    expect(faults()).toEqual([]);
    const keys = profile.tiers[place.tier];
    const path = [
      keys?.serviceModelKey,
      keys?.productTierKey,
      keys?.components[place.component],
      "instance-1",
    ].join("/");
    expect(sent.at(-1)?.path).toBe(
      `/2022-09-01-00/resource-instance/sp-JvkxkPhinN/falkordb/v1/prod/${path}?subscriptionId=sub-1`,
    );
  });

  it("and nothing is left out: every operation of the profile is sent at least once", async () => {
    const { service, sent, faults } = recorded();
    for (const sample of samples) await exercise(sample, service);
    const [instances] = samples;
    const driver = instances?.kind.driver(service);
    const ref = { id: "instance-1", place: { tier: "pro", component: "single-zone" } };
    for (const verb of ["start", "stop", "restart", "backup"]) await driver?.operate(ref, verb, always);
    await driver?.operate(ref, "upgrade", always, { version: "2.0" });
    await instanceEvents(service, "instance-1", always);
    await service.write(
      {
        operation: "instance.restore",
        params: { serviceModelKey: "m", productTierKey: "t", resourceKey: "r", id: "instance-1" },
        body: { targetRestoreTime: "2026-01-01T00:00:00Z", networkType: "PUBLIC" },
      },
      always,
    );
    await driver?.update(ref, { deletionProtection: true, "customTags.team": "shop" }, always);
    await driver?.operate(ref, "failover", always, { replica: "node-sz-1", action: "FAILOVER_ONLY" });
    const place = { serviceModelKey: "m", productTierKey: "t", resourceKey: "r", id: "instance-1" };
    await service.read({ operation: "subscriptions.list", params: {} }, always);
    const resource = { serviceId: "s", resourceId: "r", productTierId: "pt-1", productTierVersion: "1.0" };
    await service.read({ operation: "plans.parameters", params: resource }, always);
    await service.read({ operation: "instance.list-all", params: { environment: "PROD" } }, always);
    await service.read({ operation: "instance.snapshots", params: place }, always);
    await service.write(
      {
        operation: "instance.copy-snapshot",
        params: place,
        body: { targetRegion: "eu-west-1", sourceSnapshotId: "s-1" },
      },
      always,
    );
    await service.read(
      { operation: "snapshot.list", params: { type: "ManualSnapshot", environment: "PROD" } },
      always,
    );
    await service.read({ operation: "snapshot.list", params: {} }, always);
    await service.read({ operation: "snapshot.describe", params: { id: "s-1" } }, always);
    await service.write(
      { operation: "snapshot.create", params: {}, body: { instanceId: "instance-1" } },
      always,
    );
    await service.write(
      { operation: "snapshot.copy", params: { id: "s-1" }, body: { targetRegion: "eu-west-1" } },
      always,
    );
    await service.write(
      {
        operation: "snapshot.restore",
        params: { id: "s-1" },
        body: { networkType: "INTERNAL", network: "n-1" },
      },
      always,
    );
    await service.write({ operation: "snapshot.delete", params: { id: "s-1" } }, always);
    await service.signOut();
    expect(faults()).toEqual([]);
    const missing = Object.keys(profile.operations).filter(
      (operation) => !sent.some((request) => request.operation === operation),
    );
    expect(missing).toEqual([]);
  });

  it("a session is renewed as the vendor has it", async () => {
    const { service, sent, faults } = recorded();
    await service.signIn();
    let now = Date.now();
    const later = createService({
      profile,
      platformUrl: "https://platform.example.com",
      credentials: { username: "somebody", password: "open-sesame" },
      clock: { ...systemClock, now: () => now },
      transport: async (request) => {
        sent.push(request);
        const body = JSON.stringify(answers[request.operation] ?? {});
        return {
          status: 200,
          headers: { "set-cookie": "omnistrate_refresh_token=refresh-1; Max-Age=86400" },
          body,
        };
      },
    });
    await later.read({ operation: "network.list", params: {} }, always);
    now += 2 * 3_600_000;
    await later.read({ operation: "network.list", params: {} }, always);
    expect(sent.filter(({ operation }) => operation === "session.refresh")).toHaveLength(1);
    expect(faults()).toEqual([]);
  });
});

describe("the check itself", () => {
  const right = {
    method: "PATCH",
    path: "/2022-09-01-00/resource-instance/custom-network/n-1",
    headers: { authorization: "Bearer x", "content-type": "application/json" },
    body: '{"name":"core"}',
  } as const;
  it("passes what is right", () => {
    expect(contracts.platform.requestFaults(right)).toEqual([]);
  });
  it.each([
    ["another method", { ...right, method: "PUT" as const }],
    ["another path", { ...right, path: "/2022-09-01-00/custom-network/n-1" }],
    ["an unknown query", { ...right, path: `${right.path}?subscriptionId=s` }],
    [
      "an empty query",
      {
        method: "GET" as const,
        path: "/2022-09-01-00/resource-instance/custom-network?subscriptionId=",
        headers: { authorization: "Bearer x" },
      },
    ],
    ["an unknown key", { ...right, body: '{"cidr":"10.0.0.0/8"}' }],
    ["a wrong type", { ...right, body: '{"name":1}' }],
    ["no body", { method: right.method, path: right.path, headers: right.headers }],
    ["no media type", { ...right, headers: { authorization: "Bearer x" } }],
    ["no credentials", { ...right, headers: { "content-type": "application/json" } }],
    ["a cookie in their place", { ...right, headers: { cookie: "t=x", "content-type": "application/json" } }],
  ])("finds %s", (_what, wrong) => {
    expect(contracts.platform.requestFaults(wrong)).toHaveLength(1);
  });
});

it.each(["aws", "gcp", "azure", "oci"])(
  "an account of %s is made as the portal makes it",
  async (cloudProvider) => {
    const { service, sent } = recorded();
    const account = samples.find(({ kind }) => kind.name === "cloudAccounts")?.kind;
    const config = { account_configuration_method: "Terraform", private_link: "true" };
    await account?.driver(service).create(flatten({ cloudProvider, config }), always);
    const body: unknown = JSON.parse(
      sent.find(({ operation }) => operation === "account.create")?.body ?? "",
    );
    expect(body).toEqual({
      cloud_provider: cloudProvider,
      requestParams: { cloud_provider: cloudProvider, ...config, private_link: true },
    });
  },
);

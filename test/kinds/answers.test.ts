import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { readAnswer } from "../../src/hosting/wire/read-answer.ts";
import { kinds } from "../../src/kinds/index.ts";
import { listSnapshots } from "../../src/kinds/instance-history.ts";
import { phaseOf, shownStatus } from "../../src/kinds/resource.ts";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import type { Call, Service } from "../../src/model/service.ts";
import { always } from "../hosting/service-of.ts";
import { topologyOf } from "../support/cloud.ts";

const hide = (text: string): string => text;

const profile = await loadProfile("falkordb-cloud");
const pro = profile.tiers["pro"];

/** Full answers of the vendor's, and the fields without which they say nothing. */
const answers: { readonly [operation: string]: JsonObject } = {
  "instance.describe": {
    id: "i-1",
    status: "RUNNING",
    cloud_provider: "aws",
    region: "us-east-1",
    network_type: "PUBLIC",
    created_at: "2026-01-01T00:00:00Z",
    last_modified_at: "2026-01-02T00:00:00Z",
    subscriptionId: "sub-1",
    resourceID: "r-1",
    customNetworkDetail: { id: "n-1", name: "core", cidr: "10.0.0.0/16" },
    result_params: {
      name: "orders",
      enableTLS: "true",
      falkorDBCacheSize: "25",
      falkordbPassword: "hidden-one",
    },
    launch_input_params: { name: "orders" },
    detailedNetworkTopology: topologyOf("i-1"),
  },
  "instance.list": { ids: ["i-1", "i-2"], nextPageToken: "more" },
  "account.get": {
    id: "i-1",
    status: "READY",
    cloud_provider: "aws",
    created_at: "2026-01-01T00:00:00Z",
    result_params: { cloud_provider_account_config_id: "ac-1", private_link: true },
  },
  "network.describe": {
    id: "n-1",
    name: "core",
    cloudProviderName: "aws",
    cloudProviderRegion: "us-east-1",
    cidr: "10.0.0.0/16",
    status: "READY",
    created_at: "2026-01-01T00:00:00Z",
  },
  "network.list": { customNetworks: [{ id: "n-1", name: "core" }] },
  "snapshot.list": {
    snapshots: [
      {
        snapshotId: "s-1",
        sourceInstanceId: "i-1",
        status: "COMPLETE",
        progress: 100,
        encrypted: true,
        createdTime: "2026-01-01T00:00:00Z",
      },
    ],
  },
  "user.list": { users: [{ username: "reader", acl: "~* +PING" }] },
};
const needed = new Set(["status", "ids", "customNetworks", "users", "id", "snapshotId", "username"]);

/** A service whose every answer is this body. */
function answering(operation: string, body: Json): Service {
  const read = async (call: Call): Promise<ReturnType<typeof readAnswer>> => {
    const asked =
      call.operation === "plans.list" ? { services: [plan] } : call.operation === operation ? body : {};
    const endpoint = profile.operations[call.operation];
    if (endpoint === undefined) throw new Error(call.operation);
    return readAnswer(call.operation, endpoint, JSON.stringify(asked));
  };
  return {
    profile,
    hide,
    offers: (name) => name in profile.operations,
    date: () => undefined,
    read,
    write: read,
  };
}

const plan = {
  serviceModelURLKey: pro?.serviceModelKey ?? "",
  productTierURLKey: pro?.productTierKey ?? "",
  resourceParameters: [{ resourceId: "r-injectedaccountconfig-1", urlKey: "accounts" }],
};

/** What graphform makes of a body; an error is one of its own. */
async function readAs(operation: string, body: Json): Promise<unknown> {
  const service = answering(operation, body);
  if (operation === "snapshot.list") return listSnapshots(service, {}, always);
  const [prefix = "", verb] = operation.split(".");
  const names: { readonly [prefix: string]: string } = {
    instance: "instances",
    account: "cloudAccounts",
    network: "networks",
    user: "users",
  };
  const reader = kinds.find(names[prefix] ?? "")?.reader(service);
  const place: JsonObject =
    prefix === "user" ? { instance: "i-1", username: "reader" } : { tier: "pro", component: "single-zone" };
  if (verb === "list") return reader?.list(place, always);
  return reader?.get({ id: prefix === "network" ? "n-1" : "i-1", place }, always);
}

/** Every object of a body with fields taken away, as `drop` says, and others added. */
function changed(
  value: Json,
  drop: (path: string) => "keep" | "null" | "absent",
  more: JsonObject,
  path = "",
): Json {
  if (Array.isArray(value)) return value.map((each: Json) => changed(each, drop, more, path));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, inner]): [string, Json][] => {
    const how = needed.has(name) ? "keep" : drop(`${path}.${name}`);
    if (how === "absent") return [];
    return [[name, how === "null" ? null : changed(inner, drop, more, `${path}.${name}`)]];
  });
  // An entry more in a topology, or a parameter more, is a thing and no unknown field.
  const isMap = /\.(detailedNetworkTopology|result_params|launch_input_params)$/.test(path);
  return Object.fromEntries(isMap ? kept : [...kept, ...Object.entries(more)]);
}

const unknown = fc.dictionary(
  fc.string({ minLength: 1 }).map((name) => `zz_${name}`),
  fc.jsonValue().map((value): Json => JSON.parse(JSON.stringify(value))),
  { maxKeys: 3 },
);

describe.each(Object.entries(answers))("answers of %s", (operation, full) => {
  it("without optional fields, with null in them, and with unknown ones added read alike", async () => {
    await fc.assert(
      fc.asyncProperty(fc.func(fc.boolean()), unknown, async (isDropped, more) => {
        const drop = (how: "null" | "absent") => (path: string) => (isDropped(path) ? how : "keep");
        const absent = await readAs(operation, changed(full, drop("absent"), {}));
        expect(absent).toBeDefined();
        expect(await readAs(operation, changed(full, drop("null"), {}))).toEqual(absent);
        expect(await readAs(operation, changed(full, drop("absent"), more))).toEqual(absent);
        expect(await readAs(operation, changed(full, drop("null"), more))).toEqual(absent);
        expect(JSON.stringify(absent)).not.toMatch(/@|hidden-one/);
      }),
      { numRuns: 60 },
    );
  });
});

describe("lists that hold nothing", () => {
  it.each([
    ["snapshot.list", {}],
    ["snapshot.list", { snapshots: null }],
    ["instance.list", { ids: null }],
    ["network.list", { customNetworks: null }],
    ["user.list", { users: null }],
  ])("%s answering %j", async (operation, body) => {
    expect(await readAs(operation, body)).toEqual([]);
  });

  it.each(["instance.list", "network.list", "user.list"])("%s answering {}", async (operation) => {
    expect(await readAs(operation, {})).toEqual([]);
  });

  it.each(["instance.list", "network.list", "user.list"])(
    "%s answering a page of HTML is no list",
    async (operation) => {
      await expect(readAs(operation, "<html>")).rejects.toMatchObject({
        failure: "shape",
      });
    },
  );
});

describe("a status that the profile does not name", () => {
  it("is pending, and said with the line to add", () => {
    expect(phaseOf({ status: "POLISHING\u001b[31m" }, { profile, hide })).toEqual({
      is: "pending",
      isUnnamed: true,
      detail: expect.stringMatching(
        /^POLISHING\\u\{1b\}\[31m, which the profile falkordb-cloud does not name; .*statuses: \{ POLISHING/,
      ),
    });
  });

  it("is searched for secrets, also where it becomes an output", () => {
    const service = { profile, hide: (text: string) => text.replaceAll("hunter2", "(sensitive)") };
    const values = { status: "BUSY WITH hunter2" };
    expect(phaseOf(values, service).detail).toMatch(/^BUSY WITH \(sensitive\), which/);
    expect(shownStatus(values, service)).toBe("BUSY WITH (sensitive)");
    expect(shownStatus({ status: "RUNNING" }, { profile, hide: () => "(sensitive)" })).toBe("RUNNING");
  });

  it("that means a deletion is pending, and says so", () => {
    expect(phaseOf({ status: "DELETING" }, { profile, hide })).toEqual({
      is: "pending",
      detail: "DELETING",
      isLeaving: true,
    });
  });

  it("of an account may mean something else than of a database", () => {
    expect(phaseOf({ status: "disconnected" }, { profile, hide }, "account").is).toBe("waiting-for-person");
    expect(phaseOf({ status: "DISCONNECTED" }, { profile, hide }).is).toBe("stopped");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { kinds } from "../../src/kinds/index.ts";
import { endpointOf } from "../../src/kinds/instance-operations.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { always, serviceOf } from "../hosting/service-of.ts";
import { startCloud, topologyOf } from "../support/cloud.ts";

const profile = await loadProfile("falkordb-cloud");
const instances = kinds.find("instances");
const credential = "obs-pw-4711";

const found = (topology: Json, networkType = "PUBLIC"): ReturnType<typeof endpointOf> =>
  endpointOf({ topology, networkType }, profile);

describe("the endpoint of a database", () => {
  it("is that of the database's entry, whatever the order of the entries and the names of their keys", () => {
    const entries = Object.values(topologyOf("i-1"));
    fc.assert(
      fc.property(
        fc.shuffledSubarray(entries, { minLength: entries.length }),
        fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: entries.length, maxLength: entries.length }),
        fc.constantFrom("PUBLIC", "INTERNAL", "PRIVATE", "SOMETHING"),
        (shuffled, keys, type) => {
          const map = Object.fromEntries(shuffled.map((entry, at) => [keys[at] ?? "", entry]));
          const wanted = ["INTERNAL", "PRIVATE"].includes(type)
            ? { host: "inner.i-1.example.com", port: 6380 }
            : { host: "node.i-1.example.com", port: 6379 };
          expect(found(map, type)).toEqual(wanted);
          expect(found(shuffled, type), "a list of entries").toEqual(wanted);
        },
      ),
    );
  });

  it.each([
    ["no port", { clusterEndpoint: "a.example.com", clusterPorts: [] }],
    ["port 0", { clusterEndpoint: "a.example.com", clusterPorts: [0] }],
    ["no host", { clusterEndpoint: "", clusterPorts: [6379] }],
    ["null", { clusterEndpoint: null, clusterPorts: null }],
    ["credentials", { clusterEndpoint: `u:${credential}@a.example.com`, clusterPorts: [6379] }],
    ["an URL", { clusterEndpoint: "https://a.example.com/x", clusterPorts: [443] }],
  ])("is not taken from an entry with %s, nor its other half from another entry", (_, entry) => {
    expect(found({ a: entry })).toBeUndefined();
    expect(found({ a: entry, b: { clusterEndpoint: "b.example.com", clusterPorts: [1] } })).toEqual({
      host: "b.example.com",
      port: 1,
    });
  });

  it("is the one that describe shows by itself, unless that holds credentials", () => {
    const topology = topologyOf("i-1");
    const shown = (host: string, port: Json): unknown => endpointOf({ host, port, topology }, profile);
    expect(shown("own.example.com", "6390")).toEqual({ host: "own.example.com", port: 6390 });
    const other = { host: "node.i-1.example.com", port: 6379 };
    expect(shown(`u:${credential}@own.example.com`, 6390)).toEqual(other);
    expect(shown("own.example.com", 0)).toEqual(other);
  });

  it("comes from the key of an entry without a resourceKey as well", () => {
    const entry: JsonObject = { clusterEndpoint: "a.example.com", clusterPorts: [6379] };
    expect(found({ omnistrateobserv: entry })).toBeUndefined();
  });
});

describe("a described instance with credentials in its topology", () => {
  it("shows them nowhere, in failures neither", async () => {
    const cloud = await startCloud();
    const entries = topologyOf("i-1");
    const failureReason = `cannot reach https://observer:${credential}@metrics.example.com, ("x:${credential}@y")`;
    cloud.instances.push({
      id: "i-1",
      tier: "pro",
      resource: "single-Zone",
      shown: {
        status: "FAILED",
        detailedNetworkTopology: {
          ...entries,
          "r-aaa": { ...entries["r-aaa"], recentDeploymentFailure: { failureReason } },
        },
      },
    });
    const service = await serviceOf(cloud.service, { profile });
    const ref = { id: "i-1", place: { tier: "pro", component: "single-zone" } };
    const live = await instances?.reader(service).get(ref, always);
    expect(live?.outputs).toMatchObject({ endpoint: "node.i-1.example.com:6379" });
    expect(live?.phase.detail).toContain("cannot reach");
    expect(JSON.stringify(live)).not.toContain("@");
    cloud.meddle = (seen) =>
      seen.url.includes("/i-1")
        ? { status: 409, body: { name: "invalid_state", message: failureReason } }
        : undefined;
    const refused: unknown = await instances?.reader(service).get(ref, always).catch(String);
    expect(refused).toContain("cannot reach");
    expect(refused).not.toContain("@");
  });
});

import { describe, expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { readAnswer } from "../../src/hosting/wire/read-answer.ts";
import { answerValues } from "../../src/hosting/wire/spelling.ts";
import type { Endpoint } from "../../src/model/service.ts";

const profile = await loadProfile("default");
const cloud = await loadProfile("falkordb-cloud");

function endpoint(name: string): Endpoint {
  const found = profile.operations[name];
  if (found === undefined) throw new Error(name);
  return found;
}

const read = (name: string, body: unknown): { readonly [name: string]: unknown } =>
  readAnswer(name, endpoint(name), typeof body === "string" ? body : JSON.stringify(body)).values;

it("hides what is secret in the service's own words, and in nothing that is compared", () => {
  const answer = {
    id: "i-secret",
    status: "secret",
    region: "secret",
    detailedNetworkTopology: { a: { recentDeploymentFailure: { failureReason: "a secret" } } },
  };
  const hide = (text: string): string => text.replaceAll("secret", "(sensitive)");
  const name = "instance.describe";
  expect(readAnswer(name, endpoint(name), JSON.stringify(answer), hide).values).toMatchObject({
    status: "secret",
    region: "secret",
    failure: "a (sensitive)",
  });
});

describe("a described instance", () => {
  it("as the specification has it", () => {
    expect(
      read("instance.describe", {
        id: "i-1",
        status: "RUNNING",
        cloud_provider: "aws",
        region: "us-east-1",
        network_type: "PUBLIC",
        custom_network: "n-1",
        created_at: "2026-01-01T00:00:00Z",
        last_modified: "2026-01-02T00:00:00Z",
        result_params: { graphdbHostname: "h.example.com", graphdbPort: 6379 },
      }),
    ).toEqual({
      id: "i-1",
      status: "RUNNING",
      cloudProvider: "aws",
      region: "us-east-1",
      networkType: "PUBLIC",
      network: "n-1",
      createdAt: "2026-01-01T00:00:00Z",
      modifiedAt: "2026-01-02T00:00:00Z",
      host: "h.example.com",
      port: 6379,
      resultParams: { graphdbHostname: "h.example.com", graphdbPort: 6379 },
    });
  });

  it("as the real service has it: topology, echo that is late, other spellings", () => {
    expect(
      read("instance.describe", {
        status: "FAILED",
        last_modified_at: "2026-01-02T00:00:00Z",
        customNetworkDetail: { id: "n-2", name: "core" },
        result_params: {},
        launch_input_params: { name: "orders" },
        resourceID: "r-1",
        detailedNetworkTopology: {
          "r-sentinel": { clusterEndpoint: "", clusterPorts: [] },
          "r-node": {
            clusterEndpoint: "n.example.com",
            clusterPorts: [6380],
            recentDeploymentFailure: { failureReason: "no quota" },
          },
        },
      }),
    ).toMatchObject({
      status: "FAILED",
      modifiedAt: "2026-01-02T00:00:00Z",
      network: "n-2",
      topology: { "r-node": { clusterEndpoint: "n.example.com", clusterPorts: [6380] } },
      resultParams: { name: "orders" },
      resourceId: "r-1",
      failure: "no quota",
    });
  });

  it("the vendor's own names come first in its profile", () => {
    const names = cloud.operations["instance.describe"]?.answer ?? {};
    const body = {
      result_params: { falkordbHostname: "f", falkordbPort: "6379" },
      last_modified_at: "b",
      last_modified: "a",
    };
    expect(answerValues(body, names)).toMatchObject({ host: "f", port: "6379", modifiedAt: "b" });
  });
});

describe("lists", () => {
  it("hold what the service calls otherwise", () => {
    expect(read("instance.list", { ids: ["a", "b"] })).toEqual({ ids: ["a", "b"] });
    expect(read("instance.list", { ids: [] })).toEqual({ ids: [] });
    expect(read("instance.list", { ids: [7, "b"] })).toEqual({ ids: [7, "b"] });
    expect(read("user.list", { users: [{ username: "u", acl: "~*" }] })).toEqual({
      items: [{ username: "u", acl: "~*" }],
    });
  });

  it("give each item our names, and keep its own", () => {
    const answer = { items: ["nets"], "items.id": ["key", "id"], "items.name": ["label.text"] };
    const values = answerValues(
      { nets: [{ key: "n-1", label: { text: "core" } }, { id: "n-2" }, 7] },
      answer,
    );
    expect(values).toEqual({
      items: [{ key: "n-1", label: { text: "core" }, id: "n-1", name: "core" }, { id: "n-2" }, 7],
    });
  });
});

describe("an answer of the wrong shape names the operation", () => {
  it.each<[string, unknown, string]>([
    ["instance.describe", "<html>", "is not JSON"],
    ["instance.describe", "", "is no object"],
    ["instance.describe", "null", "is no object"],
    ["instance.describe", '"RUNNING"', "is no object"],
    ["instance.describe", "[]", "has no status"],
    ["instance.describe", {}, "has no status"],
    ["instance.describe", { status: null }, "has no status"],
    ["instance.describe", { status: { a: 1 } }, "has a status of the wrong kind"],
    [
      "instance.describe",
      { status: "RUNNING", result_params: "x" },
      "result_params or launch_input_params of the wrong kind",
    ],
    ["instance.describe", { status: "RUNNING", result_params: { graphdbPort: 0 } }, "graphdbPort"],
    ["instance.describe", { status: "RUNNING", result_params: { graphdbPort: 65_536 } }, "graphdbPort"],
    [
      "instance.describe",
      { status: "RUNNING", result_params: { graphdbHostname: ["h"] } },
      "graphdbHostname",
    ],
    ["instance.list", {}, "has no ids"],
    ["instance.list", { ids: null }, "has no ids"],
    ["user.list", { users: null }, "has no users"],
    ["instance.list", { ids: "a" }, "has a ids of the wrong kind"],
    ["instance.list", { ids: ["a", true] }, "has a ids of the wrong kind"],
    ["instance.list", { ids: ["a", ".."] }, "has a ids of the wrong kind"],
    ["instance.list", { ids: [2 ** 60] }, "has a ids of the wrong kind"],
    ["instance.create", { id: 2 ** 63 }, "has a id of the wrong kind"],
    ["instance.create", { id: " " }, "has a id of the wrong kind"],
    ["instance.create", { id: "." }, "has a id of the wrong kind"],
    ["user.list", { users: ["u"] }, "has a users of the wrong kind"],
    ["instance.update", "<html>a proxy's page</html>", "is not JSON"],
    ["instance.delete", '{"cut": "sho', "is not JSON"],
    ["instance.create", "", "has no id"],
    ["instance.create", { id: "" }, "has no id"],
    ["instance.create", { id: { a: 1 } }, "has a id of the wrong kind"],
    ["instance.describe", "[".repeat(1_000_000), "is not JSON"],
  ])("%s %j", (name, body, message) => {
    expect(() => read(name, body)).toThrow(
      expect.objectContaining({
        failure: "shape",
        message: expect.stringMatching(`^${name}: .*${message}`),
        exitCode: 1,
      }),
    );
  });

  it.each(["", "\n", "OK", "Accepted.", "{}"])("%j is an answer where none is needed", (text) => {
    expect(read("instance.update", text)).toEqual({});
  });

  it("a wrong answer to a write may have worked", () => {
    expect(() => read("instance.create", {})).toThrow(expect.objectContaining({ mayHaveWorked: true }));
    expect(() => read("instance.list", {})).toThrow(expect.objectContaining({ mayHaveWorked: false }));
  });

  it("holds only what the service sent, and nothing that every object has", () => {
    expect(answerValues({ a: {} }, { name: ["constructor.name", "a.toString.name"] })).toEqual({});
  });

  it("__proto__ is a key like any other", () => {
    const text =
      '{"status":"RUNNING","__proto__":{"region":"x","polluted":true},"result_params":{"__proto__":{"a":1}}}';
    const { values } = readAnswer("instance.describe", endpoint("instance.describe"), text);
    expect(values["region"]).toBeUndefined();
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("an empty list", () => {
  it.each([
    ["gives way to one that holds something", { a: [], b: [1] }, { tags: [1] }],
    ["stands where no other is there", { a: [] }, { tags: [] }],
    ["stands where all are empty", { b: [], a: [] }, { tags: [] }],
  ])("%s", (_, body, values) => {
    expect(answerValues(body, { tags: ["a", "b"] })).toEqual(values);
  });

  it.each(["instance.list", "user.list", "account.list", "snapshot.list"])(
    "may be left out of %s where the profile says so, and nowhere else",
    (name) => {
      const theirs = cloud.operations[name];
      expect(theirs && readAnswer(name, theirs, "{}").values).toMatchObject({ [listOf(theirs)]: [] });
      if (name !== "snapshot.list") expect(() => read(name, {})).toThrow("has no");
    },
  );
});

function listOf(of: Endpoint | undefined): string {
  return of?.answer["ids"] === undefined ? "items" : "ids";
}

it("hides secrets in the words of each event", () => {
  const events = [{ time: "t", message: "moved to redis://h:1 by secret", userName: "secret" }];
  const endpoint = cloud.operations["instance.events"];
  const { values } = readAnswer(
    "instance.events",
    endpoint ?? expect.unreachable(),
    JSON.stringify({ events }),
    (text) => text.replaceAll("secret", "(sensitive)"),
  );
  expect(values["items"]).toMatchObject([{ time: "t", message: "moved to redis://h:1 by (sensitive)" }]);
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { at, components, enterprise, poll, pro, startTest, type TestPlatform } from "./harness.ts";

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest();
});
afterAll(() => test.close());

async function running(path = pro, params = {}): Promise<string> {
  const id = await test.create(path, params);
  await test.until(`${path}/${id}`, "RUNNING");
  return `${path}/${id}`;
}

describe("describe (2.1)", () => {
  it("has the fields of the specification and echoes no parameter", async () => {
    const path = await running(pro, { name: "orders", graphdbPassword: "very-secret", graphdbUser: "app" });
    const { body, text, headers } = await test.call("GET", path);
    expect(headers.get("content-type")).toContain("application/json");
    const { detailedNetworkTopology, ...rest } = body;
    expect(rest).toEqual({
      id: path.slice(pro.length + 1),
      status: "RUNNING",
      cloud_provider: "aws",
      region: "us-east-1",
      network_type: "PUBLIC",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      last_modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      result_params: { graphdbHostname: "127.0.0.1", graphdbPort: expect.any(Number) },
    });
    expect(text).not.toContain("very-secret");
    expect(at(detailedNetworkTopology, "r-pro-standalone", "clusterEndpoint")).toBe("127.0.0.1");
  });

  it.each([
    ["hosted/pro/standalone", ["node-s-0"]],
    ["hosted/pro/single-zone", ["node-sz-0", "node-sz-1"]],
    ["hosted/enterprise/multi-zone", ["node-mz-0", "node-mz-1"]],
    ["hosted/free/free", ["node-f-0"]],
  ])("the topology of %s names its nodes", async (place, nodes) => {
    const { body } = await test.call("GET", await running(`${components}/${place}`));
    const [topology] = Object.values(JSON.parse(JSON.stringify(body["detailedNetworkTopology"])));
    expect(JSON.parse(JSON.stringify(topology)).nodes.map((node: { id: string }) => node.id)).toEqual(nodes);
  });

  it("shows the custom network on enterprise only, and only where there is one", async () => {
    const network = await test.call("POST", "/_platform/networks", {
      id: "n-1",
      name: "n",
      cloudProvider: "aws",
      region: "us-east-1",
    });
    expect(network.status).toBe(200);
    const id = await test.create(enterprise, {}, { custom_network_id: "n-1" });
    const { body } = await test.until(`${enterprise}/${id}`, "RUNNING");
    expect([body["custom_network"], body["network_type"]]).toEqual(["n-1", "INTERNAL"]);
    expect((await test.call("GET", await running(enterprise))).body).not.toHaveProperty("custom_network");
  });

  it("knows an id only under its own component", async () => {
    const path = await running();
    const id = path.slice(pro.length + 1);
    expect((await test.call("GET", `${components}/hosted/pro/single-zone/${id}`)).status).toBe(404);
    expect((await test.call("GET", `${pro}/instance-none`)).body["name"]).toBe("not_found");
    expect((await test.call("GET", `${pro}/..%2F..%2Fsecret`)).status).toBe(404);
  });
});

describe("what has no effect here", () => {
  it("is said in an event: there is no enterprise module", async () => {
    const path = await running(enterprise, { enableEnterpriseModule: true });
    const id = path.slice(enterprise.length + 1);
    const { text } = await test.call("GET", `/2022-09-01-00/resource-instance/${id}/audit-events`);
    expect(text).toContain("enableEnterpriseModule is recorded and loads nothing");
  });

  it.each([
    [
      "failover",
      "POST",
      "/failover",
      { failed_replica_id: "node-s-0", failed_replica_action: "FAILOVER_ONLY", force: true },
    ],
    ["metadata", "PATCH", "/metadata", { deletionProtection: true, name: "x" }],
    ["metadata that is no object", "PATCH", "/metadata", []],
  ])("is refused in the body of %s", async (_why, method, rest, body) => {
    const path = await running();
    expect((await test.call(method, `${path}${rest}`, body)).status).toBe(400);
  });
});

describe("lists", () => {
  it("has the ids of one component, of one subscription", async () => {
    const path = `${components}/hosted/startup/standalone`;
    const create = async (query: string) => {
      const { body } = await test.call("POST", `${path}${query}`, {
        cloud_provider: "aws",
        region: "us-east-1",
        requestParams: {},
      });
      return String(body["id"]);
    };
    const [mine, yours, anyones] = [
      await create("?subscriptionId=mine"),
      await create("?subscriptionId=yours"),
      await create(""),
    ];
    expect((await test.call("GET", `${path}?subscriptionId=mine`)).body).toEqual({ ids: [mine, anyones] });
    expect((await test.call("GET", path)).body).toEqual({ ids: [mine, yours, anyones] });
  });

  it("list-all has whole describes, whose resource id tells the component", async () => {
    const path = await running(`${components}/hosted/pro/multi-zone`);
    const { body } = await test.call("GET", "/2022-09-01-00/resource-instance");
    const all: { id: string; resourceID: string; status: string }[] = JSON.parse(
      JSON.stringify(body["resourceInstances"]),
    );
    const found = all.find(({ id }) => path.endsWith(id));
    expect([found?.resourceID, found?.status]).toEqual(["r-pro-multi-zone", "RUNNING"]);
  });
});

describe("update", () => {
  /** Specification 2.2, column "Modifiable", typed by hand. */
  const modifiable: readonly [string, Json, boolean][] = [
    ["name", "b", true],
    ["description", "b", true],
    ["nodeInstanceType", "r7g.large", true],
    ["maxMemory", "4GB", true],
    ["graphdbPassword", "another-word", true],
    ["numReplicas", 2, false],
    ["graphdbUser", "app", false],
    ["enableTLS", true, false],
    ["enableEnterpriseModule", true, false],
    ["AOFPersistenceConfig", "everysec", false],
    ["RDBPersistenceConfig", "low", false],
    ["graphDBCacheSize", 25, false],
    ["graphDBMaxQueuedQueries", 50, false],
    ["graphDBNodeCreationBuffer", 16_384, false],
    ["graphDBQueryMemCapacity", 21_474_836_480, false],
    ["graphDBResultSetSize", 10_000, false],
    ["graphDBTimeoutDefault", 0, false],
    ["graphDBTimeoutMax", 0, false],
  ];

  it.each(modifiable)("%s = %j: %s", async (field, value, isModifiable) => {
    const path = await running(`${components}/hosted/enterprise/single-zone`);
    for (const method of ["PUT", "PATCH"]) {
      const answer = await test.call(method, path, { requestParams: { [field]: value } });
      expect(answer.status).toBe(isModifiable ? 202 : 400);
      if (isModifiable) expect(answer.text).toBe("");
      else expect(answer.body["message"]).toContain(`${field} is fixed after deployment`);
      await test.until(path, "RUNNING");
    }
  });

  it.each([
    ["a region", { region: "eu-west-1" }, 400],
    ["a provider", { cloud_provider: "gcp" }, 400],
    ["a network", { custom_network_id: "n-1" }, 400],
    ["an unknown setting", { requestParams: { nmae: "x" } }, 400],
    ["a field of another tier", { requestParams: { maxMemory: "1GB" } }, 400],
    ["a value out of its pattern", { requestParams: { nodeInstanceType: "" } }, 400],
    ["a type outside the Pro list", { requestParams: { nodeInstanceType: "x9.huge" } }, 400],
    ["no body", undefined, 400],
    ["the network type", { network_type: "INTERNAL" }, 202],
  ])("%s", async (_why, body, status) => {
    const path = await running();
    expect((await test.call("PUT", path, body)).status).toBe(status);
  });

  it("holds new and old values together against the memory of the type", async () => {
    const path = await running(enterprise, { nodeInstanceType: "m7g.large", maxMemory: "8GB" });
    expect((await test.call("PUT", path, { requestParams: { nodeInstanceType: "t4g.medium" } })).status).toBe(
      400,
    );
    expect((await test.call("PUT", path, { requestParams: { maxMemory: "9GB" } })).status).toBe(400);
    expect(
      (await test.call("PUT", path, { requestParams: { nodeInstanceType: "r7g.large", maxMemory: "9GB" } }))
        .status,
    ).toBe(202);
  });

  it("moves the modification time", async () => {
    const path = await running();
    const before = (await test.call("GET", path)).body["last_modified"];
    await test.call("PUT", path, { requestParams: { name: "x" } });
    const after = (await test.until(path, "RUNNING")).body["last_modified"];
    expect(String(after) > String(before)).toBe(true);
  });
});

describe("transitions", () => {
  /** Wire facts 2.4, typed by hand: what each status allows. */
  const allowed: { readonly [status: string]: readonly string[] } = {
    RUNNING: ["update", "stop", "restart", "delete", "backup"],
    STOPPED: ["start", "delete"],
    FAILED: ["update", "restart", "delete"],
  };
  const operations = ["update", "start", "stop", "restart", "backup", "delete"];
  const goals: { readonly [operation: string]: string | number } = { stop: "STOPPED", delete: 404 };

  async function inStatus(status: string): Promise<string> {
    if (status === "FAILED") {
      await test.call("PUT", "/_platform/faults", [
        { operation: "create", count: 1, fault: { failed: "no capacity" } },
      ]);
      const id = await test.create();
      await test.until(`${pro}/${id}`, "FAILED");
      return `${pro}/${id}`;
    }
    const path = await running();
    if (status === "STOPPED") {
      await test.call("POST", `${path}/stop`);
      await test.until(path, "STOPPED");
    }
    return path;
  }

  const send = (path: string, operation: string) => {
    if (operation === "delete") return test.call("DELETE", path);
    if (operation === "update") return test.call("PATCH", path, { requestParams: { name: "x" } });
    return test.call("POST", `${path}/${operation}`);
  };

  it.each(
    Object.keys(allowed).flatMap((status) => operations.map((operation) => [status, operation] as const)),
  )("from %s: %s", async (status, operation) => {
    const path = await inStatus(status);
    const answer = await send(path, operation);
    if (allowed[status]?.includes(operation)) {
      expect([answer.status, answer.text]).toEqual([202, ""]);
      await test.until(path, goals[operation] ?? "RUNNING");
    } else {
      expect([answer.status, answer.body["name"]]).toEqual([409, "invalid_state"]);
      expect((await test.call("GET", path)).body["status"]).toBe(status);
    }
  });

  it("shows what goes on, and refuses a second operation meanwhile", async () => {
    const slow = await startTest({ delays: 300 });
    try {
      const seen: Json[] = [];
      const watch = async (path: string, end: string | number): Promise<void> => {
        await poll(async () => {
          const { body, status } = await slow.call("GET", path);
          const shown = body["status"] ?? status;
          if (seen.at(-1) !== shown) seen.push(shown);
          return shown === end ? shown : undefined;
        }, String(end));
      };
      const id = await slow.create();
      const path = `${pro}/${id}`;
      const early = await slow.call("DELETE", path);
      expect([early.status, early.body["name"]]).toEqual([409, "invalid_state"]);
      expect(early.body["message"]).toContain("operation is already in progress");
      await watch(path, "RUNNING");
      for (const [operation, end] of [
        ["stop", "STOPPED"],
        ["start", "RUNNING"],
        ["restart", "RUNNING"],
        ["backup", "RUNNING"],
      ] as const) {
        expect((await slow.call("POST", `${path}/${operation}`)).status).toBe(202);
        expect((await slow.call("POST", `${path}/restart`)).body["message"]).toContain(
          "operation is already in progress",
        );
        await watch(path, end);
      }
      await slow.call("PUT", path, { requestParams: { name: "x" } });
      await watch(path, "RUNNING");
      await slow.call("DELETE", path);
      expect((await slow.call("DELETE", path)).status).toBe(409);
      await watch(path, 404);
      expect(seen).toEqual(
        "PENDING DEPLOYING RUNNING STOPPING STOPPED STARTING RUNNING RESTARTING RUNNING BACKING_UP RUNNING DEPLOYING RUNNING DELETING"
          .split(" ")
          .concat([404 as never])
          .map((each) => each),
      );
    } finally {
      await slow.close();
    }
  });

  it("old status shows for as long as asked", async () => {
    const stale = await startTest({ staleStatus: 250, delays: 100 });
    try {
      const id = await stale.create();
      const path = `${pro}/${id}`;
      await stale.until(path, "RUNNING");
      const before = (await stale.call("GET", path)).body["last_modified"];
      const accepted = Date.now();
      expect((await stale.call("POST", `${path}/restart`)).status).toBe(202);
      const first = await stale.call("GET", path);
      expect([first.body["status"], first.body["last_modified"]]).toEqual(["RUNNING", before]);
      expect((await stale.call("POST", `${path}/stop`)).status).toBe(409);
      await stale.until(path, "RESTARTING");
      expect(Date.now() - accepted).toBeGreaterThanOrEqual(240);
      await stale.until(path, "RUNNING");
    } finally {
      await stale.close();
    }
  });

  it("deletion protection holds until it is cleared", async () => {
    const path = await running();
    expect((await test.call("PATCH", `${path}/metadata`, { deletionProtection: true })).status).toBe(202);
    const refused = await test.call("DELETE", path);
    expect([refused.status, refused.body["message"]]).toEqual([
      409,
      expect.stringContaining("deletion protection"),
    ]);
    await test.call("PATCH", `${path}/metadata`, { deletionProtection: false });
    expect((await test.call("DELETE", path)).status).toBe(202);
    await test.until(path, 404);
  });
});

describe("echo", () => {
  it("repeats the parameters as strings in result_params, all but numReplicas", async () => {
    const echoing = await startTest({ echo: true });
    try {
      const path = `${components}/hosted/pro/single-zone`;
      const id = await echoing.create(path, {
        name: "e",
        enableTLS: true,
        graphDBCacheSize: 30,
        graphdbPassword: "in-clear",
        numReplicas: 2,
      });
      const { body } = await echoing.until(`${path}/${id}`, "RUNNING");
      const { graphdbHostname, graphdbPort, ...echoed } = JSON.parse(JSON.stringify(body["result_params"]));
      expect(echoed).toEqual({
        name: "e",
        enableTLS: "true",
        graphDBCacheSize: "30",
        graphdbPassword: "in-clear",
      });
      expect([graphdbHostname, typeof graphdbPort]).toEqual(["127.0.0.1", "number"]);
    } finally {
      await echoing.close();
    }
  });
});

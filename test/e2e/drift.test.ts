import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { instanceParams } from "../../src/kinds/instance-operations.ts";
import { isObject, type JsonObject } from "../../src/model/json.ts";
import { platformUp } from "../support/local-platform.ts";
import { dialects, type Outsider, outsider, type Spoken } from "../support/local-service.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

const spoken = dialects["FalkorDB Cloud"];
const owner = "owner-password";
const manifest = `apiVersion: graphform/v1
name: watched
service: { profile: cloud.yaml }
defaults:
  instances: { cloudProvider: aws, region: us-east-1, lifecycle: { protect: false } }
instances:
  orders:
    tier: pro
    component: standalone
    config:
      name: orders       # as on the invoice
      description: "the order graph"
      nodeInstanceType: m7g.large
      graphdbUser: app
      graphdbPassword: "\${env.OWNER_PASSWORD}"
  cache:
    tier: free
    component: free
    config: { name: cache, graphdbUser: app, graphdbPassword: "\${env.OWNER_PASSWORD}" }
users:
  reader: { instance: orders, username: reader, password: "\${env.OWNER_PASSWORD}", acl: "~* +PING" }
`;

describe("what somebody does past graphform", () => {
  let user: Workspace;
  let service: Spoken;

  beforeAll(async () => {
    if (spoken === undefined) throw new Error("no such dialect");
    service = spoken;
    user = openWorkspace(manifest);
    copyFileSync(service.profile, join(user.dir, "cloud.yaml"));
    user.env["OWNER_PASSWORD"] = owner;
    const { url } = await platformUp(
      user,
      "--users-per-minute",
      "10000",
      "--delay",
      "5",
      ...service.platform,
    );
    Object.assign(user.env, service.env(url));
    const applied = await user.run("apply", "--auto-approve");
    expect(applied.code, applied.err).toBe(0);
  });
  afterAll(() => user.close());

  const idOf = (address: string): string => user.state("watched").resources[address]?.id ?? "";

  function on(other: Outsider, tier: string, id: string): { readonly [name: string]: string } {
    const component = tier === "free" ? "free" : "standalone";
    return { ...instanceParams({ tier, component }, other.service.profile), id };
  }

  async function until(other: Outsider, tier: string, id: string, status: string): Promise<void> {
    await expect
      .poll(async () => (await other.read("instance.describe", on(other, tier, id))).values["status"], {
        timeout: 60_000,
      })
      .toBe(status);
  }

  async function drift(
    ...options: readonly string[]
  ): Promise<{ readonly code: number | null; readonly json: JsonObject }> {
    const { code, out } = await user.run("drift", "--json", ...options);
    expect(out).not.toContain(owner);
    return { code, json: JSON.parse(out) };
  }

  it("is nothing after an apply", async () => {
    const { code, json } = await drift("--unmanaged");
    expect([code, json["resources"], json["unmanaged"]]).toEqual([0, [], []]);
  });

  it("is not a user that the manifest gives to another instance: its login is tried nowhere else", async () => {
    user.write("graphform.yaml", manifest.replace("instance: orders", "instance: cache"));
    const planned = await user.run("plan");
    const { code, json } = await drift();
    user.write("graphform.yaml", manifest);
    expect([code, outside(json)]).toEqual([0, []]);
    expect(planned.out).not.toContain("refuses the declared password");
    expect(planned.out).toContain("it is not in instances.cache yet");
  });

  it("is named, each thing with its source, its line and who did it; what is put back is drift no more", async () => {
    const other = await outsider(user, service);
    const orders = idOf("instances.orders");
    await other.write("instance.update", on(other, "pro", orders), {
      requestParams: { name: "renamed", description: "by hand" },
    });
    await until(other, "pro", orders, "RUNNING");
    await other.write("instance.stop", on(other, "free", idOf("instances.cache")));
    await until(other, "free", idOf("instances.cache"), "STOPPED");
    await other.write("user.update", { instanceId: orders, username: "reader" }, { acl: "~* +GRAPH.QUERY" });
    const { values } = await other.write("instance.create", on(other, "free", ""), {
      cloud_provider: "aws",
      region: "us-east-1",
      requestParams: { name: "unknown", falkordbUser: "app", falkordbPassword: owner },
    });
    const { code, json } = await drift("--unmanaged");
    expect([code, outside(json)]).toEqual([
      2,
      [
        "instances.cache:16 stopped power running>stopped described :16",
        "instances.orders:7 changed config.description the order graph>by hand echoed :12 config.name orders>renamed echoed :11",
        "users.reader:21 changed acl ~* +PING>~* +GRAPH.QUERY described :21",
      ],
    ]);
    expect(json["unmanaged"]).toEqual([
      expect.objectContaining({ kind: "instances", id: String(values["id"]) }),
    ]);
    const { out } = await user.run("drift");
    expect(out).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d UTC .*: /);
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect((await drift()).code).toBe(0);
    expect((await user.run("plan", "--detailed-exitcode")).code).toBe(0);
  });

  it("is what nobody declares, also where the manifest has nothing", async () => {
    const other = await outsider(user, service);
    const stranger = { username: "stranger", password: "not-declared", acl: "~* +PING" };
    const inside = { instanceId: idOf("instances.cache") };
    await other.write("user.create", inside, stranger);
    const { values } = await other.write("instance.create", on(other, "startup", ""), {
      cloud_provider: "aws",
      region: "us-east-1",
      requestParams: { name: "elsewhere", falkordbUser: "app", falkordbPassword: owner },
    });
    const { json } = await drift("--unmanaged");
    const found = objects(json["unmanaged"]).map(({ kind, id }) => `${String(kind)} ${String(id)}`);
    expect(found).toEqual(
      expect.arrayContaining([
        `instances ${String(values["id"])}`,
        `users ${inside.instanceId}/${stranger.username}`,
      ]),
    );
    expect(found.filter((each) => each.includes("/app"))).toEqual([]);
    await other.write("user.delete", { ...inside, username: stranger.username });
  });

  it("can be adopted: the file is as it was but for the value", async () => {
    const other = await outsider(user, service);
    const orders = idOf("instances.orders");
    await other.write("instance.update", on(other, "pro", orders), { requestParams: { name: "renamed" } });
    await until(other, "pro", orders, "RUNNING");
    const adopted = await user.run("drift", "--adopt", "instances.orders.config.name");
    expect(adopted).toMatchObject({ code: 0, err: "1 value written to 1 file; no drift is left.\n" });
    expect(user.read("graphform.yaml")).toBe(manifest.replace("name: orders ", "name: renamed "));
    expect(await user.run("drift")).toMatchObject({ code: 0 });
    expect((await user.run("plan", "--detailed-exitcode")).code).toBe(0);
  });

  it("is a deletion: it is named, and apply makes a new one", async () => {
    const other = await outsider(user, service);
    const cache = on(other, "free", idOf("instances.cache"));
    await other.write("instance.delete", cache);
    await expect
      .poll(async () => (await other.read("instance.list", cache)).values["ids"])
      .not.toContain(cache["id"]);
    const { code, json } = await drift();
    expect([code, outside(json)]).toEqual([2, ["instances.cache:16 deleted"]]);
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect((await drift()).code).toBe(0);
  });
});

/** Each resource that was changed outside: address, line, what happened, and its fields. */
function outside({ resources }: JsonObject): readonly string[] {
  const found = objects(resources).filter((resource) => resource["class"] === "outside");
  return found
    .map((resource) => {
      const fields = objects(resource["fields"]).map(
        ({ path, applied, seen, source, where }) =>
          ` ${String(path)} ${String(applied)}>${String(seen)} ${String(source)} ${lineOf(where)}`,
      );
      return `${String(resource["address"])}${lineOf(resource["where"])} ${String(resource["what"])}${fields.join("")}`;
    })
    .sort();
}

function lineOf(where: unknown): string {
  return isObject(where) ? `:${String(where["line"])}` : ":?";
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

import { join } from "node:path";
import { expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { listen, type Reply, type Seen } from "./listen.ts";
import { always, failure, serviceOf } from "./service-of.ts";

const place = { serviceModelKey: "x", productTierKey: "big", resourceKey: "one" };
const databases = "/api/v7/acme/databases/big-one";

/** The other service: its own paths, words and sessions. */
function foreign(): (seen: Seen) => Reply {
  let renewals = 0;
  return ({ method, url, headers, body }) => {
    const path = url.split("?")[0];
    if (path === "/api/v7/acme/sessions") {
      const given: unknown = JSON.parse(body);
      if (method === "PUT") renewals += 1;
      else expect(given).toEqual({ login: "ada", secretWord: "s3cret-Pa55" });
      return { body: { session: { key: `k${renewals}`, renewal: `r${renewals}` } } };
    }
    if (url.startsWith("/people/")) return { body: { done: true } };
    if (headers.cookie !== "sid=k1") return { status: 400, body: { error: "Who are you?" } };
    if (path === "/api/v7/acme/nets") return { body: { nets: [{ key: "n1", label: "core" }] } };
    if (method === "POST") return { status: 201, body: { database: { key: "db-1" } } };
    if (method === "PATCH") return { status: 423, body: { error: "Please wait, it works on it" } };
    if (path === databases) return { body: { keys: ["db-1"] } };
    const endpoints = { ro: { dns: "" }, rw: { dns: "rw.example.com", ports: [6390] } };
    return { body: { state: { word: "Up" }, endpoints, effective: { dbSecret: "x" } } };
  };
}

it("a service with entirely other names works by its profile alone", async () => {
  const profile = await loadProfile(join(import.meta.dirname, "foreign.yaml"));
  const server = await listen(foreign());
  const people = await listen(foreign());
  const service = await serviceOf(server, { profile, usersUrl: people.url, subscriptionId: "s 1" });

  const body = {
    cloud_provider: "aws",
    region: "eu-west-1",
    requestParams: { name: "orders", dbSecret: "pw" },
  };
  const create = { operation: "instance.create", params: place, body };
  // The session has ended: a write is sent once, and the engine decides about another one.
  expect(await failure(service.write(create, always))).toMatchObject({ failure: "unauthorized" });
  expect((await service.write(create, always)).values).toEqual({ id: "db-1" });
  const sent = server.to("/databases/big-one").at(-1);
  expect(sent?.url).toBe(`${databases}?account=s%201`);
  expect(JSON.parse(sent?.body ?? "")).toEqual({
    vendor: "aws",
    location: "eu-west-1",
    settings: { label: "orders", dbSecret: "pw" },
  });

  expect((await service.read({ operation: "instance.list", params: place }, always)).values).toEqual({
    ids: ["db-1"],
  });
  const { values } = await service.read(
    { operation: "instance.describe", params: { ...place, id: "db-1" } },
    always,
  );
  expect(values).toEqual({
    status: "Up",
    host: "rw.example.com",
    port: 6390,
    resultParams: { dbSecret: "x" },
  });
  expect(profile.statuses["UP"]).toBe("ready");

  const { values: networks } = await service.read({ operation: "network.list", params: {} }, always);
  expect(networks["items"]).toEqual([{ key: "n1", label: "core", id: "n1", name: "core" }]);

  const update = {
    operation: "instance.update",
    params: { ...place, id: "db-1" },
    body: { requestParams: {} },
  };
  expect(await failure(service.write(update, always))).toMatchObject({ failure: "busy", status: 423 });

  const user = { username: "bob", password: "hunter22", acl: "+PING" };
  await service.write({ operation: "user.create", params: { instanceId: "db-1" }, body: user }, always);
  expect(people.seen[0]).toMatchObject({
    url: "/people/db-1?acc=s%201&dry=no",
    headers: { authorization: "Bearer k1" },
  });
  expect(JSON.parse(people.seen[0]?.body ?? "")).toEqual({
    login: "bob",
    secretWord: "hunter22",
    rights: "+PING",
  });

  // Signed in once; the first token was refused in the service's own words, and renewed once.
  expect(server.to("/sessions").map(({ method, body: sent }) => [method, sent])).toEqual([
    ["POST", '{"login":"ada","secretWord":"s3cret-Pa55"}'],
    ["PUT", '{"renewal":"r0"}'],
  ]);
});

import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/model/clock.ts";
import { emptyState } from "../../../src/state/document.ts";
import { holderWith } from "../../../src/state/lock-words.ts";
import { createRemoteStore } from "../../../src/state/remote/create-remote-store.ts";
import type { StateDriver, Taken } from "../../../src/state/remote/driver.ts";
import { createHttpDriver } from "../../../src/state/remote/http/http-driver.ts";
import { createPostgresDriver } from "../../../src/state/remote/postgres/postgres-driver.ts";
import type { Holder } from "../../../src/state/store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { openApi, type TestApi } from "./open-api.ts";

describe("states over Terraform's protocol", () => {
  let api: TestApi;
  let url = "";
  const drivers: StateDriver[] = [];
  beforeAll(async () => {
    api = await openApi();
    ({ url } = await api.listen());
  }, 120_000);
  afterAll(async () => {
    await Promise.all(drivers.map((driver) => driver.close()));
    await api?.close();
  });

  const http = (name: string, token = api.tokens.approver): StateDriver => {
    const address = `${url}/api/v1/state/${name}`;
    const driver = createHttpDriver({ address, dialect: "gitlab", settle: 1 }, () => ({ token }));
    drivers.push(driver);
    return driver;
  };
  const postgres = (name: string): StateDriver => {
    const driver = createPostgresDriver({ name }, api.postgres.credentials);
    drivers.push(driver);
    return driver;
  };
  const document = (serial: number): string =>
    JSON.stringify({ ...emptyState("orders", { lineage: "l", key: "k" }), serial });

  it("pass the probe of the http store, which takes no server that lets two in", async () => {
    await expect(http("shop/probed").probe()).resolves.toBeUndefined();
  });

  it("lock out the postgres store while the http store holds the lock, and the other way round", async () => {
    const [web, sql] = [http("shop/both"), postgres("shop/both")];
    const mine = taken(await web.take(holder("web")));
    expect(await sql.take(holder("sql"))).toMatchObject({ is: "held", by: { id: "web", who: "ada@here" } });
    expect(await web.renew(mine, mine.holder)).toMatchObject({ is: "renewed" });
    await web.release(mine);
    const theirs = taken(await sql.take(holder("sql")));
    expect(await web.take(holder("late"))).toMatchObject({ is: "held", by: { id: "sql" } });
    const locks = await api.send("GET", "/api/v1/locks", { token: api.tokens.viewer });
    expect(locks.json).toMatchObject({
      locks: [{ state: "shop/both", id: "sql", who: "ada@here", since: expect.stringMatching(/^\d{4}-/) }],
    });
    await sql.release(theirs);
    expect(await web.holder()).toBeUndefined();
  });

  it("show each store what the other has written, refuse a stale write, and raise the fence with each holder", async () => {
    const [web, sql] = [http("shop/written"), postgres("shop/written")];
    const first = taken(await web.take(holder("one")));
    expect(await web.write(document(1), undefined, first)).toMatchObject({ is: "written" });
    await web.release(first);
    const second = taken(await sql.take(holder("two")));
    const read = await sql.read();
    expect(read?.text).toBe(document(1));
    expect(await sql.write(document(2), read?.version, second)).toMatchObject({ is: "written" });
    // The first holder wakes up: its lock is another's.
    const woken = await api.send("POST", "/api/v1/state/shop/written?ID=one", {
      token: api.tokens.approver,
      body: document(3),
    });
    expect([woken.status, woken.json]).toEqual([
      409,
      expect.objectContaining({ ID: "two", Who: "ada@here" }),
    ]);
    await sql.release(second);
    const again = await api.send("POST", "/api/v1/state/shop/written?ID=one", {
      token: api.tokens.approver,
      body: document(3),
    });
    expect(again.json).toMatchObject({ code: "not-locked" });
    expect((await web.read())?.text).toBe(document(2));
    expect((await sql.history())?.map(({ serial }) => serial)).toEqual([2, 1]);
    const [row] = await api.postgres.sql(
      "SELECT fence::int FROM graphform.locks WHERE name = 'shop/written'",
    );
    expect(row).toEqual({ fence: 2 });
  });

  it("work for the command line's whole store: lock, write, read, unlock", async () => {
    const [path] = [temporaryFolder("errored")];
    const store = createRemoteStore(http("shop/whole"), {
      name: "orders",
      erroredFile: `${path}/errored.json`,
    });
    const lock = await store.lock("apply", { clock: systemClock });
    await store.write({ ...emptyState("orders"), serial: 1 });
    await lock.finish();
    await lock.release();
    expect(await store.read()).toMatchObject({ name: "orders", serial: 1 });
  });

  it("refuse a serial that is stored already, what is no state, and a body that does not fit its digest", async () => {
    const at = "/api/v1/state/shop/serials";
    const { approver: token } = api.tokens;
    expect((await api.send("GET", at, { token })).status).toBe(404);
    await api.send("POST", `${at}/lock`, { token, body: { ID: "l" } });
    expect((await api.send("GET", at, { token })).status).toBe(204);
    const write = (body: unknown, headers = {}): Promise<number> =>
      api.send("POST", `${at}?ID=l`, { token, body, headers }).then(({ status }) => status);
    expect(await write(document(1))).toBe(200);
    expect(await write(document(1))).toBe(422);
    expect(await write(document(2), { "content-md5": "bm90IHRoaXM=" })).toBe(400);
    expect(
      await write(document(2), { "content-md5": createHash("md5").update(document(2)).digest("base64") }),
    ).toBe(200);
    for (const body of [
      "",
      "[]",
      "{}",
      '{"serial":"2"}',
      '{"serial":1.5}',
      "nonsense",
      Uint8Array.of(0xff, 0xfe),
    ])
      expect(await write(body)).toBe(422);
    expect((await api.send("GET", at, { token })).text).toBe(document(2));
  });

  it("of a manifest begin with a state of graphform, since no run of it could begin with another document", async () => {
    await api.add("shop", "managed");
    const { approver: token } = api.tokens;
    const begin = async (name: string, body: object): Promise<number> => {
      await api.send("POST", `/api/v1/state/shop/${name}/lock`, { token, body: { ID: "l" } });
      return (await api.send("POST", `/api/v1/state/shop/${name}?ID=l`, { token, body })).status;
    };
    const terraform = { version: 4, serial: 1, lineage: "x", outputs: {}, resources: [] };
    expect(await begin("managed", { serial: 1, lineage: "x" })).toBe(422);
    expect(await begin("managed", terraform)).toBe(422);
    expect(await begin("foreign", terraform)).toBe(200);
    expect(await begin("managed", JSON.parse(document(1)))).toBe(200);
  });

  it("are unlocked and removed by the id of the lock alone", async () => {
    const at = "/api/v1/state/shop/removed";
    const { approver: token } = api.tokens;
    await api.send("POST", `${at}/lock`, { token, body: { ID: "l", Who: "bob@here" } });
    await api.send("POST", `${at}?ID=l`, { token, body: document(1) });
    expect((await api.send("DELETE", `${at}/lock`, { token })).status).toBe(400);
    expect((await api.send("DELETE", `${at}/lock?ID=other`, { token })).status).toBe(409);
    expect((await api.send("DELETE", at, { token })).status).toBe(409);
    expect((await api.send("DELETE", `${at}?ID=other`, { token })).status).toBe(409);
    expect((await api.send("GET", at, { token })).text).toBe(document(1));
    expect((await api.send("DELETE", `${at}?ID=l`, { token })).status).toBe(200);
    expect((await api.send("GET", at, { token })).status).toBe(204);
    const own = { token, body: { ID: "l", Who: "bob@here" } };
    expect((await api.send("DELETE", `${at}/lock`, own)).status).toBe(200);
    expect((await api.send("GET", at, { token })).status).toBe(404);
    await api.send("POST", `${at}/lock`, { token, body: { ID: "f", Who: "ada@here" } });
    expect((await api.send("DELETE", `${at}/lock?ID=f`, { token })).status).toBe(200);
    const { acts } = (await api.send("GET", "/api/v1/audit", { token })).json as { acts: unknown[] };
    expect(acts.slice(0, 2)).toMatchObject([
      { action: "force unlock", subject: "removed", details: { holder: { ID: "f", Who: "ada@here" } } },
      { action: "remove state", subject: "removed" },
    ]);
    expect((await api.send("DELETE", `${at}/lock?ID=l`, { token })).status).toBe(412);
  });

  it("of a manifest are not written so that they bind less without a mark: its next plan waits for a person", async () => {
    const at = "/api/v1/state/shop/emptied";
    const { approver: token } = api.tokens;
    const { manifest } = await api.add("shop", "emptied");
    const isMarked = async (): Promise<boolean> => {
      const row = api.database.selectFrom("manifests").select("restored_to").where("id", "=", manifest);
      return (await row.executeTakeFirstOrThrow()).restored_to !== null;
    };
    const resources = { "instances.a": { kind: "instances", id: "instance-1" } };
    const bound = (serial: number): string => JSON.stringify({ ...JSON.parse(document(serial)), resources });
    await api.send("POST", `${at}/lock`, { token, body: { ID: "l" } });
    for (const body of [bound(1), bound(2)])
      expect((await api.send("POST", `${at}?ID=l`, { token, body })).status).toBe(200);
    expect(await isMarked()).toBe(false);
    expect((await api.send("POST", `${at}?ID=l`, { token, body: document(3) })).status).toBe(200);
    expect(await isMarked()).toBe(true);
    const { acts } = (await api.send("GET", "/api/v1/audit", { token })).json as { acts: unknown[] };
    const objects = { "instances.a": "instance-1" };
    expect(acts[0]).toMatchObject({ action: "unknown objects", subject: "emptied", details: { objects } });
  });

  it("take the token as a password too, as Terraform sends it, and only here", async () => {
    const basic = Buffer.from(`anyone:${api.tokens.approver}`).toString("base64");
    const headers = { authorization: `Basic ${basic}` };
    expect((await api.send("GET", "/api/v1/state/shop/none", { headers })).status).toBe(404);
    expect((await api.send("GET", "/api/v1/runs", { headers })).status).toBe(401);
  });

  it("are kept for Terraform's http backend, by the requests of its client", async () => {
    const address = `${url}/api/v1/state/shop/terraform`;
    const authorization = `Basic ${Buffer.from(`ada:${api.tokens.approver}`).toString("base64")}`;
    // As client.go of its backend sends them, with lock_method POST and unlock_method DELETE: each body with its digest.
    const send = async (method: string, at: string, data?: string): Promise<Response> =>
      fetch(at, {
        method,
        headers: {
          authorization,
          ...(data === undefined
            ? {}
            : {
                "content-type": "application/json",
                "content-md5": createHash("md5").update(data).digest("base64"),
              }),
        },
        ...(data === undefined ? {} : { body: data }),
      });
    const info = (id: string): string =>
      JSON.stringify({
        ...{ ID: id, Operation: "OperationTypeApply", Info: "", Who: "ada@here", Version: "1.14.0" },
        ...{ Created: new Date().toISOString(), Path: "" },
      });
    const state = (serial: number): string =>
      JSON.stringify({
        ...{ version: 4, terraform_version: "1.14.0", serial, lineage: "c2f3", outputs: {}, resources: [] },
        check_results: null,
      });
    const [mine, other] = ["5b7c1f0e-0000-4000-8000-000000000001", "5b7c1f0e-0000-4000-8000-000000000002"];
    expect((await send("GET", address)).status).toBe(404);
    expect((await send("POST", `${address}/lock`, info(mine))).status).toBe(200);
    // A second client is told by 409 whose the lock is.
    const held = await send("POST", `${address}/lock`, info(other));
    expect([held.status, await held.json()]).toEqual([
      409,
      expect.objectContaining({ ID: mine, Who: "ada@here" }),
    ]);
    expect((await send("GET", address)).status).toBe(204);
    expect((await send("POST", `${address}?ID=${mine}`, state(1))).status).toBe(200);
    expect((await send("POST", `${address}?ID=${other}`, state(2))).status).toBe(409);
    expect((await send("POST", address, state(2))).ok).toBe(false);
    const read = await send("GET", address);
    const text = await read.text();
    expect([read.status, text]).toEqual([200, state(1)]);
    expect(read.headers.get("content-md5")).toBe(createHash("md5").update(text).digest("base64"));
    const ofAnother = state(3).replace("c2f3", "d4e5");
    expect((await send("POST", `${address}?ID=${mine}`, ofAnother)).status).toBe(422);
    expect((await send("POST", `${address}?ID=${mine}`, state(2))).status).toBe(200);
    // It gives its lock back with the body that it was taken with.
    expect((await send("DELETE", `${address}/lock`, info(mine))).status).toBe(200);
    expect((await send("DELETE", `${address}/lock`, info(mine))).ok).toBe(false);
    expect((await send("POST", `${address}?ID=${mine}`, state(3))).ok).toBe(false);
    expect((await send("POST", `${address}/lock`, info(other))).status).toBe(200);
    expect((await send("DELETE", `${address}?ID=${other}`)).status).toBe(200);
    // `force-unlock` sends the digest of nothing, and no id, so that its address names the lock.
    expect((await send("DELETE", `${address}/lock`, "")).status).toBe(400);
    expect((await send("DELETE", `${address}/lock?ID=${mine}`, "")).status).toBe(409);
    expect((await send("DELETE", `${address}/lock?ID=${other}`, "")).status).toBe(200);
  });

  it("give one lock to one of many that ask at once", async () => {
    const body = (id: number): object => ({ ID: `racer-${id}`, Who: "a@b" });
    const sent = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((id) =>
        api.send("POST", "/api/v1/state/shop/race/lock", { token: api.tokens.approver, body: body(id) }),
      ),
    );
    expect(sent.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  });

  it("of a tenant that the configuration does not have are not there, for a token of all tenants too", async () => {
    const sent = await api.send("POST", "/api/v1/state/none/x/lock", {
      token: api.tokens.all,
      body: { ID: "l" },
    });
    expect(sent.status).toBe(404);
    expect(api.troubles).toEqual([]);
  });
});

function holder(id: string): Holder {
  const now = Date.now();
  const times = { created: time(now), heartbeat: time(now), expires: time(now + 60_000) };
  return holderWith({
    id,
    who: "ada@here",
    host: "here",
    pid: 7,
    operation: `test ${randomBytes(2).toString("hex")}`,
    ...times,
  });
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}

function taken(result: Taken): Extract<Taken, { readonly is: "taken" }>["lease"] {
  if (result.is !== "taken") throw new Error(`the lock is ${result.is}`);
  return result.lease;
}

import { createHash } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { defined } from "../../../src/model/json.ts";
import type { StateDriver } from "../../../src/state/remote/driver.ts";
import { createHttpDriver } from "../../../src/state/remote/http/http-driver.ts";
import type { HttpCredentials, HttpStoreConfig } from "../../../src/state/remote/http/http-protocol.ts";
import type { Reply } from "../../support/faulty-server.ts";
import {
  type ServerDialect,
  startTerraformServer,
  type TerraformServer,
} from "../../support/terraform-server.ts";
import { codeOf, document, everyCall, leaseOf, newHolder, wordsOf } from "./holders.ts";

const dialects: readonly ServerDialect[] = ["plain", "gitlab", "gitea"];

async function start(dialect: ServerDialect): Promise<TerraformServer> {
  const server = await startTerraformServer(dialect);
  onTestFinished(() => server.close());
  return server;
}

function driverOf(
  server: TerraformServer,
  options: Partial<HttpStoreConfig> = {},
  credentials: HttpCredentials = () => ({ username: server.username, password: server.password }),
): StateDriver {
  const lockAddress = server.address.includes("/api/") ? undefined : `${server.address}/the-lock`;
  const driver = createHttpDriver(
    { address: server.address, settle: 0, ...defined({ lockAddress }), ...options },
    credentials,
  );
  onTestFinished(() => driver.close());
  return driver;
}

describe.each(dialects)("http driver, %s", (dialect) => {
  it("reads nothing, writes under the lock, reads it back byte for byte, and refuses what is stale", async () => {
    const server = await start(dialect);
    const driver = driverOf(server);
    expect(await driver.read()).toBeUndefined();
    const lease = leaseOf(await driver.take(newHolder()));
    expect(await driver.read()).toBeUndefined();
    const first = await driver.write(document(1, "ü"), undefined, lease);
    const stored = await driver.read();
    expect(stored).toEqual({ text: document(1, "ü"), version: first.is === "written" ? first.version : "" });
    expect(await driver.write(document(2), undefined, lease)).toEqual({ is: "stale" });
    server.document = document(7);
    expect(await driver.write(document(2), stored?.version, lease)).toEqual({ is: "stale" });
    expect(server.document).toBe(document(7));
    await driver.release(lease);
    expect(server.lock).toBeUndefined();
  });

  it("keeps a second run out, and names the holder as far as the server does", async () => {
    const server = await start(dialect);
    const [one, other] = [driverOf(server), driverOf(server)];
    const holder = newHolder();
    const lease = leaseOf(await one.take(holder));
    const by = {
      plain: holder,
      gitlab: { ...holder, who: "deployer", host: "unknown", pid: 1, operation: "something" },
      gitea: holder,
    };
    const gitlabTime = "2026-11-22T10:00:00.000Z";
    const expected =
      dialect === "gitlab"
        ? { ...by.gitlab, created: gitlabTime, heartbeat: gitlabTime, expires: gitlabTime }
        : by[dialect];
    expect(await other.take(newHolder())).toMatchObject({ is: "held", by: expected });
    expect(await other.holder()).toMatchObject(expected);
    // It is ours already: the answer to an earlier request was lost.
    expect(await one.take(holder)).toMatchObject({ is: "taken" });
    expect(await one.renew(lease, { ...holder, heartbeat: "2026-11-22T10:00:20.000Z" })).toMatchObject({
      is: "renewed",
      lease: { holder: { heartbeat: "2026-11-22T10:00:20.000Z" } },
    });
    await one.release(lease);
    expect(await codeOf(one.release(lease))).toBe("lock-unknown");
    expect(await other.holder()).toBeUndefined();
    expect(server.lock).toBeUndefined();
  });

  it("removes a lock by its exact id and by no other, and never forces an unlock", async () => {
    const server = await start(dialect);
    const driver = driverOf(server);
    const holder = newHolder();
    await driver.take(holder);
    expect(await driver.remove("0123456789abcdef")).toBe(false);
    expect(await driver.remove("")).toBe(false);
    expect(await driver.remove("x".repeat(256))).toBe(false);
    expect(server.lock).toMatchObject({ ID: holder.id });
    expect(await driver.remove(holder.id)).toBe(true);
    expect(await driver.remove(holder.id)).toBe(false);
    expect(server.forced).toBe(0);
    const deletes = server.calls.filter(({ method }) => method === "DELETE");
    expect(deletes.every(({ url }) => (url.searchParams.get("ID") ?? "") !== "")).toBe(true);
  });

  it("writes nothing under a lock that somebody else has now", async () => {
    const server = await start(dialect);
    const [old, next] = [driverOf(server), driverOf(server)];
    const lease = leaseOf(await old.take(newHolder()));
    await old.write(document(1), undefined, lease);
    const version = (await old.read())?.version;
    await next.remove(lease.holder.id);
    await next.take(newHolder());
    expect(await old.write(document(2), version, lease)).toEqual({ is: "stale" });
    expect(await codeOf(old.release(lease))).toBe("lock-unknown");
    expect([server.document, server.lock === undefined]).toEqual([document(1), false]);
  });

  it("proves that the server keeps a second run out, and leaves nothing", async () => {
    const server = await start(dialect);
    const driver = driverOf(server);
    await driver.prepare();
    await driver.probe();
    expect([server.lock, server.document, server.forced]).toEqual([undefined, undefined, 0]);
    await driver.take(newHolder());
    await driver.probe();
    expect(server.lock).toBeDefined();
    server.lock = undefined;
    server.manners.locksForAll = true;
    expect(await codeOf(driver.probe())).toBe("state-unsuitable");
    // No run begins there either.
    server.lock = undefined;
    expect(await codeOf(driverOf(server).take(newHolder()))).toBe("state-unsuitable");
    expect(server.lock).toBeUndefined();
  });

  it("sends the credentials and the digest with every request, and shows them in no error", async () => {
    const server = await start(dialect);
    const secrets = [server.password, encodeURIComponent(server.password), server.token];
    const basic = Buffer.from(`${server.username}:${server.password}`).toString("base64");
    const signIns = [{ username: server.username, password: server.password }, { token: server.token }];
    const replies = [
      ...[400, 401, 403, 404, 405, 409, 413, 422, 423, 429, 500, 503].map((status) => ({ status })),
      { status: 302, headers: { location: `https://other.example.com/?token=${server.token}` } },
      { status: 200, headers: { "content-md5": "AAAA" } },
    ];
    for (const signIn of signIns) {
      const driver = driverOf(server, {}, () => signIn);
      for (const reply of replies) {
        server.misbehave = ({ headers }) => ({
          ...reply,
          body: `${headers.authorization} ${secrets.join(" ")}`,
        });
        for (const call of everyCall(driver)) {
          const words = await wordsOf(call());
          for (const secret of [...secrets, basic]) expect(words).not.toContain(secret);
        }
      }
    }
    expect(server.calls.length).toBeGreaterThan(0);
    for (const { target, headers, body } of server.calls) {
      expect([`Basic ${basic}`, `Bearer ${server.token}`]).toContain(headers.authorization);
      expect(headers["content-md5"]).toBe(
        body.length === 0 ? undefined : createHash("md5").update(body).digest("base64"),
      );
      for (const secret of [...secrets, basic]) expect(`${target} ${body.toString()}`).not.toContain(secret);
    }
  });

  it("says denied for wrong credentials and missing rights, and leaves everything as it was", async () => {
    const server = await start(dialect);
    const wrong = driverOf(server, {}, () => ({ token: "wrong" }));
    expect(await codeOf(wrong.read())).toBe("state-denied");
    expect(await codeOf(wrong.take(newHolder()))).toBe("state-denied");
    const driver = driverOf(server);
    server.rights = "read";
    expect(await driver.read()).toBeUndefined();
    expect(await codeOf(driver.take(newHolder()))).toBe("state-denied");
    server.rights = "none";
    expect(await codeOf(driver.take(newHolder()))).toBe("state-denied");
    // What is not shown is no empty state.
    if (dialect !== "gitea") expect(await codeOf(driver.read())).toBe("state-denied");
    expect(await codeOf(driver.holder())).toBe("state-denied");
    expect([server.lock, server.document]).toEqual([undefined, undefined]);
  });

  it("says unreachable where an answer is missing, cut or late, and did it once at most", async () => {
    const server = await start(dialect);
    const driver = driverOf(server);
    const hasty = driverOf(server, { timeout: 100 });
    const lease = leaseOf(await driver.take(newHolder()));
    const faults = ["cut-before", "hang", { status: 503 }, { status: 429 }] as const;
    for (const fault of faults) {
      server.misbehave = ({ method }) => (method === "GET" ? undefined : fault);
      const { write } = fault === "hang" ? hasty : driver;
      expect(await codeOf(write(document(1), undefined, lease))).toBe("state-unreachable");
      expect(server.document).toBeUndefined();
    }
    server.misbehave = ({ method }) => (method === "GET" ? undefined : "cut-after");
    expect(await codeOf(driver.write(document(1), undefined, lease))).toBe("state-unreachable");
    server.misbehave = () => undefined;
    expect((await driver.read())?.text).toBe(document(1));
    const short = { "content-length": "900", connection: "close" };
    server.misbehave = () => ({ status: 200, headers: short, body: document(1) });
    expect(await codeOf(driver.read())).toBe("state-unreachable");
    server.misbehave = () => undefined;
    const other = newHolder();
    await driver.release(lease);
    server.misbehave = () => "cut-after";
    expect(await codeOf(driver.take(other))).toBe("state-unreachable");
    server.misbehave = () => undefined;
    // The same id again: it is found to be ours.
    expect(await driver.take(other)).toMatchObject({ is: "taken" });
  });

  it("carries documents of 5 MB, and says when one is too large", async () => {
    const server = await start(dialect);
    const driver = driverOf(server, { timeout: 100_000 });
    const lease = leaseOf(await driver.take(newHolder()));
    const large = document(1, "ä".repeat(2_500_000));
    const written = await driver.write(large, undefined, lease);
    const stored = await driver.read();
    expect(stored?.text === large).toBe(true);
    expect(written).toEqual({ is: "written", version: stored?.version });
    server.limit = 1000;
    expect(await codeOf(driver.write(document(2, "a".repeat(2000)), stored?.version, lease))).toBe(
      "state-unsuitable",
    );
  });
});

describe("http driver", () => {
  it.each([
    ["404", { status: 404 }],
    ["204", { status: 204 }],
    ["an empty body", { status: 200, body: "" }],
  ])("refuses a server that takes a first document and shows none: %s", async (_, shown) => {
    const server = await start("plain");
    const driver = driverOf(server);
    const lease = leaseOf(await driver.take(newHolder()));
    server.misbehave = ({ method }) => (method === "GET" ? shown : undefined);
    const refused = driver.write(document(1), undefined, lease);
    await expect(refused).rejects.toMatchObject({
      code: "state-unsuitable",
      message: expect.stringMatching(/took a document and shows none.*may have been replaced/),
    });
    // Where it is shown, a first document takes two more looks, and a later one none.
    server.misbehave = () => undefined;
    server.document = undefined;
    const reads = (): number => server.calls.filter(({ method }) => method === "GET").length;
    let before = reads();
    const first = await driver.write(document(1), undefined, lease);
    expect([first.is, reads() - before]).toEqual(["written", 3]);
    before = reads();
    await driver.write(document(2), first.is === "written" ? first.version : "", lease);
    expect(reads() - before).toBe(1);
    await driver.release(lease);
  });

  it("replaces nothing that any number of looks within a moment has not shown", async () => {
    const server = await start("plain");
    const driver = driverOf(server, { settle: 200 });
    const lease = leaseOf(await driver.take(newHolder()));
    server.document = document(7);
    let since: number | undefined;
    server.misbehave = ({ method }) => {
      since ??= performance.now();
      return method === "GET" && performance.now() - since < 150 ? { status: 200, body: "" } : undefined;
    };
    for (let look = 0; look < 5; look += 1) expect(await driver.read()).toBeUndefined();
    expect(await driver.write(document(1), undefined, lease)).toEqual({ is: "stale" });
    expect(server.document).toBe(document(7));
  });

  it("replaces nothing that shows up only as a first document is about to be written", async () => {
    const server = await start("plain");
    const driver = driverOf(server);
    const lease = leaseOf(await driver.take(newHolder()));
    server.document = document(7);
    let hidden = 2;
    server.misbehave = ({ method }) => {
      if (method !== "GET" || hidden === 0) return undefined;
      hidden -= 1;
      return { status: 404 };
    };
    expect(await driver.read()).toBeUndefined();
    expect(await driver.write(document(1), undefined, lease)).toEqual({ is: "stale" });
    expect(server.document).toBe(document(7));
    expect(server.calls.map(({ method }) => method)).not.toContain("POST");
  });

  it.each<[string, Reply]>([
    ["a page", { status: 200, headers: { "content-type": "Text/HTML; charset=utf-8" }, body: "Sign in" }],
    ["a page without a type", { status: 200, body: "\ufeff\n<!doctype html><title>Sign in</title>" }],
    ["a page with 201", { status: 201, body: "<html>Sign in</html>" }],
  ])("takes %s for no answer to a write, a lock or an unlock", async (_, page) => {
    const server = await start("plain");
    const driver = driverOf(server);
    const lease = leaseOf(await driver.take(newHolder()));
    const first = await driver.write(document(1), undefined, lease);
    const version = first.is === "written" ? first.version : "";
    server.misbehave = ({ method }) => (method === "GET" ? undefined : page);
    expect(await codeOf(driver.write(document(2), version, lease))).toBe("state-unreachable");
    expect(await wordsOf(driver.release(lease))).toMatch(/state-unreachable/);
    expect(await codeOf(driver.remove(lease.holder.id))).toBe("state-unreachable");
    expect(await wordsOf(driver.release(lease))).not.toContain("Sign in");
    expect([server.document, server.lock === undefined]).toEqual([document(1), false]);
    const other = driverOf(server);
    expect(await wordsOf(other.take(newHolder()))).toContain(
      "HTML page in place of an answer (lock the state)",
    );
    // Some frameworks give every answer that type: an empty one is no page.
    const empty = { status: 200, headers: { "content-type": "text/html" }, after: true };
    server.misbehave = ({ method }) => (method === "GET" ? undefined : empty);
    expect(await driver.write(document(2), version, lease)).toMatchObject({ is: "written" });
    await driver.release(lease);
    expect([server.document, server.lock]).toEqual([document(2), undefined]);
  });

  const holder = { ...newHolder(), id: "00112233445566aa" };
  const info = (path: string): string =>
    `{"ID":"00112233445566aa","Operation":"apply","Info":"{\\"host\\":\\"ci-7\\",\\"pid\\":4711,\\"expires\\":\\"2026-11-22T10:01:00.000Z\\"}","Who":"ada@ci-7","Version":"graphform","Created":"2026-11-22T10:00:00.000Z","Path":"${path}"}`;

  it.each([
    ["plain", ["LOCK /states/orders/the-lock", "UNLOCK /states/orders/the-lock", "/states/orders"]],
    [
      "gitlab",
      [
        "POST /api/v4/projects/42/terraform/state/orders/lock",
        "DELETE /api/v4/projects/42/terraform/state/orders/lock?ID=00112233445566aa",
        "/api/v4/projects/42/terraform/state/orders",
      ],
    ],
    [
      "gitea",
      [
        "POST /api/packages/team/terraform/state/orders/lock",
        "DELETE /api/packages/team/terraform/state/orders/lock?ID=00112233445566aa",
        "/api/packages/team/terraform/state/orders",
      ],
    ],
  ] as const)("sends what %s expects, byte for byte", async (dialect, [lock, unlock, state]) => {
    const server = await start(dialect);
    const driver = driverOf(server);
    const lease = leaseOf(await driver.take(holder));
    await driver.write(document(1), undefined, lease);
    await driver.release(lease);
    const record = info(server.address);
    // The lock was asked for once more, under another ID, to see that it keeps others out.
    const [taken, tried, ...rest] = server.calls;
    expect([tried?.method, tried?.target]).toEqual([taken?.method, taken?.target]);
    expect(String(tried?.body)).not.toContain("00112233445566aa");
    expect(
      [taken, ...rest].map((call) => call && [`${call.method} ${call.target}`, call.body.toString()]),
    ).toEqual([
      [lock, record],
      [`GET ${state}`, ""],
      [`GET ${state}`, ""],
      [`POST ${state}?ID=00112233445566aa`, document(1)],
      [`GET ${state}`, ""],
      [unlock, record],
    ]);
    expect(server.calls.map((call) => call.headers["content-type"])).toEqual([
      "application/json",
      "application/json",
      undefined,
      undefined,
      "application/json",
      undefined,
      "application/json",
    ]);
  });

  it("uses the addresses and methods that it is given, and keeps a query", async () => {
    const server = await start("gitlab");
    const driver = driverOf(server, {
      dialect: "plain",
      address: `${server.address}?tenant=a%20b`,
      lockAddress: `${server.address}/lock?tenant=1`,
      lockMethod: "POST",
      unlockMethod: "DELETE",
      updateMethod: "PUT",
    });
    const lease = leaseOf(await driver.take(holder));
    await codeOf(driver.write(document(1), undefined, lease));
    await driver.release(lease);
    const { pathname } = new URL(server.address);
    expect(server.calls.map(({ method, target }) => `${method} ${target}`)).toEqual([
      `POST ${pathname}/lock?tenant=1`,
      `POST ${pathname}/lock?tenant=1`,
      `GET ${pathname}?tenant=a%20b`,
      `GET ${pathname}?tenant=a%20b`,
      `PUT ${pathname}?tenant=a+b&ID=00112233445566aa`,
      `DELETE ${pathname}/lock?tenant=1&ID=00112233445566aa`,
    ]);
    expect(driver.where).toBe(server.address);
  });

  it.each([
    ["no lock address", { address: "https://store.example.com/orders" }, "state-unsuitable"],
    [
      "a user in the address",
      { address: "https://u:secretword@store.example.com/api/v4/projects/1/terraform/state/a" },
      "url-invalid",
    ],
    [
      "http to another machine",
      { address: "http://store.example.com/x", lockAddress: "https://a.example.com" },
      "url-in-clear",
    ],
    ["no address at all", { address: "store secretword" }, "url-invalid"],
    [
      "a method that is none",
      {
        address: "https://s.example.com/x",
        lockAddress: "https://s.example.com/x",
        lockMethod: "LOCK /secretword",
      },
      "state-unsuitable",
    ],
  ])("refuses %s", async (_, config, code) => {
    const create = async (): Promise<void> => void createHttpDriver(config, () => undefined);
    expect(await codeOf(create())).toBe(code);
    expect(await wordsOf(create())).not.toContain("secretword");
  });

  it("knows GitLab below a path, and asks it for no look at the lock", async () => {
    const server = await start("plain");
    const address = `${server.origin}/git/api/v4/projects/a%2Fb/terraform/state/orders`;
    const driver = createHttpDriver({ address }, () => undefined);
    onTestFinished(() => driver.close());
    await codeOf(driver.take(holder));
    expect(server.calls.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "POST /git/api/v4/projects/a%2Fb/terraform/state/orders/lock",
    ]);
  });

  it("sees that its lock is gone where a server shows it, and asks one that does not only once", async () => {
    const server = await start("plain");
    const driver = driverOf(server);
    const lease = leaseOf(await driver.take(newHolder()));
    const looks = (): number => server.calls.filter(({ method }) => method === "GET").length;
    await driver.renew(lease, lease.holder);
    await driver.renew(lease, lease.holder);
    expect(looks()).toBe(1);
    server.manners.shows = true;
    const again = leaseOf(await driver.take(lease.holder));
    expect(await driver.renew(again, again.holder)).toMatchObject({ is: "renewed" });
    server.lock = undefined;
    expect(await driver.renew(again, again.holder)).toEqual({ is: "lost" });
    const other = newHolder();
    await driverOf(server).take(other);
    expect(await driver.renew(again, again.holder)).toMatchObject({ is: "lost", to: { id: other.id } });
  });

  it("refuses a server that opens its lock for any id", async () => {
    const server = await start("plain");
    server.manners.ignoresId = true;
    expect(await wordsOf(driverOf(server).probe())).toContain("removes its lock for any ID");
    expect(server.lock).toBeUndefined();
  });

  it("finds its own lock again on a Gitea that names no holder", async () => {
    const server = await start("gitea");
    server.manners.hidesHolder = true;
    const driver = driverOf(server);
    const holder = newHolder();
    server.misbehave = () => "cut-after";
    expect(await codeOf(driver.take(holder))).toBe("state-unreachable");
    server.misbehave = () => undefined;
    expect(await driver.take(holder)).toMatchObject({ is: "taken" });
    expect(await driver.take(newHolder())).toMatchObject({
      is: "held",
      by: { id: "unknown", who: "somebody" },
    });
    expect(server.lock).toMatchObject({ ID: holder.id });
  });

  it("takes an answer that does not fit its digest for none", async () => {
    const server = await start("plain");
    server.document = document(1);
    const driver = driverOf(server);
    server.misbehave = () => ({
      status: 200,
      headers: { "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" },
      body: document(1),
    });
    expect(await wordsOf(driver.read())).toMatch(
      /state-unreachable.*Content-MD5|Content-MD5.*state-unreachable/s,
    );
    server.misbehave = () => undefined;
    expect((await driver.read())?.text).toBe(document(1));
  });

  it("says what GitLab's 422 may mean, and that a serial is stored once", async () => {
    const server = await start("gitlab");
    const driver = driverOf(server);
    const lease = leaseOf(await driver.take(newHolder()));
    await driver.write(document(1), undefined, lease);
    const version = (await driver.read())?.version;
    expect(await wordsOf(driver.write(document(1, "other"), version, lease))).toContain("422");
    expect(server.document).toBe(document(1));
  });

  it("looks whether a state of GitLab is locked without making its record", async () => {
    const server = await start("gitlab");
    expect(await driverOf(server).holder()).toBeUndefined();
    expect(server.calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("takes a page for no state, whatever its type, and an unreadable holder for somebody", async () => {
    const server = await start("plain");
    const driver = driverOf(server);
    server.misbehave = () => ({ status: 200, body: "<html>sign in</html>" });
    await expect(driver.read()).rejects.toMatchObject({
      code: "state-unreachable",
      message: expect.stringContaining("sent an HTML page in place of an answer (read the state)"),
      hint: expect.stringMatching(/a sign-in or a proxy/),
    });
    const html = { "content-type": "text/html" };
    server.misbehave = () => ({ status: 200, headers: html, body: "{}" });
    expect((await driver.read())?.text).toBe("{}");
    server.misbehave = () => ({ status: 423, body: "<html>locked</html>" });
    expect(await driver.take(newHolder())).toMatchObject({ is: "held", by: { id: "unknown" } });
  });

  it("cannot be reached where nothing listens, and names no secret", async () => {
    const server = await start("plain");
    const driver = driverOf(server);
    await server.close();
    const words = await wordsOf(driver.read());
    expect(words).toContain("cannot be reached");
    expect(words).not.toContain(server.password);
  });
});

import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { StateDriver } from "../../../src/state/remote/driver.ts";
import { createS3Driver } from "../../../src/state/remote/s3/s3-driver.ts";
import {
  type AwsCredentials,
  type S3StoreConfig,
  s3Addresses,
  s3Request,
} from "../../../src/state/remote/s3/s3-request.ts";
import type { StoreRequest } from "../../../src/state/remote/store-http.ts";
import { type S3Server, startS3Server, xmlError } from "../../support/s3-server.ts";
import { codeOf, document, everyCall, leaseOf, newHolder, wordsOf } from "./holders.ts";

const key = "teams/orders (eu)/production+1.json";

async function start(): Promise<S3Server> {
  const server = await startS3Server();
  onTestFinished(() => server.close());
  return server;
}

function driverOf(
  server: S3Server,
  options: Partial<S3StoreConfig> = {},
  credentials: AwsCredentials = async () => server,
): StateDriver {
  const driver = createS3Driver(
    { bucket: server.bucket, key, endpoint: server.origin, ...options },
    credentials,
  );
  onTestFinished(() => driver.close());
  return driver;
}

describe("s3 driver", () => {
  it("reads nothing, writes, reads it back byte for byte, and refuses what is stale", async () => {
    const server = await start();
    const driver = driverOf(server);
    expect(await driver.read()).toBeUndefined();
    const lease = leaseOf(await driver.take(newHolder()));
    const first = await driver.write(document(1, "ü"), undefined, lease);
    const stored = await driver.read();
    expect(stored).toEqual({ text: document(1, "ü"), version: first.is === "written" ? first.version : "" });
    expect(await driver.write(document(2), undefined, lease)).toEqual({ is: "stale" });
    expect(await driver.write(document(2), '"00000000000000000000000000000000"', lease)).toEqual({
      is: "stale",
    });
    expect(await driver.write(document(2), stored?.version, lease)).toMatchObject({ is: "written" });
    expect(await driver.write(document(3), stored?.version, lease)).toEqual({ is: "stale" });
    expect((await driver.read())?.text).toBe(document(2));
    // 404 answers If-Match where the object is gone.
    expect(await driverOf(server, { key: "other.json" }).write(document(3), stored?.version, lease)).toEqual({
      is: "stale",
    });
  });

  it("signs what it sends: path, conditions and body, in path style", async () => {
    const server = await start();
    const driver = driverOf(server);
    const lease = leaseOf(await driver.take({ ...newHolder(), id: "00112233445566aa" }));
    await driver.write(document(1), undefined, lease);
    const path = "/team.states/teams/orders%20%28eu%29/production%2B1.json";
    expect(server.calls.map(({ method, target, status }) => `${method} ${target} ${status}`)).toEqual([
      `PUT ${path}.lock 200`,
      // Tried on the lock that was just taken: the conditions are kept.
      `PUT ${path}.lock 412`,
      `PUT ${path}.lock 412`,
      `PUT ${path} 200`,
    ]);
    const [lock, , , state] = server.calls;
    expect(JSON.parse(String(lock?.body))).toEqual({
      ID: "00112233445566aa",
      Operation: "apply",
      Info: '{"host":"ci-7","pid":4711,"expires":"2026-11-22T10:01:00.000Z"}',
      Who: "ada@ci-7",
      Version: "graphform",
      Created: "2026-11-22T10:00:00.000Z",
      Path: `s3://team.states/${key}?endpoint=${server.origin}`,
      Pid: 4711,
      Host: "ci-7",
      Heartbeat: "2026-11-22T10:00:00.000Z",
      Expires: "2026-11-22T10:01:00.000Z",
    });
    expect(state?.headers).toMatchObject({
      "if-none-match": "*",
      "x-amz-meta-serial": "1",
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIAGRAPHFORMTEST\/\d{8}\/us-east-1\/s3\/aws4_request, SignedHeaders=host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-meta-serial, Signature=[0-9a-f]{64}$/,
      ),
    });
    expect(state?.headers).not.toHaveProperty("x-amz-sdk-checksum-algorithm");
  });

  it("signs for a bucket in the name of the host as the example in AWS's documentation does", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2013-05-24T00:00:00Z") });
    onTestFinished(() => void vi.useRealTimers());
    const sent: StoreRequest[] = [];
    const request = s3Request(
      async (one) => {
        sent.push(one);
        return { status: 200, headers: {}, body: Buffer.from("") };
      },
      async () => ({
        accessKeyId: "AKIAIOSFODNN7EXAMPLE",
        secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      }),
      s3Addresses({
        bucket: "examplebucket",
        key: "x",
        endpoint: "https://s3.amazonaws.com",
        pathStyle: false,
      }),
    );
    await request({ method: "GET", query: { "max-keys": "2", prefix: "J" } });
    expect(sent.map(({ url, headers }) => [url.href, headers["authorization"]])).toEqual([
      [
        "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J",
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
      ],
    ]);
  });

  it.each([
    [
      { bucket: "states", key: "a/b.json", region: "eu-central-1" },
      "https://states.s3.eu-central-1.amazonaws.com/a/b.json",
    ],
    [{ bucket: "my.states", key: "b.json" }, "https://s3.us-east-1.amazonaws.com/my.states/b.json"],
    [
      { bucket: "states", key: "b.json", region: "cn-north-1" },
      "https://states.s3.cn-north-1.amazonaws.com.cn/b.json",
    ],
    [
      { bucket: "states", key: "b.json", endpoint: "https://minio.example.com:9000/s3/" },
      "https://minio.example.com:9000/s3/states/b.json",
    ],
    [
      { bucket: "states", key: "b.json", endpoint: "https://s3.example.com", pathStyle: false },
      "https://states.s3.example.com/b.json",
    ],
    [
      { bucket: "states", key: "b.json", region: "eu-west-1", pathStyle: true },
      "https://s3.eu-west-1.amazonaws.com/states/b.json",
    ],
  ])("addresses %j", (config, expected) => {
    expect(s3Addresses(config).url(config.key).href).toBe(expected);
  });

  it.each([
    [{ bucket: "a/b", key: "x" }, "state-unsuitable"],
    [{ bucket: "states", key: "../x" }, "state-unsuitable"],
    [{ bucket: "states", key: "/x" }, "state-unsuitable"],
    [{ bucket: "states", key: "x", region: "eu.evil.example/" }, "state-unsuitable"],
    [{ bucket: "states", key: "x", endpoint: "http://minio:9000" }, "url-in-clear"],
    [{ bucket: "states", key: "x", endpoint: "https://u:secretword@minio.example.com" }, "url-invalid"],
  ])("refuses %j", async (config, code) => {
    const create = async (): Promise<void> =>
      void createS3Driver(config, async () => ({ accessKeyId: "a", secretAccessKey: "b" }));
    expect(await codeOf(create())).toBe(code);
    expect(await wordsOf(create())).not.toContain("secretword");
  });

  it("keeps a second run out until the lease has run out by the server's clock", async () => {
    const server = await start();
    const [one, other] = [driverOf(server), driverOf(server)];
    // The clocks of the two runs are a year behind and a year ahead: nobody asks them.
    const [holder, next] = [newHolder("2025-11-22T10:00:00.000Z"), newHolder("2027-11-22T10:00:00.000Z")];
    const lease = leaseOf(await one.take(holder));
    // The server counts in seconds, and another one may have begun.
    expect(await other.take(next)).toEqual({ is: "held", by: holder, age: expect.closeTo(0, -4) });
    expect(await other.holder()).toEqual(holder);
    server.advance(50_000);
    const later = { ...holder, heartbeat: "2025-11-22T10:00:50.000Z", expires: "2025-11-22T10:01:50.000Z" };
    const renewed = await one.renew(lease, later);
    expect(renewed).toMatchObject({ is: "renewed", lease: { holder: later } });
    server.advance(50_000);
    expect(await other.take(next)).toEqual({ is: "held", by: later, age: expect.closeTo(50_000, -4) });
    server.advance(20_000);
    expect(await other.holder()).toBeUndefined();
    const taken = await other.take(next);
    expect(taken).toMatchObject({ is: "taken", over: later });
    // The old holder wakes up.
    const { lease: old } = renewed.is === "renewed" ? renewed : { lease };
    expect(await one.renew(old, later)).toEqual({ is: "lost", to: next });
    await one.release(old);
    expect(await other.holder()).toEqual(next);
    await other.release(leaseOf(taken));
    expect(await one.holder()).toBeUndefined();
  });

  it("gives the lock to one of many that ask at once", async () => {
    const server = await start();
    const drivers = Array.from({ length: 8 }, () => driverOf(server));
    const race = async (): Promise<readonly number[]> => {
      const taken = await Promise.all(drivers.map((driver) => driver.take(newHolder())));
      return taken.flatMap(({ is }, index) => (is === "taken" ? [index] : []));
    };
    expect(await race()).toHaveLength(1);
    server.advance(120_000);
    // Over a lease that has run out, too.
    expect(await race()).toHaveLength(1);
  });

  it("leaves a lock that was given back as an object, and deletes it where nobody else's can be hit", async () => {
    const server = await start();
    const driver = driverOf(server);
    const lock = "/team.states/teams/orders%20%28eu%29/production%2B1.json.lock";
    await driver.release(leaseOf(await driver.take(newHolder())));
    expect(server.objects()).toEqual([lock]);
    expect(await driver.holder()).toBeUndefined();
    // Nobody was pushed aside: the lock was given back.
    const again = await driver.take(newHolder());
    expect(again).not.toHaveProperty("over");
    await driver.probe();
    await driver.release(leaseOf(again));
    await driver.release(leaseOf(again));
    expect(server.objects()).toEqual([]);
    server.deletesByEtag = false;
    await driver.probe();
    await driver.release(leaseOf(await driver.take(newHolder())));
    expect(server.objects()).toEqual([lock]);
  });

  it("removes a lock by its exact id and by no other", async () => {
    const server = await start();
    const driver = driverOf(server);
    const holder = newHolder();
    expect(await driver.remove(holder.id)).toBe(false);
    const lease = leaseOf(await driver.take(holder));
    expect(await driver.remove("0123456789abcdef")).toBe(false);
    expect(await driver.holder()).toEqual(holder);
    expect(await driver.remove(holder.id)).toBe(true);
    expect(await driver.remove(holder.id)).toBe(false);
    expect(await driver.renew(lease, holder)).toEqual({ is: "lost" });
    expect(await driver.take(newHolder())).toMatchObject({ is: "taken" });
  });

  it("finds its own lock again after lost answers to taking, renewing and giving back", async () => {
    const server = await start();
    const driver = driverOf(server);
    const holder = newHolder();
    const cut = (): void => {
      server.misbehave = ({ method }) => (method === "PUT" ? "cut-after" : undefined);
    };
    const heal = (): void => {
      server.misbehave = () => undefined;
    };
    cut();
    expect(await codeOf(driver.take(holder))).toBe("state-unreachable");
    heal();
    const lease = leaseOf(await driver.take(holder));
    const later = { ...holder, heartbeat: "2026-11-22T10:00:20.000Z" };
    cut();
    expect(await codeOf(driver.renew(lease, later))).toBe("state-unreachable");
    heal();
    const renewed = await driver.renew(lease, { ...holder, heartbeat: "2026-11-22T10:00:40.000Z" });
    expect(renewed).toMatchObject({ is: "renewed" });
    cut();
    expect(await codeOf(driver.release(lease))).toBe("state-unreachable");
    heal();
    await driver.release(lease);
    expect(await driver.holder()).toBeUndefined();
  });

  it("takes an object that is no lock for somebody's, for a minute", async () => {
    const server = await start();
    await driverOf(server, { key: `${key}.lock` }).write("<html>", undefined, {
      holder: newHolder(),
      token: "",
    });
    const driver = driverOf(server);
    expect(await driver.take(newHolder())).toMatchObject({ is: "held", by: { who: "somebody" } });
    server.advance(62_000);
    expect(await driver.take(newHolder())).toMatchObject({ is: "taken", over: { who: "somebody" } });
  });

  it("proves that the server refuses what it must, and leaves nothing", async () => {
    const server = await start();
    const driver = driverOf(server);
    await driver.prepare();
    await driver.probe();
    expect(server.objects()).toEqual([]);
    expect(server.calls.map(({ method, status }) => `${method} ${status}`).slice(0, 6)).toEqual([
      ...["PUT 200", "PUT 412", "PUT 412", "PUT 200", "DELETE 412", "DELETE 204"],
    ]);
  });

  it("refuses a server that ignores conditions in silence, and names it", async () => {
    const server = await start();
    const driver = driverOf(server, { endpoint: server.bare });
    for (const call of [driver.prepare, driver.probe]) {
      expect(await codeOf(call())).toBe("state-unsuitable");
      expect(await wordsOf(call())).toMatch(
        /endpoint=http:\/\/127\.0\.0\.1:\d+ stores what it must refuse: it ignores If-None-Match/,
      );
    }
    // No run begins there either.
    expect(await wordsOf(driver.take(newHolder()))).toMatch(/ignores If-None-Match/);
    expect(await driver.holder()).toBeUndefined();
    // One that knows If-None-Match alone is refused as well.
    server.misbehave = ({ method, headers }) =>
      method === "PUT" && headers["if-match"] !== undefined
        ? { status: 200, headers: { etag: '"x"', server: "OldStore/1.0" } }
        : undefined;
    expect(await wordsOf(driverOf(server).probe())).toMatch(
      /ignores If-Match \(its server calls itself OldStore\/1\.0\)/,
    );
    server.misbehave = ({ headers }) =>
      headers["if-none-match"] ? xmlError(501, "NotImplemented") : undefined;
    expect(await codeOf(driverOf(server).probe())).toBe("state-unsuitable");
    expect(server.objects()).toEqual([]);
  });

  it("shows the versions that a bucket keeps, and reads them", async () => {
    const server = await start();
    const driver = driverOf(server);
    const lease = leaseOf(await driver.take(newHolder()));
    await driver.write(document(1), undefined, lease);
    expect(await driver.history()).toBeUndefined();
    server.versioned = true;
    for (const serial of [2, 3, 4])
      await driver.write(document(serial), (await driver.read())?.version, lease);
    const versions = await driver.history();
    expect(versions?.map(({ serial }) => serial)).toEqual([4, 3, 2, 1]);
    expect(await driver.readVersion(versions?.[2]?.id ?? "")).toBe(document(2));
    expect(await codeOf(driver.readVersion("v99"))).toBe("version-unknown");
    server.misbehave = () => xmlError(400, "InvalidArgument");
    expect(await codeOf(driver.readVersion("no id"))).toBe("version-unknown");
    server.misbehave = () => xmlError(400, "ExpiredToken");
    expect(await codeOf(driver.readVersion("v2"))).toBe("state-denied");
  });

  it("says denied for wrong keys and missing rights, and leaves everything as it was", async () => {
    const server = await start();
    const wrong = [
      { accessKeyId: server.accessKeyId, secretAccessKey: "wrong-signing-key" },
      { accessKeyId: "AKIAUNKNOWN", secretAccessKey: server.secretAccessKey },
    ];
    for (const keys of wrong) {
      const driver = driverOf(server, {}, async () => keys);
      expect(await codeOf(driver.read())).toBe("state-denied");
      expect(await codeOf(driver.take(newHolder()))).toBe("state-denied");
      expect(await codeOf(driver.probe())).toBe("state-denied");
    }
    server.misbehave = ({ method, target }) =>
      method === "PUT" && target.endsWith(".lock") ? xmlError(403, "AccessDenied") : undefined;
    expect(await codeOf(driverOf(server).take(newHolder()))).toBe("state-denied");
    expect(server.objects()).toEqual([]);
  });

  it.each([
    [xmlError(404, "NoSuchBucket"), "state-unsuitable", /NoSuchBucket/],
    [
      { ...xmlError(301, "PermanentRedirect"), headers: { "x-amz-bucket-region": "eu-west-3" } },
      "state-unsuitable",
      /set region: eu-west-3/,
    ],
    [xmlError(403, "RequestTimeTooSkewed"), "state-denied", /clock of this machine/],
    [xmlError(403, "SignatureDoesNotMatch"), "state-denied", /AWS_SECRET_ACCESS_KEY/],
    [xmlError(503, "SlowDown"), "state-unreachable", /fewer requests/],
    [xmlError(409, "ConditionalRequestConflict"), "state-unreachable", /busy/],
    [xmlError(501, "NotImplemented"), "state-unsuitable", /If-None-Match/],
    [xmlError(400, "SomethingNew"), "state-unsuitable", /400/],
    [{ status: 200, body: "{}" }, "state-unsuitable", /no ETag/],
    [{ status: 500, body: "<html>" }, "state-unreachable", /500/],
    ["cut-before", "state-unreachable", /ended the connection/],
    ["cut-after", "state-unreachable", /ended the connection/],
  ] as const)("understands %j", async (fault, code, words) => {
    const server = await start();
    const driver = driverOf(server);
    server.misbehave = () => fault;
    const lease = { holder: newHolder(), token: "" };
    for (const call of [() => driver.read(), () => driver.write(document(1), '"x"', lease)]) {
      expect(await codeOf(call())).toBe(code);
      expect(await wordsOf(call())).toMatch(words);
    }
  });

  it("waits for an answer no longer than it was told", async () => {
    const server = await start();
    server.misbehave = () => "hang";
    expect(await wordsOf(driverOf(server, { timeout: 100 }).read())).toContain("did not answer within 0.1 s");
  });

  it("fetches keys again whose session has ended, and sends the request once more", async () => {
    const server = await start();
    const asked: boolean[] = [];
    const driver = driverOf(server, {}, async (fresh = false) => {
      asked.push(fresh);
      return fresh
        ? server
        : { accessKeyId: "ASIAOLD", secretAccessKey: "old-signing-key", sessionToken: "old-session" };
    });
    server.expired.add("ASIAOLD");
    const lease = leaseOf(await driver.take(newHolder()));
    expect(await driver.write(document(1), undefined, lease)).toMatchObject({ is: "written" });
    // Once for each request, and once more for its repetition.
    expect(asked).toEqual(server.calls.map((_, index) => index % 2 === 1));
    server.expired.add(server.accessKeyId);
    expect(await codeOf(driver.read())).toBe("state-denied");
  });

  it("shows no key in any error, address or body", async () => {
    const server = await start();
    const keys = { ...server, sessionToken: "the-session-token-0123" };
    const secrets = [keys.secretAccessKey, encodeURIComponent(keys.secretAccessKey), keys.sessionToken];
    const driver = driverOf(server, {}, async () => keys);
    const statuses = [200, 301, 400, 401, 403, 404, 409, 412, 500, 501, 503];
    for (const status of statuses) {
      server.misbehave = ({ headers }) => ({
        ...xmlError(status, secrets.join(), `${headers.authorization} ${secrets.join()}`),
        headers: { server: keys.secretAccessKey, etag: `"x"`, "x-amz-bucket-region": keys.sessionToken },
      });
      for (const call of everyCall(driver)) {
        const words = await wordsOf(call());
        for (const secret of secrets) expect(words).not.toContain(secret);
      }
    }
    for (const { target, body } of server.calls)
      for (const secret of secrets) expect(`${target} ${body}`).not.toContain(secret);
  });

  it("carries documents of 5 MB", async () => {
    const server = await start();
    const driver = driverOf(server);
    const lease = leaseOf(await driver.take(newHolder()));
    const large = document(1, "ä".repeat(2_500_000));
    const written = await driver.write(large, undefined, lease);
    const stored = await driver.read();
    expect(stored?.text === large).toBe(true);
    expect(written).toEqual({ is: "written", version: stored?.version });
  });
});

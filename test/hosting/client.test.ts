import { describe, expect, it } from "vitest";
import { createService } from "../../src/hosting/client.ts";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import { systemClock } from "../../src/model/clock.ts";
import { knownSecrets } from "../../src/model/known-secrets.ts";
import { listen, type Reply } from "./listen.ts";
import { always, behindSignIn, failure, fastClock, nappingClock, place, serviceOf } from "./service-of.ts";

const profile = await loadProfile("default");
const component = "/2022-09-01-00/resource-instance/sp-default/graphdb/v1/prod/hosted/pro/standalone";
const describeCall = { operation: "instance.describe", params: { ...place, id: "i-1" } };
const createCall = { operation: "instance.create", params: place, body: { region: "us-east-1" } };

describe("requests", () => {
  it("fills in the profile's keys and the caller's parameters, encoded", async () => {
    const server = await listen(behindSignIn(() => ({ body: { status: "RUNNING" } })));
    const service = await serviceOf(server, { subscriptionId: "sub/1 ü" });
    await service.read({ operation: "instance.describe", params: { ...place, id: "a/b?c#d%e" } }, always);
    expect(server.seen[1]).toMatchObject({
      method: "GET",
      url: `${component}/a%2Fb%3Fc%23d%25e?subscriptionId=sub%2F1%20%C3%BC`,
      headers: { cookie: "svc_token=token-1", accept: "application/json" },
    });
  });

  it.each([".", "..", ""])("refuses the id %j before anything is sent", async (id) => {
    const server = await listen(behindSignIn(() => ({})));
    const service = await serviceOf(server);
    const error = await failure(
      service.read({ operation: "instance.describe", params: { ...place, id } }, always),
    );
    expect(error).toMatchObject({ code: "path-parameter" });
    expect(server.to("/user/signin").length).toBe(server.seen.length);
  });

  it("sends bodies in the service's spelling and leaves queries without a value out", async () => {
    const server = await listen(behindSignIn(() => ({ status: 202 })));
    const service = await serviceOf(server);
    const body = { failedReplicaId: "node-sz-1", failedReplicaAction: "FAILOVER_ONLY" };
    await service.write({ operation: "instance.failover", params: { ...place, id: "i-1" }, body }, always);
    expect(server.seen[1]).toMatchObject({ method: "POST", url: `${component}/i-1/failover` });
    expect(server.seen[1]?.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(server.seen[1]?.body ?? "")).toEqual({
      failed_replica_id: "node-sz-1",
      failed_replica_action: "FAILOVER_ONLY",
    });
  });

  it("knows the newest time of each host by its answers, refusals too", async () => {
    const now = Date.now();
    const at = (second: number): string => new Date(now + second * 1000).toUTCString();
    const answers: Reply[] = [
      { body: { status: "RUNNING" }, headers: { date: at(1) } },
      { status: 404, headers: { date: at(2) } },
      { body: { status: "RUNNING" }, headers: { date: "soon" } },
    ];
    const server = await listen(behindSignIn(() => answers.shift() ?? {}));
    const users = await listen(behindSignIn(() => ({ body: { users: [] }, headers: { date: at(9) } })));
    const service = await serviceOf(server, { usersUrl: users.url });
    const dates: (number | undefined)[] = [service.date("user.list")];
    for (let nth = 0; nth < 3; nth += 1) {
      await service.read(describeCall, always).catch(() => undefined);
      dates.push(service.date("instance.describe"));
    }
    expect(dates).toEqual([undefined, ...[1, 2, 2].map((second) => Date.parse(at(second)))]);
    expect(service.date("user.list")).toBeUndefined();
    await service.read({ operation: "user.list", params: { instanceId: "i-1" } }, always);
    expect(service.date("user.list")).toBe(Date.parse(at(9)));
  });

  it.each([
    ["an older time, out of a cache, changes nothing", [60, 20], 60],
    ["no time if the answers are of two clocks", [60, 3660], undefined],
    ["no time if one of them was long ago", [3660, 60], undefined],
    ["the newest of clocks that nearly agree", [60, 240, 100], 240],
  ])("knows of a host %s", async (_, seconds, newest) => {
    const start = Math.floor(Date.now() / 1000) * 1000;
    const dates = seconds.map((second) => new Date(start + second * 1000).toUTCString());
    const server = await listen(
      behindSignIn(() => ({ body: { status: "RUNNING" }, headers: { date: dates.shift() ?? "" } })),
    );
    const service = await serviceOf(server);
    for (const _second of seconds) await service.read(describeCall, always);
    expect(service.date("instance.describe")).toBe(newest && start + newest * 1000);
  });

  it("keeps the path of the URL that it was given", async () => {
    const server = await listen(({ url }) =>
      url === "/gateway/2022-09-01-00/resource-instance/user/signin"
        ? { body: { token: "t" } }
        : { body: { ids: [] } },
    );
    const service = await serviceOf({ url: `${server.url}/gateway/` });
    await service.read({ operation: "instance.list", params: place }, always);
    expect(server.seen[1]?.url).toBe(`/gateway${component}`);
  });

  it("has no operation that the profile does not have", async () => {
    const service = await serviceOf({ url: "http://127.0.0.1:9" });
    expect(service.offers("network.update")).toBe(true);
    expect(service.offers("network.create")).toBe(false);
    expect(service.offers("constructor")).toBe(false);
    const error = await failure(service.write({ operation: "network.create", params: {} }, always));
    expect(error).toMatchObject({ code: "not-offered" });
  });

  it("traces method, path, status and time, and nothing else", async () => {
    const lines: string[] = [];
    const server = await listen(behindSignIn(() => ({ status: 202, body: { id: "i-1" } })));
    const service = await serviceOf(server, { trace: (line) => lines.push(line) });
    await service.write({ ...createCall, body: { requestParams: { graphdbPassword: "hunter22" } } }, always);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(new RegExp(`^POST ${component} 202 \\d+ ms$`));
    expect(lines.join()).not.toMatch(/hunter22|token-1|s3cret/);
  });
});

describe("reads", () => {
  const passing: readonly (readonly [string, Reply])[] = [
    ["500", { status: 500 }],
    ["503", { status: 503 }],
    ["a cut connection", "cut"],
    ["nonsense", { body: "<html>" }],
    ["a temporary refusal", { status: 400, body: { message: "later", temporary: true } }],
  ];

  it.each(passing)("repeat after %s", async (_, reply) => {
    const server = await listen(
      behindSignIn((_seen, number) => (number < 4 ? reply : { body: { status: "RUNNING" } })),
    );
    const clock = nappingClock();
    const service = await serviceOf(server, { clock });
    const { values } = await service.read(describeCall, always);
    expect(values["status"]).toBe("RUNNING");
    expect(clock.slept).toHaveLength(3);
    expect(clock.slept[2]).toBeGreaterThan(clock.slept[0] ?? Number.POSITIVE_INFINITY);
  });

  it("give up after six tries", async () => {
    const server = await listen(behindSignIn(() => ({ status: 502 })));
    const error = await failure((await serviceOf(server)).read(describeCall, always));
    expect(error).toMatchObject({ failure: "unavailable", status: 502, mayHaveWorked: false });
    expect(server.seen).toHaveLength(1 + 6);
  });

  it.each([400, 403, 404, 409, 422, 302])("take %i for an answer", async (status) => {
    const server = await listen(behindSignIn(() => ({ status, headers: { location: "/elsewhere" } })));
    await failure((await serviceOf(server)).read(describeCall, always));
    expect(server.seen).toHaveLength(2);
  });

  it("do not follow a redirect, and say so", async () => {
    const other = await listen(() => ({ body: { status: "RUNNING" } }));
    const server = await listen(
      behindSignIn(() => ({ status: 307, headers: { location: `${other.url}/x` } })),
    );
    const error = await failure((await serviceOf(server)).read(describeCall, always));
    expect(error).toMatchObject({
      failure: "shape",
      message: expect.stringMatching(/^instance\.describe: .*redirect/),
    });
    expect(other.seen).toEqual([]);
  });

  it("wait as long as a 503 asks", async () => {
    const server = await listen(
      behindSignIn((_seen, number) =>
        number === 1 ? { status: 503, headers: { "retry-after": "7" } } : { body: { status: "RUNNING" } },
      ),
    );
    const clock = fastClock(100);
    const begun = clock.now();
    await (await serviceOf(server, { clock })).read(describeCall, always);
    expect(clock.now() - begun).toBeGreaterThanOrEqual(7000);
  });
});

describe("writes", () => {
  const lost: readonly (readonly [string, Reply, string])[] = [
    ["500", { status: 500 }, "lost"],
    ["502", { status: 502 }, "lost"],
    ["503", { status: 503 }, "lost"],
    ["408", { status: 408 }, "lost"],
    ["a cut connection", "cut", "lost"],
    ["nonsense", { status: 202, body: "<html>" }, "shape"],
    ["no id", { status: 202, body: {} }, "shape"],
    ["an id that is none", { status: 202, body: { id: { a: 1 } } }, "shape"],
    ["a redirect", { status: 303 }, "shape"],
  ];

  it.each(lost)("are sent once, and may have worked: %s", async (_, reply, failed) => {
    const server = await listen(behindSignIn(() => reply));
    const error = await failure((await serviceOf(server)).write(createCall, always));
    expect(error).toMatchObject({ failure: failed, mayHaveWorked: true, operation: "instance.create" });
    expect(server.to("/standalone")).toHaveLength(1);
  });

  const refusedBy: readonly (readonly [number, string, string])[] = [
    [400, "bad", "invalid"],
    [403, "no", "forbidden"],
    [404, "none", "not-found"],
    [409, "invalid state", "conflict"],
    [409, "An Operation is already in progress for it", "busy"],
    [413, "large", "invalid"],
  ];

  it.each(refusedBy)("surely did nothing: %i %s", async (status, message, failed) => {
    const server = await listen(behindSignIn(() => ({ status, body: { name: "x", message } })));
    const error = await failure((await serviceOf(server)).write(createCall, always));
    expect(error).toMatchObject({ failure: failed, mayHaveWorked: false, status });
    expect(server.to("/standalone")).toHaveLength(1);
  });

  it.each<[string, Reply, string]>([
    ["a 429", { status: 429, headers: { "retry-after": "2" } }, "rate-limited"],
    ["a session that has ended", { status: 401 }, "unauthorized"],
    ["a failure", { status: 503 }, "lost"],
  ])("are sent once, whatever comes back: %s", async (_, reply, expected) => {
    const server = await listen(behindSignIn(() => reply));
    const service = await serviceOf(server, { clock: fastClock(1000) });
    const error = await failure(service.write(createCall, always));
    expect(error).toMatchObject({ failure: expected, wasSent: true });
    expect(server.to("/standalone")).toHaveLength(1);
  });

  it("say that they were never sent where nobody listened, or nobody could sign in", async () => {
    const service = await serviceOf({ url: "http://127.0.0.1:1" }, { clock: nappingClock() });
    const error = await failure(service.write(createCall, always));
    expect(error).toMatchObject({
      failure: "unavailable",
      mayHaveWorked: false,
      wasSent: false,
      hint: expect.stringContaining("address"),
    });
  });

  it("need no answer where none is promised", async () => {
    const server = await listen(behindSignIn(() => ({ status: 202, body: "accepted" })));
    const { body } = await (await serviceOf(server)).write(
      { operation: "instance.stop", params: { ...place, id: "i-1" } },
      always,
    );
    expect(body).toBeNull();
  });
});

describe("an abort", () => {
  it("ends a request in flight, which may have worked", async () => {
    const stop = new AbortController();
    const server = await listen(
      behindSignIn(() => {
        stop.abort(new Error("ctrl-c"));
        return "hang";
      }),
    );
    const error = await failure((await serviceOf(server)).write(createCall, stop.signal));
    expect(error).toMatchObject({ failure: "aborted", mayHaveWorked: true });
  });

  it("ends a wait for the session, and leaves the session to the others", async () => {
    const stop = new AbortController();
    let letIn = (): void => undefined;
    const door = new Promise<void>((resolve) => {
      letIn = resolve;
    });
    const server = await listen(async ({ url }) => {
      if (!url.endsWith("/user/signin")) return { body: { ids: [] } };
      await door;
      return { body: { token: "t" } };
    });
    const service = await serviceOf(server);
    const other = service.read({ operation: "instance.list", params: place }, always);
    const mine = failure(service.read({ operation: "instance.list", params: place }, stop.signal));
    stop.abort();
    expect(await mine).toMatchObject({ failure: "aborted", mayHaveWorked: false });
    letIn();
    await expect(other).resolves.toMatchObject({ values: { ids: [] } });
    expect(server.to("/user/signin")).toHaveLength(1);
  });

  it("before the start sends nothing", async () => {
    const server = await listen(behindSignIn(() => ({})));
    const error = await failure((await serviceOf(server)).read(describeCall, AbortSignal.abort()));
    expect(error).toMatchObject({ failure: "aborted" });
    expect(server.seen).toEqual([]);
  });
});

describe("credentials", () => {
  const open = (platformUrl: string): unknown => createService({ profile, platformUrl, clock: systemClock });

  it.each(["http://platform.example.com", "http://10.0.0.1:80", "http://127.evil.example.com"])(
    "do not travel in clear to %s",
    (url) => {
      expect(() => open(url)).toThrow(expect.objectContaining({ code: "url-in-clear", exitCode: 1 }));
    },
  );

  it.each([
    "https://platform.example.com",
    "http://localhost:1",
    "http://127.0.0.1:1",
    "http://127.9.9.9",
    "http://[::1]:1",
  ])("may travel to %s", (url) => {
    expect(() => open(url)).not.toThrow();
  });

  it.each(["platform.example.com", "ftp://x.example.com", "https://x.example.com/?a=1", ""])(
    "need a URL, not %j",
    (url) => {
      expect(() => open(url)).toThrow(expect.objectContaining({ code: "url-invalid" }));
    },
  );

  it("in a URL are refused and not repeated", () => {
    expect(() => open("https://ada:hunter22@x.example.com")).toThrow(
      expect.objectContaining({ code: "url-invalid", message: expect.not.stringContaining("hunter22") }),
    );
  });

  it("that a refusal repeats are masked, in every spelling", async () => {
    const password = 'p"ä ss/w0rd';
    const server = await listen(
      behindSignIn(({ body, headers }) => ({
        status: 400,
        body: {
          name: "bad_request",
          message: `${password} | ${body} | ${encodeURIComponent(password)} | ${headers.cookie}`,
        },
      })),
    );
    const secrets = knownSecrets();
    secrets.add([password]);
    const service = await serviceOf(server, { secrets });
    const error = await failure(
      service.write({ ...createCall, body: { requestParams: { graphdbPassword: password } } }, always),
    );
    const said = JSON.stringify(error, Object.getOwnPropertyNames(error));
    expect(error).toMatchObject({ failure: "invalid", message: expect.stringContaining("(sensitive)") });
    for (const spelling of [
      password,
      JSON.stringify(password).slice(1, -1),
      encodeURIComponent(password),
      "token-1",
    ]) {
      expect(said).not.toContain(spelling);
    }
  });
});

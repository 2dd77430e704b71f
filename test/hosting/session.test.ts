import { describe, expect, it } from "vitest";
import { loadProfile } from "../../src/hosting/profile/load-profile.ts";
import type { Client, ServiceOptions } from "../../src/hosting/service-options.ts";
import type { SessionStore } from "../../src/hosting/session/session.ts";
import type { Tokens } from "../../src/hosting/session/session-tokens.ts";
import { createThrottle, type Throttle } from "../../src/hosting/throttle/throttle.ts";
import { type Clock, systemClock } from "../../src/model/clock.ts";
import { type Listening, listen, type Reply, type Seen } from "./listen.ts";
import { always, failure, place, serviceOf } from "./service-of.ts";

const list = { operation: "instance.list", params: place };

/** A service with sessions: each token works until it is revoked, each refresh token once. */
interface Guarded extends Listening {
  revoke(): void;
  /** Tokens given out by sign-in and by refresh. */
  readonly given: { signIns: number; refreshes: number };
}

interface Settings {
  readonly life?: number;
  /** What a request with a token that is no longer good is answered. */
  readonly stale?: Reply;
  readonly refresh?: (seen: Seen) => Reply | undefined;
  readonly asBody?: boolean;
}

async function guarded(settings: Settings = {}): Promise<Guarded> {
  const { life = 3600, stale = { status: 401, body: { name: "auth_failure", message: "expired" } } } =
    settings;
  const given = { signIns: 0, refreshes: 0 };
  let good = "";
  let refresh = "";
  const pair = (): Reply => {
    good = `token-${given.signIns}-${given.refreshes}`;
    refresh = `refresh-${given.signIns}-${given.refreshes}`;
    if (settings.asBody === true) return { body: { jwtToken: good, refreshToken: refresh } };
    const cookies = [
      `svc_token=${good}; Max-Age=${life}; Path=/; Secure`,
      `svc_refresh_token=${refresh}; Max-Age=86400; Path=/`,
    ];
    return { headers: { "set-cookie": cookies } };
  };
  const server = await listen(async (seen) => {
    if (seen.url.endsWith("/user/signin")) {
      const basic = Buffer.from(
        seen.headers.authorization?.slice("Basic ".length) ?? "",
        "base64",
      ).toString();
      if (basic !== "ada:s3cret-Pa55")
        return { status: 401, body: { name: "auth_failure", message: `not ${basic}` } };
      given.signIns += 1;
      return pair();
    }
    if (seen.url.endsWith("/refresh-token")) {
      const special = settings.refresh?.(seen);
      if (special !== undefined) return special;
      const sent: unknown = JSON.parse(seen.body);
      if (JSON.stringify(sent) !== JSON.stringify({ refreshToken: refresh })) return { status: 401 };
      given.refreshes += 1;
      return pair();
    }
    const token =
      seen.headers.cookie?.replace("svc_token=", "") ?? seen.headers.authorization?.replace("Bearer ", "");
    return token === good ? { body: { ids: [] } } : stale;
  });
  return {
    ...server,
    given,
    revoke: () => {
      good = "revoked";
    },
  };
}

const ask = (service: Client, times: number): Promise<unknown> =>
  Promise.all(Array.from({ length: times }, () => service.read(list, always)));

/** The real clock, which a test can put forward. */
function movedClock(): Clock & { forward(ms: number): void } {
  let ahead = 0;
  return {
    ...systemClock,
    now: () => Date.now() + ahead,
    sleep: (_, signal) => systemClock.sleep(0, signal),
    forward: (ms) => {
      ahead += ms;
    },
  };
}

describe("a session", () => {
  it("is opened once for fifty requests at the same moment, by HTTP Basic", async () => {
    const server = await guarded();
    await ask(await serviceOf(server), 50);
    expect(server.given).toEqual({ signIns: 1, refreshes: 0 });
    expect(server.seen).toHaveLength(51);
  });

  it.each([
    [3600, 3539, 3541],
    [60, 47, 49],
    [2, 1.5, 1.7],
  ])("of %i s is still used after %d s and renewed after %d s", async (life, before, after) => {
    const server = await guarded({ life });
    const clock = movedClock();
    const service = await serviceOf(server, { clock });
    await ask(service, 1);
    clock.forward(before * 1000);
    await ask(service, 1);
    expect(server.given).toEqual({ signIns: 1, refreshes: 0 });
    clock.forward((after - before) * 1000);
    await ask(service, 50);
    expect(server.given).toEqual({ signIns: 1, refreshes: 1 });
  });

  it.each<[string, Reply]>([
    ["401", { status: 401 }],
    [
      "400 token is missing",
      { status: 400, body: { name: "bad_request", message: "token is missing from header or cookie" } },
    ],
  ])("that is refused with %s is renewed once for fifty, and each is asked once more", async (_, stale) => {
    const server = await guarded({ stale });
    const service = await serviceOf(server, { parallelism: 50 });
    await ask(service, 1);
    server.revoke();
    await ask(service, 50);
    expect(server.given).toEqual({ signIns: 1, refreshes: 1 });
    expect(server.to("/standalone").length).toBeLessThanOrEqual(1 + 2 * 50);
  });

  it("that is refused again after it was renewed is an error, not a loop", async () => {
    const server = await guarded({
      refresh: () => ({ body: { jwtToken: "never-good", refreshToken: "r" } }),
    });
    const service = await serviceOf(server);
    await ask(service, 1);
    server.revoke();
    expect(await failure(service.read(list, always))).toMatchObject({ failure: "unauthorized", status: 401 });
    expect(server.to("/standalone")).toHaveLength(3);
  });

  it("that ends before a request has its turn, each time, is renewed when the turn has come", async () => {
    const server = await guarded({ life: 2 });
    const clock = movedClock();
    const turns = createThrottle(clock);
    const slow: Throttle = {
      ...turns,
      run: (host, ticket, send, signal) => {
        clock.forward(3000);
        server.revoke();
        return turns.run(host, ticket, send, signal);
      },
    };
    const service = await serviceOf(server, { clock, throttle: slow });
    expect(await service.read(list, always)).toMatchObject({ values: { ids: [] } });
    expect(server.to("/standalone")).toHaveLength(1);
  });

  it("uses each refresh token once, and the new one the next time", async () => {
    const server = await guarded();
    const service = await serviceOf(server);
    for (let round = 0; round < 4; round += 1) {
      server.revoke();
      await ask(service, 3);
    }
    expect(server.given).toEqual({ signIns: 1, refreshes: 3 });
    expect(new Set(server.to("/refresh-token").map(({ body }) => body)).size).toBe(3);
  });

  it.each<[string, Reply]>([
    ["401", { status: 401 }],
    ["400", { status: 400 }],
    ["500", { status: 500 }],
    ["nonsense", { body: "<html>" }],
  ])("is opened anew where a refresh is answered by %s", async (_, reply) => {
    const server = await guarded({ refresh: () => reply });
    const service = await serviceOf(server);
    await ask(service, 1);
    server.revoke();
    await ask(service, 5);
    expect(server.given.signIns).toBe(2);
  });

  it("is opened anew, without asking, once the refresh token is too old", async () => {
    const server = await guarded();
    const clock = movedClock();
    const service = await serviceOf(server, { clock });
    await ask(service, 1);
    clock.forward(86_401_000);
    await ask(service, 5);
    expect(server.given).toEqual({ signIns: 2, refreshes: 0 });
    expect(server.to("/refresh-token")).toEqual([]);
  });

  it("takes its tokens from the body where there are no cookies", async () => {
    const server = await guarded({ asBody: true });
    const service = await serviceOf(server);
    await ask(service, 1);
    server.revoke();
    await ask(service, 1);
    expect(server.given).toEqual({ signIns: 1, refreshes: 1 });
  });

  it("lives as long as its own claims say, whatever our clock says", async () => {
    const claims = { iat: 1_000_000, exp: 1_000_100 };
    const jwt = `x.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.y`;
    let signIns = 0;
    const server = await listen(({ url }) => {
      if (!url.endsWith("/user/signin")) return { body: { ids: [] } };
      signIns += 1;
      return { body: { token: jwt } };
    });
    const clock = movedClock();
    const service = await serviceOf(server, { clock });
    await ask(service, 1);
    clock.forward(79_000);
    await ask(service, 1);
    expect(signIns).toBe(1);
    clock.forward(2000);
    await ask(service, 1);
    expect(signIns).toBe(2);
  });

  it.each<[string, Reply]>([
    ["no token", {}],
    ["a token with a line break", { body: { token: "a\r\nX: y" } }],
    ["a cookie that is taken away", { headers: { "set-cookie": "svc_token=x; Max-Age=0" } }],
    ["a token that is none", { body: { token: { a: 1 } } }],
  ])("cannot be opened with %s", async (_, reply) => {
    const server = await listen(() => reply);
    const error = await failure((await serviceOf(server)).read(list, always));
    expect(error).toMatchObject({ code: "no-session", hint: expect.stringContaining("svc_token") });
  });
});

describe("a wrong password", () => {
  it("is an error of one sentence that names neither password nor user, and is tried once", async () => {
    const server = await guarded();
    const service = await serviceOf(server, { credentials: { username: "ada", password: "wr0ng-word" } });
    const errors = await Promise.all(Array.from({ length: 20 }, () => failure(service.read(list, always))));
    errors.push(await failure(service.read(list, always)));
    for (const error of errors) {
      expect(error).toMatchObject({
        failure: "unauthorized",
        exitCode: 1,
        message: expect.not.stringMatching(/\bada\b/),
      });
      const said = errorTexts(error).join("\n");
      expect(said).not.toContain("wr0ng-word");
      expect(said).not.toContain(Buffer.from("ada:wr0ng-word").toString("base64"));
    }
    expect(server.seen).toHaveLength(1);
  });

  it("is not what a failing service is", async () => {
    const server = await listen(() => ({ status: 500 }));
    const error = await failure((await serviceOf(server)).read(list, always));
    expect(error).toMatchObject({ failure: "unavailable", operation: "session.sign-in" });
    expect(server.seen).toHaveLength(6);
  });

  it("can have no user with a colon", async () => {
    const service = await serviceOf(
      { url: "http://127.0.0.1:1" },
      { credentials: { username: "a:b", password: "c" } },
    );
    expect(await failure(service.read(list, always))).toMatchObject({ code: "username-colon" });
  });

  it("is not asked for where there are no credentials", async () => {
    const server = await guarded();
    const profile = await loadProfile("default");
    const { createService } = await import("../../src/hosting/client.ts");
    const service = createService({ profile, platformUrl: server.url, clock: systemClock });
    expect(await failure(service.read(list, always))).toMatchObject({
      code: "no-credentials",
      hint: expect.stringContaining("graphform login"),
    });
    expect(server.seen).toEqual([]);
  });
});

describe("tokens", () => {
  const users = { operation: "user.list", params: { instanceId: "i-1" } };

  async function twoHosts(
    options: Partial<ServiceOptions> = {},
  ): Promise<{ platform: Guarded; users: Listening; service: Client }> {
    const platform = await guarded();
    const host = await listen(({ headers }) =>
      headers.authorization === "Bearer refused" ? { status: 401 } : { body: { users: [] } },
    );
    const service = await serviceOf(platform, { usersUrl: host.url, subscriptionId: "sub-1", ...options });
    return { platform, users: host, service };
  }

  it("go as a cookie to the platform host only, as a bearer to the users host", async () => {
    const { platform, users: host, service } = await twoHosts();
    await service.read(list, always);
    await service.read(users, always);
    expect(platform.to("/standalone")[0]?.headers.cookie).toBe("svc_token=token-1-0");
    expect(platform.to("/standalone")[0]?.headers.authorization).toBeUndefined();
    expect(host.seen[0]?.headers).toMatchObject({ authorization: "Bearer token-1-0" });
    expect(host.seen[0]?.headers.cookie).toBeUndefined();
    expect(host.seen[0]?.url).toBe("/v1/customer-ldap/instances/i-1/users?subscriptionId=sub-1");
  });

  it("of the users host are its own where they are given, and nobody signs in for them", async () => {
    let asked = 0;
    const {
      platform,
      users: host,
      service,
    } = await twoHosts({
      usersToken: async () => {
        asked += 1;
        return "mine\n";
      },
    });
    await Promise.all([service.read(users, always), service.read(users, always)]);
    await service.read(users, always);
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer mine",
      "Bearer mine",
      "Bearer mine",
    ]);
    expect(asked).toBe(1);
    expect(platform.seen).toEqual([]);
  });

  it("of the users host are asked for once more when they are refused", async () => {
    const answers = ["refused", "fresh"];
    const { users: host, service } = await twoHosts({
      usersToken: async () => answers.shift() ?? "none left",
    });
    await service.read(users, always);
    expect(host.seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer refused", "Bearer fresh"]);
  });

  it.each(["", "two words", "line\nbreak", "ümlaut"])(
    "of the users host that are none: %j",
    async (token) => {
      const { service, users: host } = await twoHosts({ usersToken: async () => token });
      const error = await failure(service.read(users, always));
      expect(error).toMatchObject({ code: "users-token", hint: expect.stringContaining("GRAPHFORM_TOKEN") });
      expect(host.seen).toEqual([]);
    },
  );

  it("are sent as a bearer where the profile says so", async () => {
    const profile = await loadProfile("default");
    const server = await guarded();
    const service = await serviceOf(server, {
      profile: { ...profile, session: { ...profile.session, send: "bearer" } },
    });
    await service.read(list, always);
    expect(server.to("/standalone")[0]?.headers).toMatchObject({ authorization: "Bearer token-1-0" });
    expect(server.to("/standalone")[0]?.headers.cookie).toBeUndefined();
  });
});

describe("a kept session", () => {
  function memoryStore(
    first?: Tokens,
  ): SessionStore & { kept: Tokens | undefined; readonly origins: string[] } {
    const store = {
      kept: first,
      origins: [] as string[],
      load: async (origin: string) => {
        store.origins.push(origin);
        return store.kept;
      },
      save: async (_: string, tokens: Tokens | undefined) => {
        store.kept = tokens;
      },
    };
    return store;
  }

  it("is used by the next command, and asked for by the host it came from", async () => {
    const server = await guarded();
    const sessionStore = memoryStore();
    await ask(await serviceOf(server, { sessionStore }), 1);
    await ask(await serviceOf(server, { sessionStore }), 1);
    expect(server.given).toEqual({ signIns: 1, refreshes: 0 });
    expect(sessionStore.origins).toContain(server.url);
    expect(sessionStore.kept).toMatchObject({ token: "token-1-0", refreshToken: "refresh-1-0" });
  });

  it("that another command renewed is taken over, since a refresh token works once", async () => {
    const server = await guarded();
    const sessionStore = memoryStore();
    const [mine, theirs] = [
      await serviceOf(server, { sessionStore }),
      await serviceOf(server, { sessionStore }),
    ];
    await ask(mine, 1);
    await ask(theirs, 1);
    server.revoke();
    await ask(theirs, 1);
    await ask(mine, 1);
    expect(server.given).toEqual({ signIns: 1, refreshes: 1 });
  });

  it("is ended at the service and dropped", async () => {
    const server = await guarded();
    const sessionStore = memoryStore();
    const service = await serviceOf(server, { sessionStore });
    await service.signIn();
    await service.signOut();
    expect(JSON.parse(server.to("/logout")[0]?.body ?? "")).toEqual({ refreshToken: "refresh-1-0" });
    expect(sessionStore.kept).toBeUndefined();
  });
});

function errorTexts(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  return [
    error.message,
    error.stack ?? "",
    JSON.stringify(error),
    ...(error.cause === undefined ? [] : errorTexts(error.cause)),
  ];
}

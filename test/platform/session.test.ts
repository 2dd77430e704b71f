import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { basic, pro, signinPath, startTest, type TestPlatform } from "./harness.ts";

const refreshPath = "/2022-09-01-00/refresh-token";

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest();
});
afterAll(() => test.close());

function cookies(headers: Headers): Map<string, string> {
  return new Map(headers.getSetCookie().map((cookie) => [cookie.slice(0, cookie.indexOf("=")), cookie]));
}

function cookieValue(headers: Headers, name: string): string {
  return /^[^=]+=([^;]*)/.exec(cookies(headers).get(name) ?? "")?.[1] ?? "";
}

describe("sign-in (4.1)", () => {
  it("answers two cookies with every attribute of section 5", async () => {
    const answer = await test.bare("POST", signinPath, undefined, basic(test.username, test.password));
    expect(answer.status).toBe(200);
    const set = cookies(answer.headers);
    expect([...set.keys()].sort()).toEqual(["svc_refresh_token", "svc_token"]);
    for (const [name, age] of [
      ["svc_token", 3600],
      ["svc_refresh_token", 86_400],
    ] as const) {
      const attributes = (set.get(name) ?? "").split("; ").slice(1).sort();
      expect(attributes).toEqual([
        "Domain=127.0.0.1",
        "HttpOnly",
        `Max-Age=${age}`,
        "Path=/",
        "SameSite=Lax",
        "Secure",
      ]);
    }
  });

  it("has a session token shaped as a JWT whose exp is an hour away", async () => {
    const [, payload = ""] = test.token().split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    expect(claims.sub).toBe(test.username);
    expect(claims.exp - Date.now() / 1000).toBeGreaterThan(3500);
    expect(claims.exp - Date.now() / 1000).toBeLessThanOrEqual(3600);
  });

  it.each([
    ["without a header", {}, 400, "bad_request"],
    ["with something that is not Basic", { authorization: "Digest x" }, 400, "bad_request"],
    ["with a wrong password", basic("local@graphform.invalid", "wrong"), 401, "auth_failure"],
    ["with a wrong user name", basic("somebody", "wrong"), 401, "auth_failure"],
  ])("refuses %s", async (_why, headers, status, name) => {
    const answer = await test.bare("POST", signinPath, undefined, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toBe("application/vnd.goa.error");
    expect(Object.keys(answer.body).sort()).toEqual([
      "fault",
      "id",
      "message",
      "name",
      "temporary",
      "timeout",
    ]);
    expect(answer.body).toMatchObject({ name, temporary: false, timeout: false, fault: false });
    expect(answer.headers.getSetCookie()).toEqual([]);
  });
});

describe("who may come in (5.1)", () => {
  it.each([
    ["no token", (): object => ({}), 400, "bad_request", /token is missing/],
    ["an empty cookie", () => ({ cookie: "svc_token=" }), 400, "bad_request", /token is missing/],
    ["nonsense", () => ({ cookie: "svc_token=abc" }), 401, "auth_failure", /invalid|expired/],
    [
      "a token with another payload",
      () => {
        const [head, , mac] = test.token().split(".");
        const forged = Buffer.from(JSON.stringify({ sub: "root", exp: 9e9 })).toString("base64url");
        return { authorization: `Bearer ${head}.${forged}.${mac}` };
      },
      401,
      "auth_failure",
      /invalid|expired/,
    ],
    [
      "a token that says it needs no signature",
      () => {
        const head = Buffer.from('{"alg":"none"}').toString("base64url");
        return { authorization: `Bearer ${head}.${test.token().split(".")[1]}.` };
      },
      401,
      "auth_failure",
      /invalid|expired/,
    ],
  ])("%s", async (_why, headers, status, name, message) => {
    const answer = await test.bare("GET", pro, undefined, { ...headers() });
    expect(answer.status).toBe(status);
    expect(answer.body["name"]).toBe(name);
    expect(answer.body["message"]).toMatch(message);
  });

  it("takes the cookie, and the same token as a bearer", async () => {
    expect(
      (await test.bare("GET", pro, undefined, { cookie: `a=b; svc_token=${test.token()}` })).status,
    ).toBe(200);
    expect((await test.bare("GET", pro, undefined, { authorization: `Bearer ${test.token()}` })).status).toBe(
      200,
    );
  });
});

describe("refresh", () => {
  async function signIn(): Promise<string> {
    const answer = await test.bare("POST", signinPath, undefined, basic(test.username, test.password));
    return cookieValue(answer.headers, "svc_refresh_token");
  }

  it("gives a new pair and kills the old refresh token", async () => {
    const old = await signIn();
    const first = await test.bare("POST", refreshPath, { refreshToken: old });
    expect(first.status).toBe(200);
    const { jwtToken, refreshToken } = first.body;
    expect(refreshToken).not.toBe(old);
    expect(cookieValue(first.headers, "svc_token")).toBe(jwtToken);
    expect((await test.bare("GET", pro, undefined, { cookie: `svc_token=${jwtToken}` })).status).toBe(200);
    const again = await test.bare("POST", refreshPath, { refreshToken: old });
    expect([again.status, again.body["name"]]).toEqual([401, "auth_failure"]);
    expect((await test.bare("POST", refreshPath, { refreshToken: refreshToken ?? "" })).status).toBe(200);
  });

  it("lets two refreshes with one token succeed once", async () => {
    const refreshToken = await signIn();
    const answers = await Promise.all([1, 2, 3].map(() => test.bare("POST", refreshPath, { refreshToken })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  it("takes the refresh cookie in place of a body", async () => {
    const answer = await test.bare("POST", refreshPath, undefined, {
      cookie: `svc_refresh_token=${await signIn()}`,
    });
    expect(answer.status).toBe(200);
  });

  it("is no session token, and a session token refreshes nothing", async () => {
    const refreshToken = await signIn();
    const asSession = await test.bare("GET", pro, undefined, { authorization: `Bearer ${refreshToken}` });
    const asRefresh = await test.bare("POST", refreshPath, { refreshToken: test.token() });
    expect([asSession.status, asRefresh.status]).toEqual([401, 401]);
  });

  it("writes nothing at a sign-in, and one line for a token that is spent, however many there are", async () => {
    const file = join(test.dataDir, "spent-tokens.jsonl");
    const lines = async (): Promise<number> =>
      (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "").length;
    const before = await lines();
    const tokens = await Promise.all(Array.from({ length: 50 }, signIn));
    expect(await lines()).toBe(before);
    for (const refreshToken of tokens.slice(0, 3)) await test.bare("POST", refreshPath, { refreshToken });
    expect(await lines()).toBe(before + 3);
  });

  it("says what is missing", async () => {
    expect((await test.bare("POST", refreshPath, {})).status).toBe(400);
    expect((await test.bare("POST", refreshPath, { refreshToken: "unknown" })).status).toBe(401);
  });

  it("ends with logout and with revoke-token, which may be repeated", async () => {
    const [one, two] = [await signIn(), await signIn()];
    const left = await test.bare("POST", "/2022-09-01-00/logout", undefined, {
      cookie: `svc_refresh_token=${one}`,
    });
    expect(left.status).toBe(200);
    expect(cookies(left.headers).get("svc_token")).toContain("Max-Age=0");
    for (let times = 0; times < 2; times += 1) {
      expect((await test.bare("POST", "/2022-09-01-00/revoke-token", { refreshToken: two })).status).toBe(
        204,
      );
    }
    for (const refreshToken of [one, two]) {
      expect((await test.bare("POST", refreshPath, { refreshToken })).status).toBe(401);
    }
  });
});

describe("lifetimes", () => {
  it("can be shortened: the session ends, then the refresh token does", async () => {
    let time = 0;
    const short = await startTest({ sessionLifetime: 1.5, refreshLifetime: 4, elapsed: () => time });
    try {
      const { headers } = await short.bare(
        "POST",
        signinPath,
        undefined,
        basic(short.username, short.password),
      );
      const cookie = `svc_token=${cookieValue(headers, "svc_token")}`;
      time += 1499;
      expect((await short.bare("GET", pro, undefined, { cookie })).status).toBe(200);
      time += 1;
      const refused = await short.bare("GET", pro, undefined, { cookie });
      expect([refused.status, refused.body["name"]]).toEqual([401, "auth_failure"]);
      const refreshed = await short.bare("POST", refreshPath, {
        refreshToken: cookieValue(headers, "svc_refresh_token"),
      });
      expect(refreshed.status).toBe(200);
      const { refreshToken = "" } = refreshed.body;
      time += 4000;
      expect((await short.bare("POST", refreshPath, { refreshToken })).status).toBe(401);
    } finally {
      await short.close();
    }
  });

  it.each([
    ["three days on", 3 * 86_400_000],
    ["three days back", -3 * 86_400_000],
  ])("are not touched by a clock that is set %s", async (_why, jump) => {
    let [time, age] = [Date.now(), 0];
    const steady = await startTest({ now: () => time, elapsed: () => age });
    try {
      const { headers } = await steady.bare(
        "POST",
        signinPath,
        undefined,
        basic(steady.username, steady.password),
      );
      const token = cookieValue(headers, "svc_token");
      const users = "/v1/customer-ldap/instances/x/users?subscriptionId=s";
      const seen = async (): Promise<readonly number[]> => {
        const asBearer = { authorization: `Bearer ${token}` };
        const answers = [
          await steady.bare("GET", pro, undefined, { cookie: `svc_token=${token}` }),
          await steady.bare("GET", users, undefined, asBearer),
        ];
        return answers.map(({ status }) => status);
      };
      expect(await seen()).toEqual([200, 500]);
      time += jump;
      expect(await seen()).toEqual([200, 500]);
      age += 3_599_999;
      expect(await seen()).toEqual([200, 500]);
      age += 1;
      expect(await seen()).toEqual([401, 401]);
      const refreshToken = cookieValue(headers, "svc_refresh_token");
      const refreshed = await steady.bare("POST", refreshPath, { refreshToken });
      expect(refreshed.status).toBe(200);
      age += 86_400_000;
      const late = { refreshToken: refreshed.body["refreshToken"] ?? "" };
      expect((await steady.bare("POST", refreshPath, late)).status).toBe(401);
    } finally {
      await steady.close();
    }
  });

  it("go by the clock where the platform that gave them is gone", async () => {
    const time = Date.now();
    const first = await startTest({ now: () => time, elapsed: () => 5 });
    const cookie = `svc_token=${first.token()}`;
    await first.platform.close();
    const answered = async (now: number): Promise<number> => {
      const next = await startTest({ dataDir: first.dataDir, now: () => now, elapsed: () => 5 });
      const { status } = await next.bare("GET", pro, undefined, { cookie });
      await next.close();
      return status;
    };
    expect([await answered(time + 3_599_000), await answered(time + 3_601_000)]).toEqual([200, 401]);
    await rm(first.dataDir, { recursive: true, force: true });
  });

  it("sessions and refresh tokens survive a restart of the platform", async () => {
    const first = await startTest();
    const { headers } = await first.bare(
      "POST",
      signinPath,
      undefined,
      basic(first.username, first.password),
    );
    await first.platform.close();
    const second = await startTest({ dataDir: first.dataDir });
    try {
      const cookie = `svc_token=${cookieValue(headers, "svc_token")}`;
      expect((await second.bare("GET", pro, undefined, { cookie })).status).toBe(200);
      const refreshToken = cookieValue(headers, "svc_refresh_token");
      expect((await second.bare("POST", refreshPath, { refreshToken })).status).toBe(200);
    } finally {
      await second.close();
      await rm(first.dataDir, { recursive: true, force: true });
    }
  });
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../../src/model/json.ts";
import { allowedCommands, refusedRules } from "../../src/platform/control/users.ts";
import { type Answer, pro, startTest, type TestPlatform } from "./harness.ts";

let test: TestPlatform;
let id = "";
beforeAll(async () => {
  test = await startTest({ usersPerMinute: 100_000 });
  id = await test.create(pro, { graphdbUser: "app", graphdbPassword: "first-pw" });
  await test.until(`${pro}/${id}`, "RUNNING");
});
afterAll(() => test.close());

const good = { username: "reader", password: "secret-1", acl: "~* +GRAPH.RO_QUERY +PING" };

function users(
  method: string,
  rest = "",
  body?: Json,
  options: { token?: string; query?: string; on?: string } = {},
): Promise<Answer> {
  const { token = test.token(), query = "?subscriptionId=sub-1", on = id } = options;
  const path = `/v1/customer-ldap/instances/${on}/users${rest}${query}`;
  return test.bare(method, path, body, token === "" ? {} : { authorization: `Bearer ${token}` });
}

describe("database users (4.2)", () => {
  it("are created, listed without passwords, changed and deleted, each with 200", async () => {
    const created = await users("POST", "", good);
    expect([created.status, created.body]).toEqual([200, { message: expect.stringContaining("reader") }]);
    const listed = await users("GET");
    expect(listed.body).toEqual({
      users: [
        { username: "app", acl: expect.stringMatching(/^~\* &\* \+INFO .*\+GRAPH\.QUERY/) },
        { username: "reader", acl: good.acl },
      ],
    });
    expect((await users("PUT", "/reader", { acl: "~x  +ping" })).status).toBe(200);
    expect((await users("GET")).text).toContain("~x  +ping");
    expect((await users("PUT", "/reader", {})).status).toBe(200);
    expect((await users("DELETE", "/reader")).status).toBe(200);
    expect((await users("GET")).text).not.toContain("reader");
  });

  it.each([
    ["no token", "POST", "", good, { token: "" }, 401],
    ["a token that is none of ours", "POST", "", good, { token: "abc" }, 401],
    [
      "no token, and a malformed body: the body comes first",
      "POST",
      "",
      { username: "x" },
      { token: "" },
      400,
    ],
    ["no subscription", "POST", "", good, { query: "" }, 400],
    ["an empty subscription", "GET", "", undefined, { query: "?subscriptionId=" }, 400],
    ["an unknown instance", "GET", "", undefined, { on: "instance-none" }, 500],
    ["no body", "POST", "", undefined, {}, 400],
    ["a short name", "POST", "", { ...good, username: "ab" }, {}, 400],
    ["a short password", "POST", "", { ...good, password: "12345" }, {}, 400],
    ["a password that no database lets in", "POST", "", { ...good, password: "é".repeat(8193) }, {}, 400],
    ["a name that no database lets in", "POST", "", { ...good, username: "x".repeat(16_385) }, {}, 400],
    ["no rules", "POST", "", { ...good, acl: "" }, {}, 400],
    ["rules that are no text", "POST", "", { ...good, acl: ["+PING"] }, {}, 400],
    ["a name with a space", "POST", "", { ...good, username: "a b c" }, {}, 400],
    ["the name of the instance's own user", "POST", "", { ...good, username: "app" }, {}, 409],
    ["the name of the database's own user", "POST", "", { ...good, username: "default" }, {}, 400],
    ["the name of the platform's own user", "POST", "", { ...good, username: "graphform-platform" }, {}, 400],
    ["update of the instance's own user", "PUT", "/app", { acl: "+PING" }, {}, 403],
    ["update of the platform's own user", "PUT", "/graphform-platform", { acl: "+PING" }, {}, 400],
    ["update of a user that does not exist", "PUT", "/nobody", { acl: "+PING" }, {}, 500],
    ["delete of a user that does not exist", "DELETE", "/nobody", undefined, {}, 500],
    ["delete of the instance's own user", "DELETE", "/app", undefined, {}, 403],
    ["a short new password", "PUT", "/nobody", { password: "123" }, {}, 400],
  ])("%s", async (...[, method, rest, body, options, status]) => {
    const answer = await users(method, rest, body, options);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toContain("application/json");
    expect(answer.body).toEqual({
      statusCode: status,
      error: expect.any(String),
      message: expect.any(String),
    });
  });

  it("the session cookie is no bearer token", async () => {
    const path = `/v1/customer-ldap/instances/${id}/users?subscriptionId=s`;
    expect((await test.call("GET", path)).status).toBe(401);
  });

  it("refuses a second user of one name, also when both arrive at once", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => users("POST", "", { ...good, username: "twin" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  it("names the commands that are not allowed", async () => {
    const { status, body } = await users("POST", "", {
      ...good,
      username: "greedy",
      acl: "~* +GRAPH.QUERY +KEYS +config|get",
    });
    expect([status, body["message"]]).toEqual([400, expect.stringMatching(/: \+KEYS, \+config\|get$/)]);
  });

  it.each(["nopass", "allcommands", "on", "&*", `#${"a".repeat(64)}`, ">word-of-a-rule"])(
    "refuses %s in the rules of a new user and of a known one, and repeats no secret",
    async (rule) => {
      await users("POST", "", { ...good, username: "steady" });
      for (const [method, rest] of [
        ["POST", ""],
        ["PUT", "/steady"],
      ] as const) {
        const { status, text } = await users(method, rest, { ...good, acl: `~* ${rule} +PING` });
        expect([status, text]).toEqual([400, expect.stringContaining(`not allowed: ${rule.slice(0, 1)}`)]);
        expect(text).not.toContain("word-of-a-rule");
      }
      expect(await readFile(join(test.dataDir, "requests.jsonl"), "utf8")).not.toContain("word-of-a-rule");
    },
  );

  it("checks the subscription of an instance that has one", async () => {
    const { body } = await test.call("POST", `${pro}?subscriptionId=mine`, {
      cloud_provider: "aws",
      region: "us-east-1",
    });
    const on = String(body["id"]);
    expect((await users("GET", "", undefined, { on, query: "?subscriptionId=mine" })).status).toBe(200);
    expect((await users("GET", "", undefined, { on, query: "?subscriptionId=yours" })).status).toBe(400);
  });

  it("keeps no password on disk in clear", async () => {
    await users("POST", "", { ...good, username: "quiet", password: "not-on-disk" });
    const record = await readFile(join(test.dataDir, "control", "instances", `${id}.json`), "utf8");
    expect(record).toContain("quiet");
    expect(record).not.toContain("not-on-disk");
    expect(await readFile(join(test.dataDir, "requests.jsonl"), "utf8")).not.toContain("not-on-disk");
  });
});

describe("limit of 100 a minute and address", () => {
  it("answers 429 with the time to wait, and lets in again after it", async () => {
    let [time, clock] = [0, Date.now()];
    const limited = await startTest({ elapsed: () => time, now: () => clock });
    try {
      const ask = () => limited.bare("GET", "/v1/customer-ldap/instances/x/users");
      for (let count = 0; count < 100; count += 1) expect((await ask()).status).toBe(400);
      const refused = await ask();
      expect([refused.status, refused.body["error"]]).toEqual([429, "Too Many Requests"]);
      clock -= 3 * 86_400_000;
      expect(Number((await ask()).headers.get("retry-after"))).toBeLessThanOrEqual(60);
      time += Number(refused.headers.get("retry-after")) * 1000;
      expect((await ask()).status).toBe(400);
    } finally {
      await limited.close();
    }
  });
});

describe("ACL allow-list", () => {
  it("has 52 commands", () => {
    expect(allowedCommands.size).toBe(52);
  });

  it.each([
    ["+PING +INFO", []],
    ["+ping", []],
    ["+client|list +memory|usage", []],
    ["+module|list", []],
    ["~* ~orders:* %R~a %W~b %RW~c %rw~d", []],
    ["+PING -ping -@all -client|kill", []],
    ["'~a*' '+PING'", []],
    ["", []],
    ["+module", ["+module"]],
    ["+module|load", ["+module|load"]],
    ["+@all", ["+@all"]],
    ["+@read ~*", ["+@read"]],
    ["+GRAPH.QUERY\t+ACL\n+CONFIG", ["+ACL", "+CONFIG"]],
    ["'+KEYS x' +PING", ["+KEYS x"]],
    ["'+'CONFIG +'KEYS' '+ACL", ["+CONFIG", "+KEYS", "+ACL"]],
    ["allcommands nocommands allkeys resetkeys", ["allcommands", "nocommands", "allkeys", "resetkeys"]],
    ["on off nopass resetpass reset sanitize-payload", 6],
    ["&* &news allchannels resetchannels", 4],
    ["(~x +PING) clearselectors", ["(~x", "+PING)", "clearselectors"]],
    ["~ % %~x %X~y - +", ["~", "%", "%~x", "%X~y", "-", "+"]],
    ["~+KEYS -config nonsense", ["nonsense"]],
    [`~* ${"x".repeat(100)}`, [`${"x".repeat(60)}...`]],
    [">word-1 <word-2 #word-3 !word-4", [">...", "<...", "#...", "!..."]],
  ])("%s", (acl, refused) => {
    const found = refusedRules(acl);
    if (typeof refused === "number") expect(found).toEqual(acl.split(" "));
    else expect(found).toEqual(refused);
  });
});

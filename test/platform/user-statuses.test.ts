import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { setupEngine } from "../../src/platform/engine/index.ts";
import { ask } from "../support/local-platform.ts";
import { processesIn } from "./engine/fixture.ts";
import {
  type Answer,
  at,
  components,
  enterprise,
  poll,
  pro,
  startTest,
  type TestPlatform,
} from "./harness.ts";

await setupEngine();

const own = { graphdbUser: "app", graphdbPassword: "a-real-password" };
const zoned = `${components}/hosted/pro/single-zone`;

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest({ usersPerMinute: 100_000, delays: 60 }, "real");
}, 240_000);
afterAll(() => test.close());

function users(path: string, method: string, rest = "", body?: Json): Promise<Answer> {
  const id = path.slice(path.lastIndexOf("/") + 1);
  return test.bare(method, `/v1/customer-ldap/instances/${id}/users${rest}?subscriptionId=s`, body, {
    authorization: `Bearer ${test.token()}`,
  });
}

async function create(path: string, params: JsonObject = {}): Promise<string> {
  return `${path}/${await test.create(path, { ...own, ...params })}`;
}

/** A running instance with two users besides its own. */
async function running(path: string = pro): Promise<string> {
  const instance = await create(path);
  await test.until(instance, "RUNNING");
  for (const username of ["changed", "leaver"])
    expect(
      (await users(instance, "POST", "", { username, password: "old-word", acl: "~* +PING" })).status,
    ).toBe(200);
  return instance;
}

/** What the database answers to a user's PING: PONG, or why not. */
async function pinged(path: string, username: string, password: string): Promise<unknown> {
  const { body } = await test.until(path, "RUNNING");
  const endpoint = `127.0.0.1:${at(body, "result_params", "graphdbPort")}`;
  return ask(endpoint, { username, password }, "PING").catch((error: Error) => error.message.split(" ")[0]);
}

/** Sends an operation and waits for the status that it goes through. */
async function during(path: string, operation: string, status: string, body?: Json): Promise<void> {
  expect((await test.call("POST", `${path}/${operation}`, body)).status).toBe(202);
  await test.until(path, status);
}

async function stopped(path: string): Promise<void> {
  await during(path, "stop", "STOPPED");
}

async function killed(path: string): Promise<void> {
  const { body } = await test.until(path, "RUNNING");
  const endpoint = `127.0.0.1:${at(body, "result_params", "graphdbPort")}`;
  const info = String(
    await ask(endpoint, { username: "app", password: own.graphdbPassword }, "INFO", "server"),
  );
  process.kill(Number(/process_id:(\d+)/.exec(info)?.[1]), "SIGKILL");
}

async function failed(path: string): Promise<void> {
  await test.call("PUT", "/_platform/faults", [
    { operation: "restart", count: 1, fault: { failed: "on purpose" } },
  ]);
  await during(path, "restart", "FAILED");
}

interface Row {
  readonly status: string;
  readonly path?: string;
  /** Brings a running instance there. */
  readonly go: (path: string) => Promise<unknown>;
  /** And back to RUNNING, where it does not come by itself. */
  readonly back?: (path: string) => Promise<unknown>;
}

const start = (path: string) => test.call("POST", `${path}/start`);
const rows: readonly Row[] = [
  { status: "RUNNING", go: async () => undefined },
  {
    status: "RUNNING, a restart under way that does not show yet",
    async go(path) {
      await test.call("PUT", "/_platform/faults", [
        { operation: "restart", count: 1, fault: { staleStatus: 60 } },
      ]);
      await test.call("POST", `${path}/restart`);
    },
  },
  { status: "RESTARTING", go: (path) => during(path, "restart", "RESTARTING") },
  { status: "RESTARTING, for it was killed", go: killed },
  {
    status: "DEPLOYING, for an update",
    path: enterprise,
    async go(path) {
      await test.call("PUT", path, { requestParams: { maxMemory: "200MB" } });
      await test.until(path, "DEPLOYING");
    },
  },
  {
    status: "DEPLOYING, for a failover",
    path: zoned,
    go: (path) =>
      during(path, "failover", "DEPLOYING", {
        failed_replica_id: "node-sz-0",
        failed_replica_action: "FAILOVER_ONLY",
      }),
  },
  { status: "BACKING_UP", go: (path) => during(path, "backup", "BACKING_UP") },
  {
    status: "STOPPING",
    go: (path) => during(path, "stop", "STOPPING"),
    async back(path) {
      await test.until(path, "STOPPED");
      await start(path);
    },
  },
  { status: "STOPPED", go: stopped, back: start },
  {
    status: "STARTING",
    async go(path) {
      await stopped(path);
      await during(path, "start", "STARTING");
    },
  },
  { status: "FAILED, though it runs", go: failed, back: (path) => test.call("POST", `${path}/restart`) },
];

describe("users changed at a status", () => {
  it.each(rows)("$status: what is acknowledged holds", async ({ path, go, back }) => {
    const instance = await running(path);
    await go(instance);
    const fresh = { username: "newcomer", password: "new-word", acl: "~* +PING" };
    const answers = await Promise.all([
      users(instance, "POST", "", fresh),
      users(instance, "PUT", "/changed", { password: "new-word" }),
      users(instance, "DELETE", "/leaver"),
    ]);
    expect(answers.map(({ status, text }) => [status, text])).toEqual(
      answers.map(() => [200, expect.stringContaining("User")]),
    );
    await back?.(instance);
    const logins = [
      pinged(instance, "newcomer", "new-word"),
      pinged(instance, "changed", "new-word"),
      pinged(instance, "changed", "old-word"),
      pinged(instance, "leaver", "old-word"),
    ];
    expect(await Promise.all(logins)).toEqual(["PONG", "PONG", "WRONGPASS", "WRONGPASS"]);
    const listed: { users: { username: string }[] } = JSON.parse((await users(instance, "GET")).text);
    expect(listed.users.map(({ username }) => username).sort()).toEqual(["app", "changed", "newcomer"]);
  });

  it("created while the instance is: they are there when it runs", async () => {
    const instance = await create(pro);
    const { status } = await users(instance, "POST", "", {
      username: "first",
      password: "new-word",
      acl: "~* +PING",
    });
    expect([status, await pinged(instance, "first", "new-word")]).toEqual([200, "PONG"]);
  });

  it.each([
    ["a restart", (path: string) => test.call("POST", `${path}/restart`)],
    ["a kill", killed],
  ])("one after another all through %s: every acknowledged one can sign in", async (_why, begin) => {
    const instance = await running();
    await begin(instance);
    const taken: string[] = [];
    await poll(async () => {
      const username = `user-${taken.length}`;
      const { status } = await users(instance, "POST", "", {
        username,
        password: "new-word",
        acl: "~* +PING",
      });
      if (status === 200) taken.push(username);
      const now = await test.call("GET", instance);
      return taken.length > 20 && now.body["status"] === "RUNNING" ? true : undefined;
    }, "the instance to run again");
    for (const username of taken)
      expect([username, await pinged(instance, username, "new-word")]).toEqual([username, "PONG"]);
  });
});

describe("users of odd names and many rules", () => {
  it("can sign in, also after a restart, which reads them from a file", async () => {
    const instance = await running();
    const many = Array.from({ length: 8000 }, (_, at) => `~k${at}:*`).join(" ");
    const odd: readonly (readonly [string, string])[] = [
      ["ünïcode🔑", "~* +PING"],
      ["qu\"o\\te's", '~"q\\ ~ünï* +PING'],
      ["ctl\u0001\u007f", "-@all -@dangerous +PING"],
      ["#hash", "+PING +PING -PING +PING"],
      ["n".repeat(5000), `${many} +PING`],
    ];
    const answers = async (): Promise<readonly unknown[]> =>
      Promise.all(odd.map(([username]) => pinged(instance, username, "odd-word")));
    for (const [username, acl] of odd) {
      const { status, text } = await users(instance, "POST", "", { username, password: "odd-word", acl });
      expect([status, text]).toEqual([200, expect.any(String)]);
    }
    expect(await answers()).toEqual(odd.map(() => "PONG"));
    await during(instance, "restart", "RESTARTING");
    expect(await answers()).toEqual(odd.map(() => "PONG"));
  });
});

describe("rules that the engine does not take", () => {
  const bad = [
    ["a pattern after all patterns", "~* ~x +PING"],
    ["a subcommand that is none", "+CLIENT|NOSUCH"],
    ["a removal of a command that is none", "+PING -nosuch"],
    ["a pattern with a space", "'~a b' +PING"],
  ] as const;

  it.each(["RUNNING", "STOPPED"])("are refused while it is %s, and leave nothing behind", async (status) => {
    const instance = await running();
    if (status === "STOPPED") await stopped(instance);
    for (const [why, acl] of bad) {
      const created = await users(instance, "POST", "", { username: "odd", password: "odd-word", acl });
      expect([why, created.status, created.text]).toEqual([
        why,
        400,
        expect.stringMatching(/ACL is refused: (?!user)/),
      ]);
      expect([why, (await users(instance, "PUT", "/changed", { acl })).status]).toEqual([why, 400]);
    }
    expect((await users(instance, "GET")).text).not.toMatch(/odd|nosuch/i);
    if (status === "STOPPED") await start(instance);
    expect(await pinged(instance, "changed", "old-word")).toBe("PONG");
    await poll(
      async () =>
        (await processesIn(join(test.dataDir, "databases", "rule-proof"))).length === 0 ? true : undefined,
      "the end of the database that proves rules",
    );
  });

  it("are proven for many at once", async () => {
    const instance = await running();
    await stopped(instance);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        users(instance, "POST", "", {
          username: `user-${at}`,
          password: "new-word",
          acl: at % 3 === 0 ? "~* ~x +PING" : "~* +PING",
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, at) => (at % 3 === 0 ? 400 : 200)));
  });

  it("do not keep a database from starting where they are written down already", async () => {
    const first = await startTest({ usersPerMinute: 100_000 }, "real");
    const id = await first.create(pro, own);
    await first.until(`${pro}/${id}`, "RUNNING");
    await first.platform.close();
    const file = join(first.dataDir, "control", "instances", `${id}.json`);
    const record = JSON.parse(await readFile(file, "utf8"));
    const hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    const user = (username: string, acl: string) => ({ username, passwordHash: hash, acl });
    record.users = [
      user("odd", "~* nonsense"),
      user("graphform-platform", "+PING"),
      user("sound", "~* +PING"),
    ];
    await writeFile(file, JSON.stringify(record));
    const second = await startTest({ dataDir: first.dataDir }, "real");
    try {
      const { body } = await second.until(`${pro}/${id}`, "RUNNING");
      const endpoint = `127.0.0.1:${at(body, "result_params", "graphdbPort")}`;
      expect(await ask(endpoint, { username: "sound", password: "secret" }, "PING")).toBe("PONG");
      await expect(ask(endpoint, { username: "odd", password: "secret" }, "PING")).rejects.toThrow(
        "WRONGPASS",
      );
      const { text } = await second.call("GET", `/2022-09-01-00/resource-instance/${id}/audit-events`);
      for (const name of ["odd", "graphform-platform"])
        expect(text).toContain(`database user ${name} cannot sign in`);
    } finally {
      await second.close();
      await rm(first.dataDir, { recursive: true, force: true });
    }
  });
});

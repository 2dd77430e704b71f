import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { connect as connectSocket } from "node:net";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBody, parseJson } from "../../src/platform/http/contract.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { connect, platformProgram, poll, pro, type TestPlatform } from "./harness.ts";

const users = "/v1/customer-ldap/instances/x/users?subscriptionId=s";

let dataDir = "";
let child: ChildProcess;
let test: TestPlatform;
beforeAll(async () => {
  dataDir = temporaryFolder("bodies");
  const arguments_ = [
    platformProgram,
    "--data-dir",
    dataDir,
    "--engine",
    "none",
    "--users-per-minute",
    "100000",
  ];
  child = spawn(process.execPath, arguments_, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: child.stdout ?? process.stdin }), "line");
  test = await connect({ ...JSON.parse(String(line)), close: async () => undefined }, dataDir, false);
});
afterAll(async () => {
  child.kill("SIGTERM");
  await once(child, "close");
});

type Headers = { readonly [name: string]: string };

/** The status that a body is answered with, or the error's code; undici would hide an answer before the body's end. */
function post(path: string, body: string, headers: Headers = {}): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request(new URL(path, test.platform.url), {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers },
    });
    sent.once("response", (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    sent.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(body);
  });
}

/** Most memory that the platform's process ever had, in MB. */
async function peak(): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

const long = "x".repeat(900_000);
const asUser = JSON.stringify({ username: "somebody", password: "some-word", acl: long });
const asInstance = JSON.stringify({ requestParams: { name: long } });

interface Row {
  readonly to: string;
  readonly path: string;
  readonly body: string;
  readonly statuses: readonly (number | string)[];
  readonly headers?: Headers;
}

describe("300 large anonymous bodies", () => {
  const rows: readonly Row[] = [
    { to: "an endpoint that needs a session", path: pro, body: asInstance, statuses: [400] },
    {
      to: "it with a token that is none",
      path: pro,
      body: asInstance,
      statuses: [401],
      headers: { authorization: "Bearer abc" },
    },
    { to: "the users host, which checks the body first", path: users, body: asUser, statuses: [401, 503] },
    { to: "sign-in", path: "/2022-09-01-00/signin", body: asInstance, statuses: [413] },
    { to: "refresh", path: "/2022-09-01-00/refresh-token", body: asInstance, statuses: [413] },
    { to: "the page's form", path: "/_platform/page-session", body: asInstance, statuses: [413] },
    { to: "the platform's own endpoints", path: "/_platform/networks", body: asInstance, statuses: [400] },
    { to: "nothing", path: "/nothing", body: asInstance, statuses: [404] },
  ];

  it.each(rows)(
    "to $to: they are answered, and memory stays",
    async ({ path, body, statuses, headers = {} }) => {
      const before = await peak();
      const answers = await Promise.all(Array.from({ length: 300 }, () => post(path, body, headers)));
      expect(answers.filter((answer) => !statuses.includes(answer))).toEqual([]);
      expect((await peak()) - before).toBeLessThan(150);
      expect((await test.call("GET", pro)).status).toBe(200);
    },
  );

  it("do not keep out signed-in clients while they use up the anonymous budget", async () => {
    const held = Array.from({ length: 8 }, () => {
      const { hostname, port } = new URL(test.platform.url);
      const socket = connectSocket(Number(port), hostname);
      const head = `POST ${users} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n{`;
      socket.write(head);
      return socket;
    });
    try {
      await poll(async () => ((await post(users, asUser)) === 503 ? true : undefined), "no anonymous budget");
      expect(await post(users, asUser, { authorization: `Bearer ${test.token()}` })).toBe(500);
      expect(await post(users, "{}")).toBe(400);
    } finally {
      for (const socket of held) socket.destroy();
    }
    await poll(async () => ((await post(users, asUser)) === 401 ? true : undefined), "budget again");
  });
});

describe("large bodies of somebody who is signed in", () => {
  it("are taken, and not kept in the log", async () => {
    const before = await peak();
    const session = { cookie: `svc_token=${test.token()}` };
    const body = JSON.stringify({ cloud_provider: "aws", region: "x", requestParams: { nmae: long } });
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all(Array.from({ length: 15 }, () => post(pro, body, session)));
      expect(new Set(answers)).toEqual(new Set([400]));
    }
    expect((await peak()) - before).toBeLessThan(250);
    const { requests }: { requests: { body?: unknown }[] } = JSON.parse(
      (await test.call("GET", "/_platform/requests")).text,
    );
    expect(requests.findLast((entry) => entry.body !== undefined)?.body).toMatch(/^\[9\d{5} characters\]$/);
  });
});

const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("hostile JSON", () => {
  it.each([
    ["lists in lists", nested(400_000)],
    ["objects in objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["deep inside a field", `{"cloud_provider":"aws","region":"x","requestParams":{"name":${nested(5000)}}}`],
    [
      "deep inside a tag",
      `{"cloud_provider":"aws","region":"x","customTags":[{"key":"k","value":"v","x":${nested(5000)}}]}`,
    ],
  ])("%s: 400, in the host's own shape", async (_why, text) => {
    for (const [path, type] of [
      [pro, "application/vnd.goa.error"],
      [users, "application/json; charset=utf-8"],
    ] as const) {
      const response = await fetch(new URL(path, test.platform.url), {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${test.token()}` },
        body: text,
      });
      expect([response.status, response.headers.get("content-type")]).toEqual([400, type]);
      expect(await response.text()).toContain("nested deeper than 64 levels");
    }
    expect((await test.call("PUT", "/_platform/faults", JSON.parse(nested(100)))).status).toBe(400);
  });

  it("as deep as is allowed is read", () => {
    expect(parseJson(nested(64), undefined)).toBeDefined();
    expect(() => parseJson(nested(66), undefined)).toThrow("64 levels");
  });

  it.each([
    ["a byte order mark", "\uFEFF{}"],
    [
      "a number without end",
      `{"cloud_provider":"aws","region":"x","requestParams":{"graphDBCacheSize":1e999}}`,
    ],
    ["half a pair of surrogates as a region", '{"cloud_provider":"aws","region":"\\ud800"}'],
    ["a zero byte as a region", '{"cloud_provider":"aws","region":"a\\u0000"}'],
    ["constructor as a field", '{"cloud_provider":"aws","region":"x","constructor":{}}'],
    ["constructor as a provider", '{"cloud_provider":"constructor","region":"x"}'],
  ])("%s: 400", async (_why, body) => {
    expect(await post(pro, body, { cookie: `svc_token=${test.token()}` })).toBe(400);
  });
});

describe("budget for bodies", () => {
  const streamed = (...sizes: readonly number[]): Request => {
    const body = new ReadableStream({
      start(controller) {
        for (const size of sizes) controller.enqueue(new Uint8Array(size).fill(32));
        controller.close();
      },
    });
    return new Request("http://x", {
      method: "POST",
      headers: { "transfer-encoding": "chunked" },
      body,
      duplex: "half",
    });
  };

  it("is taken while a body is held, refused when there is none left, and given back in any case", async () => {
    const budget = { left: 100 };
    const first = openBody(streamed(30, 30), 80, budget);
    expect(await first.read()).toHaveLength(60);
    const second = openBody(streamed(30, 30), 80, budget);
    await expect(second.read()).rejects.toMatchObject({ status: 503, retryAfter: 1 });
    second.release();
    const third = openBody(streamed(41, 41), 80, { left: 200 });
    await expect(third.read()).rejects.toMatchObject({ status: 413 });
    expect(budget.left).toBe(40);
    first.release();
    first.release();
    expect(budget.left).toBe(100);
  });

  it("is given back by who hangs up in the middle", async () => {
    const budget = { left: 100 };
    const broken = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(20));
        controller.error(new Error("hung up"));
      },
    });
    const headers = { "transfer-encoding": "chunked" };
    const reader = openBody(
      new Request("http://x", { method: "POST", headers, body: broken, duplex: "half" }),
      80,
      budget,
    );
    await expect(reader.read()).rejects.toMatchObject({ status: 400 });
    reader.release();
    expect(budget.left).toBe(100);
  });
});

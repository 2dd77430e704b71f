import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { basic, components, poll, pro, signinPath, type TestPlatform } from "./harness.ts";
import { type Spawned, spawnPlatform } from "./spawned.ts";

/**
 * The control plane on a disk that takes no byte more, without the rights to mount one: the limit of the size of files is 0 for the
 * platform's process, and every write to a file fails.
 */
const snapshots = "/2022-09-01-00/resource-instance/snapshot";
const networks = "/2022-09-01-00/resource-instance/custom-network";
const zoned = `${components}/hosted/pro/single-zone`;

let dataDir = "";
let platform: Spawned;
let test: TestPlatform;
beforeAll(async () => {
  dataDir = temporaryFolder("full");
  platform = await spawnPlatform(dataDir, "--engine", "none", "--delay", "30", "--networks", "full");
  test = platform.client;
});
afterAll(async () => {
  await platform.end("SIGKILL");
});

async function running(path = pro): Promise<string> {
  const own = `${path}/${await test.create(path)}`;
  await test.until(own, "RUNNING");
  return own;
}

async function whileFull<T>(work: () => Promise<T>): Promise<T> {
  platform.fill(true);
  try {
    return await work();
  } finally {
    platform.fill(false);
  }
}

const users = (own: string): string =>
  `/v1/customer-ldap/instances/${own.split("/").at(-1)}/users?subscriptionId=s`;
const reader = { username: "reader", password: "reader-1", acl: "~* +PING" };

interface Attempt {
  /** Prepares what the attempt is about. */
  readonly before: () => Promise<string>;
  readonly send: (own: string) => Promise<{ readonly status: number }>;
  /** What a client can see of it. */
  readonly look: (own: string) => Promise<unknown>;
}

const describeIt = async (own: string): Promise<JsonObject> => (await test.call("GET", own)).body;
const post = (rest: string) => (own: string) => test.call("POST", `${own}${rest}`);
const bearer = (): { readonly authorization: string } => ({ authorization: `Bearer ${test.token()}` });
const listAll = async (): Promise<unknown> =>
  Promise.all([pro, snapshots, networks].map(async (path) => (await test.call("GET", path)).text));

const attempts: { readonly [name: string]: Attempt } = {
  create: {
    before: () => running(),
    send: () => test.call("POST", pro, { cloud_provider: "aws", region: "us-east-1", requestParams: {} }),
    look: listAll,
  },
  update: {
    before: () => running(),
    send: (own) => test.call("PUT", own, { requestParams: { name: "renamed" } }),
    look: describeIt,
  },
  stop: { before: () => running(), send: post("/stop"), look: describeIt },
  start: {
    async before() {
      const own = await running();
      await test.call("POST", `${own}/stop`);
      await test.until(own, "STOPPED");
      return own;
    },
    send: post("/start"),
    look: describeIt,
  },
  restart: { before: () => running(), send: post("/restart"), look: describeIt },
  failover: {
    before: () => running(zoned),
    send: (own) =>
      test.call("POST", `${own}/failover`, {
        failed_replica_id: "node-sz-0",
        failed_replica_action: "FAILOVER_ONLY",
      }),
    look: describeIt,
  },
  backup: { before: () => running(), send: post("/backup"), look: listAll },
  delete: { before: () => running(), send: (own) => test.call("DELETE", own), look: describeIt },
  metadata: {
    before: () => running(),
    send: (own) => test.call("PATCH", `${own}/metadata`, { customTags: [{ key: "a", value: "b" }] }),
    look: async () => (await test.call("GET", "/2022-09-01-00/resource-instance")).text,
  },
  "create a user": {
    before: () => running(),
    send: (own) => test.bare("POST", users(own), reader, bearer()),
    look: async (own) => (await test.bare("GET", users(own), undefined, bearer())).text,
  },
  "create a network": {
    before: async () => "",
    send: () =>
      test.call("POST", networks, { name: "n", cloudProviderName: "aws", cloudProviderRegion: "us-east-1" }),
    look: listAll,
  },
};

describe("a disk that is full when a request comes", () => {
  it.each(Object.entries(attempts))(
    "%s: 500, nothing has changed, and it works once there is room",
    async (name, attempt) => {
      const own = await attempt.before();
      const before = await attempt.look(own);
      const [refused, seen] = await whileFull(
        async () => [await attempt.send(own), await attempt.look(own)] as const,
      );
      expect(refused).toMatchObject({ status: 500 });
      expect(seen).toEqual(before);
      expect(await attempt.look(own)).toEqual(before);
      const again = await attempt.send(own);
      expect([200, 202]).toContain(again.status);
      if (!name.includes(" ") && name !== "create" && name !== "metadata") {
        const end = { delete: 404, stop: "STOPPED" }[name] ?? "RUNNING";
        await test.until(own, end);
      }
      expect(platform.isAlive()).toBe(true);
    },
  );

  it("takes sign-ins and refreshes, and remembers which refresh tokens are spent, also after a restart with room", async () => {
    const signIn = () => test.bare("POST", signinPath, undefined, basic(test.username, test.password));
    const refresh = (refreshToken: string) =>
      test.bare("POST", "/2022-09-01-00/refresh-token", { refreshToken });
    const tokenOf = ({ headers }: { readonly headers: Headers }): string =>
      /svc_refresh_token=([^;]+)/.exec(headers.getSetCookie().join("\n"))?.[1] ?? "";
    const [one, two] = await whileFull(async () => {
      const signedIn = await signIn();
      expect(signedIn.status).toBe(200);
      const token = tokenOf(signedIn);
      const refreshed = await refresh(token);
      expect([refreshed.status, (await refresh(token)).status]).toEqual([200, 401]);
      const authorization = `Bearer ${refreshed.body["jwtToken"]}`;
      expect((await test.bare("GET", pro, undefined, { authorization })).status).toBe(200);
      return [token, tokenOf(refreshed)];
    });
    expect((await refresh(two ?? "")).status).toBe(200);
    await platform.end("SIGKILL");
    platform = await spawnPlatform(dataDir, "--engine", "none", "--delay", "30", "--networks", "full");
    test = platform.client;
    expect([(await refresh(one ?? "")).status, (await refresh(two ?? "")).status]).toEqual([401, 401]);
  });

  it("reads are answered, the lines of the log that are lost are counted, and said once there is room", async () => {
    const own = await running();
    await whileFull(async () => {
      for (let each = 0; each < 5; each += 1) expect((await test.call("GET", own)).status).toBe(200);
      const { storage } = (await test.call("GET", "/_platform/status")).body;
      expect(storage).toMatchObject({ lostLogLines: expect.any(Number), last: "file too large" });
      expect(JSON.stringify(storage)).not.toContain('"lostLogLines":0');
    });
    await test.call("GET", own);
    const lines = await poll(async () => {
      const text = await readFile(join(dataDir, "requests.jsonl"), "utf8");
      const parsed: readonly JsonObject[] = text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      return parsed.some((line) => Number(line["lost"]) >= 5) ? parsed : undefined;
    }, "the count of what was lost");
    expect(lines.length).toBeGreaterThan(5);
  });
});

/** Lets the old status stand for two seconds: time enough to fill the disk before anything more is written. */
async function slowly<T>(operation: string, send: () => Promise<T>): Promise<T> {
  const rules = [{ operation, count: 1, fault: { staleStatus: 2000 } }];
  await test.call("PUT", "/_platform/faults", { rules });
  return send();
}

async function failures(): Promise<number> {
  const { text } = await test.call("GET", "/_platform/status");
  const status: { readonly storage: { readonly failedWrites: number } } = JSON.parse(text);
  return status.storage.failedWrites;
}

describe("a disk that fills when an operation is at work, and is freed again", () => {
  const ends: readonly (readonly [string, string | number])[] = [
    ["create", "RUNNING"],
    ["update", "RUNNING"],
    ["stop", "STOPPED"],
    ["start", "RUNNING"],
    ["restart", "RUNNING"],
    ["failover", "RUNNING"],
    ["delete", 404],
  ];
  it.each(ends)("%s ends as it should, and nothing stays in progress", async (name, end) => {
    const attempt = attempts[name];
    const own = (await attempt?.before()) ?? "";
    const answer = await slowly(name, async () => attempt?.send(own));
    expect(answer?.status).toBe(202);
    await whileFull(async () => {
      const before = await failures();
      await poll(async () => ((await failures()) > before ? true : undefined), "a write that fails");
    });
    const { ids }: { ids: readonly string[] } = JSON.parse((await test.call("GET", pro)).text);
    await test.until(name === "create" ? `${pro}/${ids.at(-1)}` : own, end);
    // The end is shown before it is written: its file may be under way.
    await poll(async () => {
      const names = await readdir(join(dataDir, "control", "instances"));
      return names.some((file) => file.endsWith(".tmp")) ? undefined : true;
    }, "no temporary file to be left");
    expect(platform.isAlive()).toBe(true);
  });

  it("a backup is completed, or is in the list as FAILED, and another one works", async () => {
    const own = await running();
    await slowly("backup", () => test.call("POST", `${own}/backup`));
    await whileFull(async () => {
      const before = await failures();
      await poll(async () => ((await failures()) > before ? true : undefined), "a write that fails");
    });
    await test.until(own, "RUNNING");
    const listed = async (): Promise<readonly JsonObject[]> =>
      JSON.parse((await test.call("GET", `${own}/snapshot`)).text).snapshots;
    const first = await poll(
      async () => (await listed()).find((each) => each["status"] !== "pending"),
      "the end of the backup",
    );
    expect(["completed", "FAILED"]).toContain(first["status"]);
    // What was refused while the first one was at work is taken now.
    const again = async (): Promise<number> => (await test.call("POST", `${own}/backup`)).status;
    await poll(async () => ((await again()) === 202 ? true : undefined), "another one to be taken");
    await poll(
      async () => ((await listed()).at(-1)?.["status"] === "completed" ? true : undefined),
      "a backup",
    );
  });

  it("and after a kill, everything is as it was told", async () => {
    const own = await running();
    await test.call("POST", `${own}/stop`);
    platform.fill(true);
    await platform.end("SIGKILL");
    platform = await spawnPlatform(dataDir, "--engine", "none", "--delay", "5", "--networks", "full");
    test = platform.client;
    const { status } = await test.until(own, "STOPPED");
    expect(status).toBe(200);
  });
});

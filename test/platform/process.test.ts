import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readArguments } from "../../src/platform/arguments.ts";
import { PlatformRunningError } from "../../src/platform/lock.ts";
import { startPlatform } from "../../src/platform/start.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { connect, platformProgram, poll, pro, type TestPlatform } from "./harness.ts";

let dataDir = "";
let children: ChildProcess[] = [];
beforeEach(async () => {
  dataDir = temporaryFolder("process");
});
afterEach(async () => {
  for (const child of children)
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  children = [];
});

interface Started {
  readonly child: ChildProcess;
  readonly line: string;
  readonly client: TestPlatform;
}

function launch(...more: readonly string[]): ChildProcess {
  const child = spawn(
    process.execPath,
    [platformProgram, "--data-dir", dataDir, "--engine", "none", ...more],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  children.push(child);
  return child;
}

async function up(...more: readonly string[]): Promise<Started> {
  const child = launch(...more);
  const [line]: string[] = await once(createInterface({ input: child.stdout ?? process.stdin }), "line");
  const announced = JSON.parse(line ?? "{}");
  return {
    child,
    line: line ?? "",
    client: await connect({ ...announced, close: async () => undefined }, dataDir, false),
  };
}

async function failing(
  child: ChildProcess,
): Promise<{ readonly code: number | null; readonly complaint: string }> {
  let complaint = "";
  child.stderr?.on("data", (chunk) => {
    complaint += chunk;
  });
  const [code] = await once(child, "close");
  return { code, complaint };
}

describe("the arguments of the platform's program", () => {
  it.each([
    ["left out", []],
    ["relative", ["--data-dir", "some/where"]],
    ["absolute", ["--data-dir", "/some/where"]],
  ])("name the folder absolutely where it is %s: databases run in folders of their own", async (_, argv) => {
    const { dataDir: folder } = await readArguments(argv);
    expect(isAbsolute(folder)).toBe(true);
    expect(folder).toBe(resolve(argv[1] ?? ".graphform/platform"));
  });
});

describe("the platform as a process", () => {
  it("prints one JSON line, leaves platform.json and private files", async () => {
    const { child, line } = await up();
    const { url, ...rest } = JSON.parse(line);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(rest).toEqual({
      usersUrl: url,
      dataDir,
      engine: { name: "none", version: "", why: expect.any(String) },
      pid: child.pid,
      delays: expect.objectContaining({ create: expect.any(Number), upgrade: expect.any(Number) }),
      caFile: join(dataDir, "tls", "ca.pem"),
    });
    expect((await stat(rest.caFile)).isFile()).toBe(true);
    const file = JSON.parse(await readFile(join(dataDir, "platform.json"), "utf8"));
    expect(file).toEqual(JSON.parse(line));
    for (const name of ["credentials.json", "platform.json", "signing.key", "requests.jsonl"]) {
      expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
    }
    expect((await stat(join(dataDir, "control"))).mode & 0o777).toBe(0o700);
  });

  it.each(["SIGTERM", "SIGINT"] as const)("stops gracefully on %s", async (signal) => {
    const { child } = await up();
    child.kill(signal);
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    await expect(stat(join(dataDir, "platform.json"))).rejects.toThrow();
    await expect(stat(join(dataDir, "platform.lock"))).rejects.toThrow();
  });

  it("that is told to end while it starts leaves no lock and no announcement", async () => {
    const child = launch();
    child.stdout?.resume();
    const lock = join(dataDir, "platform.lock");
    await poll(
      async () => ((await stat(lock).catch(() => undefined)) === undefined ? undefined : true),
      "the lock",
    );
    child.kill("SIGTERM");
    const [code] = await once(child, "close");
    expect([code, (await readdir(dataDir)).filter((name) => name.startsWith("platform."))]).toEqual([0, []]);
  });

  it("refuses a second one over the same folder, and the first goes on", async () => {
    const { client, child } = await up();
    const { code, complaint } = await failing(launch());
    expect(code).toBe(1);
    expect(complaint).toMatch(new RegExp(`already runs on .*process ${child.pid}`));
    expect(complaint.trim().split("\n")).toHaveLength(1);
    await expect(startPlatform({ dataDir, port: 0, engine: "none" })).rejects.toThrow(PlatformRunningError);
    expect((await client.call("GET", pro)).status).toBe(200);
  });

  it("takes over from one that was killed, and from a lock whose number another process has now", async () => {
    const { child } = await up();
    child.kill("SIGKILL");
    await once(child, "close");
    const second = await up();
    second.child.kill("SIGKILL");
    await once(second.child, "close");
    await writeFile(
      join(dataDir, "platform.lock"),
      JSON.stringify({ pid: process.pid, started: "another boot:1" }),
    );
    const { client } = await up();
    expect((await client.call("GET", pro)).status).toBe(200);
  });

  it.each([
    [["--port", "many"], /--port must be a number/],
    [["--nonsense"], /nonsense/],
    [["--faults", "/nowhere.yaml"], /cannot read fault rules/],
    [["--delay", "create"], /--delay is/],
    [["--networks", "some"], /--networks must be/],
  ])("says what is wrong with %j in one line", async (more, message) => {
    const { code, complaint } = await failing(launch(...more));
    expect([code, complaint.trim().split("\n").length]).toEqual([1, 1]);
    expect(complaint).toMatch(message);
  });

  it("reads fault rules from YAML", async () => {
    const file = join(dataDir, "faults.yaml");
    await writeFile(
      file,
      "rules:\n  - operation: list\n    count: 1\n    fault: { status: 503, retryAfter: 1 }\n",
    );
    const { client } = await up("--faults", file);
    expect((await client.call("GET", pro)).status).toBe(503);
    expect((await client.call("GET", pro)).status).toBe(200);
  });
});

describe("kill -9", () => {
  it("loses no acknowledged instance, whenever it strikes", async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const { child, client } = await up("--delay", "200");
      const creating = Array.from({ length: 12 }, async (_each, index) => {
        const id = await client.create(pro, { name: `n${round}-${index}` });
        acknowledged.push(id);
        if (index === round * 3) child.kill("SIGKILL");
      });
      await Promise.allSettled(creating);
      if (child.exitCode === null && child.signalCode === null) await once(child, "close");
    }
    expect(acknowledged.length).toBeGreaterThan(4);
    const { client } = await up("--delay", "5");
    const { ids } = JSON.parse((await client.call("GET", pro)).text);
    expect(ids).toEqual(expect.arrayContaining(acknowledged));
    await Promise.all(acknowledged.map((id) => client.until(`${pro}/${id}`, "RUNNING")));
  });

  it("finishes what was in progress: update, stop, backup, delete", async () => {
    const first = await up("--delay", "create=5,update=60000,stop=60000,backup=60000,delete=60000", "--echo");
    const ids = await Promise.all(
      ["update", "stop", "backup", "delete"].map((name) => first.client.create(pro, { name })),
    );
    const [updated = "", stopped = "", saved = "", deleted = ""] = ids.map((id) => `${pro}/${id}`);
    await Promise.all(ids.map((id) => first.client.until(`${pro}/${id}`, "RUNNING")));
    await first.client.call("PUT", updated, { requestParams: { name: "renamed" } });
    await first.client.call("POST", `${stopped}/stop`);
    await first.client.call("POST", `${saved}/backup`);
    await first.client.call("DELETE", deleted);
    first.child.kill("SIGKILL");
    await once(first.child, "close");

    const { client } = await up("--delay", "5", "--echo");
    const { body } = await client.until(updated, "RUNNING");
    expect(JSON.stringify(body["result_params"])).toContain("renamed");
    await client.until(stopped, "STOPPED");
    await client.until(saved, "RUNNING");
    await client.until(deleted, 404);
    const snapshot = await poll(async () => {
      const { snapshots } = JSON.parse(
        (await client.call("GET", "/2022-09-01-00/resource-instance/snapshot")).text,
      );
      return snapshots[0]?.status === "completed" ? snapshots[0] : undefined;
    }, "the snapshot to be completed");
    expect(saved.endsWith(snapshot.sourceInstanceId)).toBe(true);
  });
});

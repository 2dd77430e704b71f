import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { cancelRun } from "../../src/controller/runs/decide.ts";
import { type Fleet, manifestText, openFleet } from "./support/fleet.ts";

/** Creates are slow enough that a worker is killed in the middle of one. */
describe("a run survives", () => {
  let fleet: Fleet;
  const workers: ChildProcess[] = [];
  beforeAll(async () => {
    fleet = await openFleet(["--delay", "create=4000"]);
  }, 60_000);
  afterEach(() => {
    for (const worker of workers.splice(0)) worker.kill("SIGKILL");
  });
  afterAll(() => fleet.close());

  async function start(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) workers.push(await fleet.worker());
  }

  async function workerOf(run: string): Promise<ChildProcess> {
    for (;;) {
      const { worker } = await fleet.run(run);
      const row = await fleet.database
        .selectFrom("workers")
        .select("pid")
        .where("id", "=", worker ?? "")
        .executeTakeFirst();
      const found = workers.find(({ pid }) => pid === row?.pid);
      if (found !== undefined) return found;
      await pause(50);
    }
  }

  /** Numbers of instances that the service made for a manifest, by name. */
  async function made(name: string): Promise<readonly string[]> {
    const writes = await fleet.platform.writes();
    return writes
      .filter(({ operation, status }) => /create/i.test(operation) && status < 300)
      .map(({ body }) => JSON.stringify(body))
      .filter((body) => body.includes(`${name}-`));
  }

  it("the death of its worker: another one goes on, and nothing is doubled", async () => {
    await start(2);
    const { run } = await fleet.add("killed", manifestText("killed", ["a", "b", "c"]));
    await fleet.until(run, "applying");
    const worker = await workerOf(run);
    await pause(1_500);
    worker.kill("SIGKILL");
    const ended = await fleet.until(run);
    expect(ended.status).toBe("applied");
    expect(ended.fence).toBeGreaterThan(2);
    expect(await made("killed")).toHaveLength(3);
  }, 240_000);

  it("a stop of its worker: its writes have no effect after it wakes", async () => {
    await start(2);
    const { run } = await fleet.add("stopped", manifestText("stopped", ["a", "b", "c"]));
    await fleet.until(run, "applying");
    const worker = await workerOf(run);
    await pause(1_500);
    worker.kill("SIGSTOP");
    const ended = await fleet.until(run);
    worker.kill("SIGCONT");
    expect(ended.status).toBe("applied");
    await pause(5_000);
    const later = await fleet.run(run);
    expect(later).toMatchObject({ status: "applied", fence: ended.fence });
    expect(await made("stopped")).toHaveLength(3);
  }, 240_000);

  it("SIGTERM: it reaches its next boundary, and goes on elsewhere at once", async () => {
    await start(2);
    const { run } = await fleet.add("ended", manifestText("ended", ["a", "b", "c"]));
    await fleet.until(run, "applying");
    const worker = await workerOf(run);
    await pause(1_500);
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    worker.kill("SIGTERM");
    expect(await exited).toBe(0);
    const ended = await fleet.until(run);
    expect(ended.status).toBe("applied");
    expect(await made("ended")).toHaveLength(3);
  }, 240_000);

  it("a job that is delivered twice: one of the two does it, and a third that comes late does nothing", async () => {
    await start(2);
    const { run } = await fleet.add("twice", manifestText("twice", ["a", "b"]));
    await fleet.until(run, "applying");
    const { fence } = await fleet.run(run);
    // As when the heartbeats of its worker are missed: the same job goes to another one.
    await fleet.postgres.sql(
      `UPDATE graphform_queue.job SET state = 'retry', start_after = now() WHERE name = 'apply' AND data->>'run' = '${run}'`,
    );
    const ended = await fleet.until(run);
    expect(ended.status).toBe("applied");
    expect(ended.fence).toBeGreaterThan(fence);
    expect(ended.attempts).toBeLessThanOrEqual(2);
    expect(await made("twice")).toHaveLength(2);
    await fleet.database.transaction().execute((tx) => fleet.queue.send(tx, "apply", "late", { run }));
    await pause(6_000);
    expect(await fleet.run(run)).toEqual(ended);
    const left = await fleet.postgres.sql(
      "SELECT FROM graphform_queue.job WHERE name = 'apply' AND state < 'completed'",
    );
    expect(left).toEqual([]);
  }, 240_000);

  it("a cancel: it ends at a step, and what was begun is known", async () => {
    await start(1);
    const { run } = await fleet.add("cut", manifestText("cut", ["a", "b"]));
    await fleet.until(run, "applying");
    await pause(1_000);
    expect(await cancelRun(fleet, { id: run, actor: "ada" })).toBe("requested");
    const ended = await fleet.until(run);
    expect(ended.status).toBe("canceled");
  }, 120_000);

  it("a database that is away: nothing is taken over because of it", async () => {
    await start(1);
    const { run } = await fleet.add("away", manifestText("away", ["a", "b"]));
    await fleet.until(run, "applying");
    await fleet.postgres.kill();
    await pause(5_000);
    await fleet.postgres.start();
    const ended = await fleet.until(run);
    expect(ended.status).toBe("applied");
    expect(ended.fence).toBeLessThanOrEqual(4);
    expect(await made("away")).toHaveLength(2);
  }, 240_000);
});

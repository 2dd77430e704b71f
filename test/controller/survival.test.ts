import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { describe, it, type TestContext } from "vitest";
import { cancelRun } from "../../src/controller/runs/decide.ts";
import { type Fleet, manifestText, openFleet } from "./support/fleet.ts";

/** A controller of one test, and its workers. */
interface Workers {
  readonly fleet: Fleet;
  /** The worker that has a run. */
  of(run: string): Promise<ChildProcess>;
  /** Bodies of the creates that the service took for a manifest. */
  made(name: string): Promise<readonly string[]>;
}

/** Starts a controller with so many workers. Creates are slow enough that a worker is killed in the middle of one. */
async function open(count: number, onTestFinished: TestContext["onTestFinished"]): Promise<Workers> {
  const fleet = await openFleet(["--delay", "create=4000"]);
  onTestFinished(() => fleet.close());
  const workers: ChildProcess[] = [];
  for (let left = count; left > 0; left -= 1) workers.push(await fleet.worker());
  return {
    fleet,
    async of(run) {
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
    },
    async made(name) {
      const writes = await fleet.platform.writes();
      return writes
        .filter(({ operation, status }) => /create/i.test(operation) && status < 300)
        .map(({ body }) => JSON.stringify(body))
        .filter((body) => body.includes(`${name}-`));
    },
  };
}

// Most of their time is the wait for a lease.
describe.concurrent("a run survives", () => {
  it("the death of its worker: another one goes on, and nothing is doubled", async ({
    expect,
    onTestFinished,
  }) => {
    const { fleet, of, made } = await open(2, onTestFinished);
    const { run } = await fleet.add("killed", manifestText("killed", ["a", "b", "c"]));
    await fleet.until(run, "applying");
    const worker = await of(run);
    await pause(1_500);
    worker.kill("SIGKILL");
    const ended = await fleet.until(run);
    expect(ended.status).toBe("applied");
    expect(ended.fence).toBeGreaterThan(2);
    expect(await made("killed")).toHaveLength(3);
  }, 240_000);

  it("a stop of its worker: its writes have no effect after it wakes", async ({ expect, onTestFinished }) => {
    const { fleet, of, made } = await open(2, onTestFinished);
    const { run } = await fleet.add("stopped", manifestText("stopped", ["a", "b", "c"]));
    await fleet.until(run, "applying");
    const worker = await of(run);
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

  it("SIGTERM: it reaches its next boundary, and goes on elsewhere at once", async ({
    expect,
    onTestFinished,
  }) => {
    const { fleet, of, made } = await open(2, onTestFinished);
    const { run } = await fleet.add("ended", manifestText("ended", ["a", "b", "c"]));
    await fleet.until(run, "applying");
    const worker = await of(run);
    await pause(1_500);
    const exited = new Promise((resolve) => worker.once("exit", resolve));
    worker.kill("SIGTERM");
    expect(await exited).toBe(0);
    const ended = await fleet.until(run);
    expect(ended.status).toBe("applied");
    expect(await made("ended")).toHaveLength(3);
  }, 240_000);

  it("a cancel: it ends at a step, and what was begun is known", async ({ expect, onTestFinished }) => {
    const { fleet } = await open(1, onTestFinished);
    const { run } = await fleet.add("cut", manifestText("cut", ["a", "b"]));
    await fleet.until(run, "applying");
    await pause(1_000);
    expect(await cancelRun(fleet, { id: run, actor: "ada" })).toBe("requested");
    const ended = await fleet.until(run);
    expect(ended.status).toBe("canceled");
  }, 120_000);

  it("a database that is away: nothing is taken over because of it", async ({ expect, onTestFinished }) => {
    const { fleet, made } = await open(1, onTestFinished);
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

import process from "node:process";
import { describe, expect, it } from "vitest";
import { playOne, playSchedule, type Tally } from "./schedule.ts";

/** More of them: SCHEDULES=5000 npm test -- test/state/stores/schedules.test.ts */
const count = Number(process.env["SCHEDULES"] ?? 150);

describe("runs that share a state", () => {
  it("lose and double nothing where one is killed at any request to the store: before it, after it, or while it is on its way", async () => {
    let killed = 0;
    for (const is of ["before", "after", "late"] as const)
      for (let at = 1; (await playOne({ dies: { at, is } })).deaths === 1; at += 1) killed += 1;
    expect(killed).toBeGreaterThan(45);
  }, 240_000);

  it("lose and double nothing where one is stopped at any request, and wakes when another has its lock", async () => {
    const { requests } = await playOne({});
    expect(requests).toBeGreaterThan(40);
    let lost = 0;
    for (let at = 1; at <= requests; at += 1) lost += (await playOne({ stops: { at, ms: 300_000 } })).lost;
    expect(lost).toBeGreaterThan(requests / 2);
  }, 240_000);

  it(
    `lose and double nothing in ${count} schedules of stops, deaths, outages and lost answers`,
    async () => {
      const sum: Tally = {
        takeovers: 0,
        deaths: 0,
        errored: 0,
        pushed: 0,
        lost: 0,
        refusedWrites: 0,
        requests: 0,
      };
      const failed: string[] = [];
      for (let seed = 1; seed <= count; seed += 1) {
        const tally = await playSchedule(seed).catch((error: unknown) => {
          failed.push(`seed ${seed}: ${error instanceof Error ? error.stack : error}`);
          return undefined;
        });
        for (const key of [
          "takeovers",
          "deaths",
          "errored",
          "pushed",
          "lost",
          "refusedWrites",
          "requests",
        ] as const)
          sum[key] += tally?.[key] ?? 0;
      }
      expect(failed.slice(0, 3)).toEqual([]);
      // Each of these happens: a schedule in which nothing goes wrong proves nothing.
      expect(Object.entries(sum).filter(([, times]) => times === 0)).toEqual([]);
      process.stdout.write(`${count} schedules: ${JSON.stringify(sum)}\n`);
    },
    count * 400,
  );
});

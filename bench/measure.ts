import { spawnSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { defined } from "../src/model/json.ts";

/** One program to measure, run by this process's Node, and the exit code that it must end with. */
export interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
}

/**
 * Median wall-clock time in ms of each case. Rounds are interleaved, so that a busy minute of the machine is felt by
 * all of them alike; one round before the first warms the caches. Throws for a case that does not end with 0.
 */
export function medians(cases: readonly Case[], rounds: number): ReadonlyMap<string, number> {
  const times = new Map(cases.map(({ name }): [string, number[]] => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const each of cases) {
      const time = once(each);
      if (round >= 0) times.get(each.name)?.push(time);
    }
  }
  return new Map([...times].map(([name, list]) => [name, median(list)]));
}

/** The most memory that a case has held, in MB. */
export function peakMemory(each: Case): number {
  const print = "process.on('exit',()=>process.stderr.write(`\\npeak ${process.resourceUsage().maxRSS}`))";
  const { stderr } = run({ ...each, args: ["--import", `data:text/javascript,${print}`, ...each.args] });
  return Number(/peak (\d+)$/.exec(stderr)?.[1]) / 1024;
}

function once(each: Case): number {
  return run(each).time;
}

function run({ name, args, env, cwd }: Case): { readonly time: number; readonly stderr: string } {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, {
    ...defined({ cwd }),
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const time = performance.now() - start;
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr.toString()}`);
  return { time, stderr: stderr.toString() };
}

function median(list: readonly number[]): number {
  const sorted = list.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}

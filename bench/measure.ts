import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { defined } from "../src/model/json.ts";

/** One program to measure, which must end with 0. */
export interface Case {
  readonly name: string;
  /** This process's Node, unless it says otherwise. */
  readonly program?: string;
  readonly args: readonly string[];
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
  /** Id of a process that works for it, whose processor time is counted too. */
  readonly helper?: number;
}

/** Wall-clock time and processor time of a case, in ms, and the processor time of its helper. */
export interface Taken {
  readonly time: number;
  readonly processor: number;
  readonly helper: number;
}

/**
 * Medians of what each case takes. Rounds are interleaved, so that a busy minute of the machine is felt by
 * all of them alike; one round before the first warms the caches. Throws for a case that does not end with 0.
 */
export function medians(cases: readonly Case[], rounds: number): ReadonlyMap<string, Taken> {
  const taken = new Map(cases.map(({ name }): [string, Taken[]] => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const each of cases) {
      const one = measured(each);
      if (round >= 0) taken.get(each.name)?.push(one);
    }
  }
  return new Map([...taken].map(([name, list]) => [name, medianOf(list)]));
}

/** Runs a case once. */
export function measured(each: Case): Taken {
  const [own, helping] = [processorTimes("self").children, timeOf(each.helper)];
  const start = performance.now();
  run(each);
  const time = performance.now() - start;
  return { time, processor: processorTimes("self").children - own, helper: timeOf(each.helper) - helping };
}

/** The median of each member. */
export function medianOf(list: readonly Taken[]): Taken {
  const of = (member: keyof Taken): number => median(list.map((one) => one[member]));
  return { time: of("time"), processor: of("processor"), helper: of("helper") };
}

/** The most memory that a case has held, in MB. */
export function peakMemory(each: Case): number {
  const print = "process.on('exit',()=>process.stderr.write(`\\npeak ${process.resourceUsage().maxRSS}`))";
  const stderr = run({ ...each, args: ["--import", `data:text/javascript,${print}`, ...each.args] });
  return Number(/peak (\d+)$/.exec(stderr)?.[1]) / 1024;
}

function run({ name, program, args, env, cwd }: Case): string {
  const { status, stderr } = spawnSync(program ?? process.execPath, args, {
    ...defined({ cwd }),
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr.toString()}`);
  return stderr.toString();
}

function timeOf(id: number | undefined): number {
  return id === undefined ? 0 : processorTimes(String(id)).own;
}

/** Processor time in ms of a process, and of its children that have ended: Linux counts in hundredths of a second. */
function processorTimes(id: string): { readonly own: number; readonly children: number } {
  const fields = readFileSync(`/proc/${id}/stat`, "utf8").replace(/^.*\) /s, "");
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.split(" ").slice(11, 15).map(Number);
  return { own: (user + system) * 10, children: (childUser + childSystem) * 10 };
}

function median(list: readonly number[]): number {
  const sorted = list.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}

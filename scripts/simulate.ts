import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { Haul } from "../test/simulation/hunt.ts";
import type { Mutation } from "../test/simulation/mutation.ts";
import { mutations } from "../test/simulation/mutations.ts";

/** What a worker is to play. */
interface Share {
  readonly seed: number;
  readonly schedules: number;
  /** Safety rules to break, one after the other; each time the schedules are played anew. */
  readonly mutations?: readonly string[];
}

/** What became of the schedules of a share, for each rule that was broken. */
type Played = readonly { readonly haul: Haul; readonly mutation?: string }[];

const usage = `npm run simulate -- [--runs N] [--seed S] [--jobs J] [--trace]
npm run simulate -- --mutations [--only NAME,...] [--runs N] [--seed S]

Plays N schedules (default 20000) with the seeds S, S+1, ... and prints the shrunken case of those that break a promise.
--trace prints everything that happens in the first one. --mutations breaks the engine's safety rules one at a time: it
plays the seed that is known to find each, then S, S+1, ..., and prints which seed found it.`;

/** Schedules that one thread plays before a fresh one takes over: enough to be warm. */
const share = 5000;
const source = join(import.meta.dirname, "..", "src");

/** The rule that is broken now. */
let broken = "";

if (isMainThread) await main();
else await work(workerData);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: "20000" },
      seed: { type: "string", default: "1" },
      jobs: { type: "string", default: String(availableParallelism()) },
      trace: { type: "boolean", default: false },
      mutations: { type: "boolean", default: false },
      only: { type: "string", default: mutations.map(({ name }) => name).join() },
      help: { type: "boolean", default: false },
    },
  });
  const [runs, seed, jobs] = [values.runs, values.seed, values.jobs].map(Number);
  if (
    values.help ||
    ![runs, seed, jobs].every(Number.isInteger) ||
    runs === undefined ||
    seed === undefined ||
    jobs === undefined
  ) {
    console.log(usage);
    process.exitCode = values.help ? 0 : 2;
  } else if (values.trace) await trace(seed);
  else if (values.mutations) await mutate(values.only.split(","), seed, runs, jobs);
  else await play(seed, runs, jobs);
}

/** Plays everything in shares, and explains the first few finds. */
async function play(seed: number, runs: number, jobs: number): Promise<void> {
  const { shrink } = await import("../test/simulation/shrink.ts");
  const { generate } = await import("../test/simulation/generate.ts");
  const { textOf } = await import("../test/simulation/text-of.ts");
  const started = performance.now();
  const total = { schedules: 0, runs: 0, events: 0, time: 0 };
  const found: Haul["found"][number][] = [];
  // No more than a quarter of a thread's part, so that all have work to the end.
  const size = Math.max(250, Math.min(share, Math.ceil(runs / (4 * jobs))));
  const shares = Array.from({ length: Math.ceil(runs / size) }, (_, at) => ({
    seed: seed + size * at,
    schedules: Math.min(size, runs - size * at),
  }));
  let told = started;
  await inParallel(shares, jobs, ({ haul }) => {
    for (const name of ["schedules", "runs", "events", "time"] as const)
      total[name] += haul.time < 0 ? 0 : haul[name];
    found.push(...haul.found);
    for (const { seed: bad, violation } of haul.found)
      console.log(`seed ${bad}: ${violation.promise}: ${violation.detail}`);
    if (performance.now() - told < 10_000) return;
    told = performance.now();
    console.log(
      `${total.schedules} of ${runs} schedules, ${rate(total.schedules, started)} a second, ${found.length} broken promises`,
    );
  });
  for (const { seed: bad, violation } of found.slice(0, 5)) {
    console.log(`\nseed ${bad}, as small as it gets: ${violation.promise}\n`);
    console.log(textOf(await shrink(generate(bad), violation.promise)));
  }
  const promises = Map.groupBy(found, ({ violation }) => violation.promise);
  for (const [promise, list] of promises)
    console.log(`\n${promise}: seeds ${list.map((each) => each.seed).join(", ")}`);
  const days = (total.time / 86_400_000).toFixed(0);
  console.log(
    `\n${total.schedules} schedules from seed ${seed} (${total.runs} runs, ${total.events} events, ${days} days of virtual time) ` +
      `in ${((performance.now() - started) / 1000).toFixed(0)} s, ${rate(total.schedules, started)} a second: ${found.length} broken promises`,
  );
  if (found.length > 0) process.exitCode = 1;
}

/** Breaks each of these rules, in as many threads as there are jobs. */
async function mutate(names: readonly string[], seed: number, runs: number, jobs: number): Promise<void> {
  const started = performance.now();
  let missed = 0;
  const shares = Array.from({ length: Math.min(jobs, names.length) }, (_, at) => ({
    seed,
    schedules: runs,
    mutations: names.filter((_, index) => index % jobs === at),
  }));
  await inParallel(shares, jobs, ({ haul, mutation }) => {
    const [first] = haul.found;
    if (first === undefined) missed += 1;
    const what =
      first === undefined
        ? `NOT FOUND in ${haul.schedules} schedules`
        : `found by seed ${first.seed}, schedule ${haul.schedules}: ${first.violation.promise}`;
    console.log(`${(mutation ?? "").padEnd(22)} ${what}`);
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(
    `\n${names.length - missed} of ${names.length} broken rules found in ${seconds} s, each by its known seed first, then from ${seed}`,
  );
  if (missed > 0) process.exitCode = 1;
}

/** How many a second since then. */
function rate(count: number, since: number): number {
  return Math.round((1000 * count) / (performance.now() - since));
}

async function trace(seed: number): Promise<void> {
  const { generate } = await import("../test/simulation/generate.ts");
  const { simulate } = await import("../test/simulation/simulate.ts");
  const { textOf } = await import("../test/simulation/text-of.ts");
  const given = generate(seed);
  console.log(`${textOf(given)}\n`);
  const { violation } = await simulate(given, (line) => console.log(line));
  console.log(
    violation === undefined ? "\nevery promise was kept" : `\n${violation.promise}: ${violation.detail}`,
  );
  if (violation !== undefined) process.exitCode = 1;
}

async function inParallel(
  shares: readonly Share[],
  jobs: number,
  done: (played: Played[number]) => void,
): Promise<void> {
  const open = [...shares];
  const next = async (): Promise<void> => {
    for (let share = open.shift(); share !== undefined; share = open.shift())
      for (const played of await inThread(share)) done(played);
  };
  await Promise.all(Array.from({ length: jobs }, next));
}

function inThread(share: Share): Promise<Played> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: share });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

/** A thread plays its share, on an engine whose rules it breaks where it is told so. */
async function work({ seed, schedules, mutations: names }: Share): Promise<void> {
  const given = { seed, schedules };
  if (names === undefined) {
    const { hunt } = await import("../test/simulation/hunt.ts");
    const played: Played = [{ haul: await hunt({ ...given, most: 1000 }) }];
    parentPort?.postMessage(played);
    return;
  }
  const chosen = names.map((name) => {
    const found = mutations.find((mutation) => mutation.name === name);
    if (found === undefined) throw new Error(`there is no mutation ${name}`);
    return found;
  });
  makeBreakable(chosen);
  const { hunt } = await import("../test/simulation/hunt.ts");
  const played: Played[number][] = [];
  for (const { name, killer } of chosen) {
    broken = name;
    played.push({ mutation: name, haul: await hunt({ ...given, before: killer }) });
  }
  parentPort?.postMessage(played);
}

/** Puts a function that becomes its mutant while it is `broken` in the place of each rule as its module is loaded. Throws if a rule is no export. */
function makeBreakable(rules: readonly Mutation[]): void {
  const instead = new Map(rules.map((mutation) => [mutation.name, mutation.instead]));
  const breakable = (name: string, original: never): unknown => {
    const mutant: unknown = instead.get(name)?.(original);
    return (...args: unknown[]) => {
      const chosen: unknown = broken === name ? mutant : original;
      return typeof chosen === "function" ? Reflect.apply(chosen, undefined, args) : undefined;
    };
  };
  Object.defineProperty(globalThis, Symbol.for("graphform.breakable"), { value: breakable });
  const texts = new Map<string, string>();
  for (const { name, rule } of rules) {
    const [file = "", exported = ""] = rule.split("#");
    const url = pathToFileURL(join(source, file)).href;
    const text = texts.get(url) ?? readFileSync(join(source, file), "utf8");
    if (!new RegExp(`^export (async )?function ${exported}\\b`, "m").test(text))
      throw new Error(
        `${name}: ${file} exports no function ${exported}; bring test/simulation/mutations.ts up to date`,
      );
    const call = `globalThis[Symbol.for("graphform.breakable")](${JSON.stringify(name)}, ${exported})`;
    texts.set(url, `${text}\n;${exported} = ${call};\n`);
  }
  registerHooks({
    load(loaded, context, nextLoad) {
      const source = texts.get(loaded);
      if (source === undefined) return nextLoad(loaded, context);
      return { format: "module-typescript", source, shortCircuit: true };
    },
  });
}

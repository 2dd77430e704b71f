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
  /** A safety rule to break first. */
  readonly mutation?: string;
}

const usage = `npm run simulate -- [--runs N] [--seed S] [--jobs J] [--trace]
npm run simulate -- --mutations [--only NAME,...] [--runs N] [--seed S]

Plays N schedules (default 20000) with the seeds S, S+1, ... and prints the shrunken case of those that break a promise.
--trace prints everything that happens in the first one. --mutations breaks the engine's safety rules one at a time: it
plays the seed that is known to find each, then S, S+1, ..., and prints which seed found it.`;

/** Schedules that one thread plays before a fresh one takes over: enough to be warm. */
const share = 5000;
const source = join(import.meta.dirname, "..", "src");

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
  await inParallel(shares, jobs, (haul) => {
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

/** Breaks each of these rules in a thread of its own. */
async function mutate(names: readonly string[], seed: number, runs: number, jobs: number): Promise<void> {
  const started = performance.now();
  let missed = 0;
  const shares = names.map((name) => ({ seed, schedules: runs, mutation: name }));
  await inParallel(shares, jobs, (haul, { mutation }) => {
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
  done: (haul: Haul, share: Share) => void,
): Promise<void> {
  const open = [...shares];
  const next = async (): Promise<void> => {
    for (let share = open.shift(); share !== undefined; share = open.shift())
      done(await inThread(share), share);
  };
  await Promise.all(Array.from({ length: jobs }, next));
}

function inThread(share: Share): Promise<Haul> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: share });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

/** A thread plays its share, on an engine with a rule broken where it is told so. */
async function work({ seed, schedules, mutation }: Share): Promise<void> {
  const broken = mutations.find(({ name }) => name === mutation);
  if (broken === undefined && mutation !== undefined) throw new Error(`there is no mutation ${mutation}`);
  if (broken !== undefined) replaceRule(broken);
  const { hunt } = await import("../test/simulation/hunt.ts");
  const given = { seed, schedules };
  parentPort?.postMessage(
    await hunt(broken === undefined ? { ...given, most: 1000 } : { ...given, before: broken.killer }),
  );
}

/** Puts a mutant in the place of an exported function as its module is loaded. Throws where there is no such function. */
function replaceRule({ name, rule, instead }: Mutation): void {
  const [file = "", exported = ""] = rule.split("#");
  const url = pathToFileURL(join(source, file)).href;
  const text = readFileSync(join(source, file), "utf8");
  if (!new RegExp(`^export (async )?function ${exported}\\b`, "m").test(text))
    throw new Error(
      `${name}: ${file} exports no function ${exported}; bring test/simulation/mutations.ts up to date`,
    );
  const key = Symbol.for("graphform.mutant");
  Object.defineProperty(globalThis, key, { value: instead });
  registerHooks({
    load(loaded, context, nextLoad) {
      if (loaded !== url) return nextLoad(loaded, context);
      const mutated = `${text}\n;${exported} = globalThis[Symbol.for("graphform.mutant")](${exported});\n`;
      return { format: "module-typescript", source: mutated, shortCircuit: true };
    },
  });
}

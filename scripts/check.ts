import { type ChildProcess, spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { performance } from "node:perf_hooks";
import process from "node:process";

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

/** What must hold before a commit, beside the tests (the architecture test is one of them). Each takes seconds. */
const checks: readonly Check[] = [
  {
    name: "format and lint",
    command: ["biome", "ci", "--colors=off", "--error-on-warnings", "--diagnostic-level=warn", "."],
  },
  { name: "types", command: ["tsc", "-p", "."] },
  { name: "dead code", command: ["knip", "--no-progress"] },
];

const queue = [...checks];
const failed: string[] = [];
await Promise.all(Array.from({ length: availableParallelism() }, work));
if (!process.argv.includes("--no-tests")) {
  const status = await ended(spawn("vitest", ["run"], { stdio: "inherit" }));
  if (status !== 0) failed.push("tests");
}
if (failed.length > 0) {
  console.error(`\ncheck failed: ${failed.join(", ")}`);
  process.exitCode = 1;
}

async function work(): Promise<void> {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) await run(next);
}

/** Runs one check and prints what it said once it is over, so that two of them do not mix. */
async function run({ name, command: [program = "", ...args] }: Check): Promise<void> {
  const start = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const said: Buffer[] = [];
  child.stdout.on("data", (data: Buffer) => said.push(data));
  child.stderr.on("data", (data: Buffer) => said.push(data));
  const good = (await ended(child)) === 0;
  console.log(`${good ? "ok    " : "FAILED"} ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  if (good) return;
  failed.push(name);
  process.stdout.write(Buffer.concat(said));
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
}

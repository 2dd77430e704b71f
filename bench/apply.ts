import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { benchManifest } from "./manifest.ts";
import { runNode, startService } from "./start-service.ts";

/**
 * An apply of a thousand databases with 64 requests in flight, against a service that takes 20 ms for a request and 0.2 s to
 * deploy, as a multiple of what a bare program needs to sign in, list and describe them with as many. The databases differ in
 * what an update can change; with `--distinct` also in what is fixed, so that few of their creates may be in flight together.
 * `--profile` names a folder for a CPU profile of the apply; `--cli` another build of the program.
 */
const root = join(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    count: { type: "string", default: "1000" },
    cli: { type: "string", default: join(root, "bin", "graphform.js") },
    distinct: { type: "boolean", default: false },
    profile: { type: "string" },
  },
});
const parallelism = 64;
const env = {
  ...process.env,
  GRAPHFORM_USERNAME: "bench",
  GRAPHFORM_PASSWORD: "bench",
  BENCH_PASSWORD: "not-a-secret",
  CI: "true",
};
const folder = mkdtempSync(join(tmpdir(), "graphform-bench-"));
const ratios: number[] = [];
try {
  for (let round = 0; round < Number(values.rounds); round += 1) ratios.push(await measured(round));
  const middle = ratios.toSorted((one, other) => one - other)[Math.floor(ratios.length / 2)];
  console.log(`${middle?.toFixed(2)} times a bare program (median)`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measured(round: number): Promise<number> {
  const { child, url } = await startService();
  try {
    const cwd = join(folder, String(round));
    mkdirSync(cwd);
    const manifest = benchManifest(Number(values.count), url);
    const alike = manifest.replace(/graphDBCacheSize: \d+/g, "graphDBCacheSize: 25");
    writeFileSync(join(cwd, "graphform.yaml"), values.distinct ? manifest : alike);
    const profiling = values.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${values.profile}`];
    const options = ["apply", "--auto-approve", "--parallelism", String(parallelism)];
    const apply = await timed([...profiling, values.cli, ...options], cwd);
    const bare = await timed([join(root, "bench", "bare.mjs"), url, String(parallelism)], cwd);
    console.log(`${apply.toFixed(0).padStart(7)} ms apply ${bare.toFixed(0).padStart(7)} ms bare`);
    return apply / bare;
  } finally {
    child.stdin?.end();
  }
}

async function timed(args: readonly string[], cwd: string): Promise<number> {
  const began = performance.now();
  await runNode(args, cwd, env);
  return performance.now() - began;
}

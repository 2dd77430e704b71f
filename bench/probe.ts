import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { benchManifest } from "./manifest.ts";
import { medians } from "./measure.ts";

/**
 * A plan of a thousand databases that asks each of them itself, as a multiple of the same plan with `--no-probe`. Service and
 * databases take `--latency` ms for an answer.
 */
const root = join(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    count: { type: "string", default: "1000" },
    latency: { type: "string", default: "20" },
  },
});
const cli = join(root, "bin", "graphform.js");
const limit = 1.2;
const env = {
  GRAPHFORM_USERNAME: "bench",
  GRAPHFORM_PASSWORD: "bench",
  BENCH_PASSWORD: "not-a-secret",
  CI: "true",
};
const folder = mkdtempSync(join(tmpdir(), "graphform-bench-"));
const { child, url } = await service();
try {
  const cwd = join(folder, "probed");
  mkdirSync(cwd);
  const manifest = benchManifest(Number(values.count), url);
  writeFileSync(
    join(cwd, "graphform.yaml"),
    manifest.replace(/graphDBCacheSize: \d+/g, "graphDBCacheSize: 25"),
  );
  await run(["apply", "--auto-approve", "--parallelism", "64"], cwd);
  const args = [cli, "plan", "--detailed-exitcode", "--parallelism", "64"];
  const times = medians(
    [
      { name: "asked", args, cwd, env },
      { name: "not asked", args: [...args, "--no-probe"], cwd, env },
    ],
    Number(values.rounds),
  );
  const [asked = Number.NaN, silent = Number.NaN] = [...times.values()].map(({ time }) => time);
  console.log(`${asked.toFixed(0).padStart(7)} ms with a probe ${silent.toFixed(0).padStart(7)} ms without`);
  const ratio = asked / silent;
  console.log(
    `${ratio.toFixed(2)} times a plan without a probe (${ratio <= limit ? "within" : "OVER"} ${limit})`,
  );
} finally {
  child.stdin?.end();
  rmSync(folder, { recursive: true, force: true });
}

async function service(): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const args = [join(root, "bench", "service.ts"), "--latency", values.latency, "--databases"];
  const started = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface(started.stdout), "line");
  const { url: at }: { url: string } = JSON.parse(String(line));
  return { child: started, url: at };
}

async function run(args: readonly string[], cwd: string): Promise<void> {
  const program = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: "ignore",
  });
  const [code] = await once(program, "close");
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
}

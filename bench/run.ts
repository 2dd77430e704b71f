import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { benchManifest } from "./manifest.ts";
import { type Case, medians } from "./measure.ts";

/** A ratio of two cases, and what it should stay under. */
interface Ratio {
  readonly of: string;
  readonly to: string;
  readonly limit: number;
}

const { values } = parseArgs({ options: { rounds: { type: "string", default: "15" } } });
const root = join(import.meta.dirname, "..");
const cli = join(root, "bin", "graphform.js");
const folder = mkdtempSync(join(tmpdir(), "graphform-bench-"));
const env = {
  GRAPHFORM_USERNAME: "bench",
  GRAPHFORM_PASSWORD: "bench",
  BENCH_PASSWORD: "not-a-secret",
  CI: "true",
};

const services: ChildProcess[] = [];
try {
  const small = project(10, await service());
  const large = project(1000, await service());
  const bare = await bareParse();
  const start = "node -e 0";
  const cases: readonly Case[] = [
    { name: start, args: ["-e", "0"] },
    { name: "graphform --version", args: [cli, "--version"] },
    { name: "YAML parse, 1000 instances", args: [bare, join(large, "graphform.yaml")] },
    { name: "graphform validate, 1000 instances", args: [cli, "validate"], cwd: large, env },
    {
      name: "graphform plan, nothing to do, 10 instances",
      args: [cli, "plan", "--detailed-exitcode"],
      cwd: small,
      env,
    },
    {
      name: "graphform plan, nothing to do, 1000 instances",
      args: [cli, "plan", "--detailed-exitcode"],
      cwd: large,
      env,
    },
  ];
  const ratios: readonly Ratio[] = [
    { of: "graphform --version", to: start, limit: 2 },
    { of: "graphform validate, 1000 instances", to: "YAML parse, 1000 instances", limit: 3 },
    { of: "graphform plan, nothing to do, 10 instances", to: start, limit: 5 },
    { of: "graphform plan, nothing to do, 1000 instances", to: start, limit: 15 },
  ];
  report(medians(cases, Number(values.rounds)), ratios);
} finally {
  for (const each of services) each.stdin?.end();
  rmSync(folder, { recursive: true, force: true });
}

/** Starts a service of its own and gives its address, once it listens. */
async function service(): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "service.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  services.push(child);
  const [line] = await once(createInterface(child.stdout), "line");
  const { url }: { url: string } = JSON.parse(String(line));
  return url;
}

/** A folder with a manifest and the state of a real apply of it. */
function project(instances: number, url: string): string {
  const path = join(folder, String(instances));
  mkdirSync(path);
  writeFileSync(join(path, "graphform.yaml"), benchManifest(instances, url));
  const { status, stderr } = spawnSync(process.execPath, [cli, "apply", "--auto-approve"], {
    cwd: path,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`apply of ${instances} instances ended with ${status}: ${stderr}`);
  return path;
}

/** A program that parses a YAML file with the same library, bundled and cached like graphform itself. */
async function bareParse(): Promise<string> {
  const outfile = join(folder, "parse.mjs");
  const contents = `
    import module from "node:module";
    import { readFileSync } from "node:fs";
    module.enableCompileCache();
    const { default: yaml } = await import("yaml");
    yaml.parse(readFileSync(process.argv[2], "utf8"));`;
  const stdin = { contents, resolveDir: root };
  const banner = { js: 'import{createRequire as $r}from"node:module";const require=$r(import.meta.url);' };
  const names = { outdir: folder, entryNames: "parse", outExtension: { ".js": ".mjs" } };
  await build({
    stdin,
    ...names,
    banner,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node22.19",
  });
  return outfile;
}

function report(times: ReadonlyMap<string, number>, ratios: readonly Ratio[]): void {
  for (const [name, time] of times) console.log(`${time.toFixed(1).padStart(8)} ms  ${name}`);
  console.log();
  for (const { of, to, limit } of ratios) {
    const ratio = (times.get(of) ?? Number.NaN) / (times.get(to) ?? Number.NaN);
    const verdict = ratio <= limit ? "within" : "OVER";
    console.log(`${ratio.toFixed(2).padStart(8)}     ${of} / ${to} (${verdict} ${limit})`);
  }
}

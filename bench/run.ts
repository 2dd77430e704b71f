import { type ChildProcess, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { parse } from "yaml";
import { benchFiles, benchManifest } from "./manifest.ts";
import { type Case, medians, peakMemory } from "./measure.ts";
import { startNode } from "./start-service.ts";
import { leastRatio, startTerraform } from "./terraform/terraform.ts";

/**
 * Start, validate, plan and `import --all` as multiples of the least that could do it, as medians of one run: `node -e 0`; a bare parse of
 * the same text; the floor, a bare program (`bare.mjs`) that signs in, lists and describes the same instances, 64 at a time. Plans find
 * nothing to do and ask no database. Terraform, if it is installed, plans up to a thousand of the same, in three rounds. `--sizes`, `--latencies` (ms for each request), `--rounds`, `--only` (a part of a case's name) choose;
 * `--cli` names another build, `--profile` a folder for a CPU profile of each case.
 */
const root = join(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    sizes: { type: "string", default: "10,1000,10000" },
    latencies: { type: "string", default: "0" },
    only: { type: "string", default: "" },
    cli: { type: "string", default: join(root, "bin", "graphform.js") },
    profile: { type: "string" },
  },
});
const numbersIn = (text: string): readonly number[] => text.split(",").map(Number);
const sizes = numbersIn(values.sizes);
const folder = mkdtempSync(join(tmpdir(), "graphform-bench-"));
const env = {
  GRAPHFORM_USERNAME: "bench",
  GRAPHFORM_PASSWORD: "bench",
  BENCH_PASSWORD: "not-a-secret",
  CI: "true",
};
const wide = ["--parallelism", "64"];

/** A case, and the case that it is a multiple of. */
interface Compared {
  readonly what: Case;
  readonly to: Case;
  readonly limit: number;
}

const services: ChildProcess[] = [];
const terraform = await startTerraform(folder);
try {
  const start: Case = { name: "node -e 0", args: ["-e", "0"] };
  const bare = await bareParse();
  compare([{ what: { name: "--version", args: [values.cli, "--version"] }, to: start, limit: 1.5 }]);
  const one = project(1, await service());
  compare([
    { what: { name: "validate of 1", args: [values.cli, "validate"], cwd: one, env }, to: start, limit: 2.5 },
  ]);
  for (const size of sizes) {
    const url = await service();
    const cwd = project(size, url);
    compare(validations(size, cwd, bare));
    for (const latency of numbersIn(values.latencies)) {
      await fetch(`${url}/bench?latency=${latency}`);
      const at = `of ${size} at ${latency} ms`;
      const floor: Case = { name: `floor ${at}`, args: [join(root, "bench", "bare.mjs"), url] };
      const files = named(filesOf(cwd));
      const plan = [values.cli, "plan", "--detailed-exitcode", "--no-probe", ...wide, ...files];
      const imported = [values.cli, "import", "--all", ...wide, ...files];
      const limit = latency >= 50 ? 1.3 : size <= 10 ? 2.5 : 2;
      compare([
        { what: { name: `plan ${at}`, args: plan, cwd, env }, to: floor, limit },
        { what: { name: `import --all ${at}`, args: imported, cwd, env }, to: floor, limit: 6 },
      ]);
      if (terraform !== undefined && size <= 1000) {
        const to: Case = { name: `plan ${at}`, args: plan, cwd, env };
        const manifest = readFileSync(join(cwd, "graphform.yaml"), "utf8");
        compareTerraform(terraform.plans(manifest, url, at), [to, floor], size);
      }
    }
  }
} finally {
  for (const each of services) each.stdin?.end();
  terraform?.end();
  rmSync(folder, { recursive: true, force: true });
}

/** The files of the manifest in a folder. */
function filesOf(cwd: string): readonly string[] {
  return readdirSync(cwd).filter((name) => name.endsWith(".yaml"));
}

function named(files: readonly string[]): readonly string[] {
  return files.flatMap((file) => ["-f", file]);
}

/** A bare parse of the manifest of a size, once as YAML and once as JSON. */
function validations(size: number, cwd: string, bare: string): readonly Compared[] {
  const yaml = filesOf(cwd);
  const json = yaml.map((file) => {
    const path = join(cwd, file.replace("yaml", "json"));
    writeFileSync(path, JSON.stringify(parse(readFileSync(join(cwd, file), "utf8")), null, 2));
    return path;
  });
  return [yaml, json].map((files, at) => {
    const form = at === 0 ? "YAML" : "JSON";
    const what = {
      name: `validate of ${size}, ${form}`,
      args: [values.cli, "validate", ...named(files)],
      cwd,
      env,
    };
    return {
      what,
      to: { name: `parse of ${size}, ${form}`, args: [bare, ...files], cwd },
      limit: at === 0 ? 2 : 3,
    };
  });
}

/** Measures the cases together, and prints each as a multiple of what it is compared with. */
function compare(all: readonly Compared[]): void {
  const chosen = all.filter(({ what }) => what.name.includes(values.only));
  const cases = [...new Set(chosen.flatMap(({ what, to }) => [to, what]))];
  const times = medians(cases, Number(values.rounds));
  for (const { what, to, limit } of chosen) {
    const [time = Number.NaN, least = Number.NaN] = [times.get(what.name)?.time, times.get(to.name)?.time];
    const ratio = time / least;
    const verdict = ratio <= limit ? "within" : "OVER";
    const memory = peakMemory(what);
    console.log(
      `${ratio.toFixed(2).padStart(6)} ${what.name} / ${to.name}: ${time.toFixed(0)} / ${least.toFixed(0)} ms, ${memory.toFixed(0)} MB (${verdict} ${limit})`,
    );
    if (values.profile === undefined) continue;
    const profiling = ["--cpu-prof", `--cpu-prof-name=${what.name.replace(/\W+/g, "-")}.cpuprofile`];
    medians([{ ...what, args: [...profiling, `--cpu-prof-dir=${values.profile}`, ...what.args] }], 0);
  }
}

/** Measures plans of Terraform, and prints each as a multiple of the plan of graphform and of the floor. */
function compareTerraform(all: readonly Case[], others: readonly Case[], size: number): void {
  const chosen = all.filter(({ name }) => name.includes(values.only));
  if (chosen.length === 0) return;
  const taken = medians([...others, ...chosen], Math.min(3, Number(values.rounds)));
  for (const { name } of chosen) for (const to of others) console.log(leastRatio(taken, name, to.name, size));
}

/** Starts a service of its own and gives its address, once it listens. */
async function service(): Promise<string> {
  const { child, line } = await startNode(join(import.meta.dirname, "service.ts"));
  services.push(child);
  const { url }: { url: string } = JSON.parse(line);
  return url;
}

/** A folder with a manifest and its state: that of a real apply of the first three, repeated. */
function project(instances: number, url: string): string {
  const path = join(folder, String(instances));
  mkdirSync(path);
  writeFileSync(join(path, "graphform.yaml"), benchManifest(Math.min(instances, 3), url));
  node([values.cli, "apply", "--auto-approve"], path);
  if (instances <= 3) return path;
  const [few, many] = [3, instances].map((count) => join(path, ".graphform", `bench-${count}.state.json`));
  const text = readFileSync(few ?? "", "utf8");
  const state: { resources: Record<string, { recorded: Record<string, unknown> }> } = JSON.parse(text);
  const models = Object.entries(state.resources).sort(([one], [other]) => (one < other ? -1 : 1));
  for (let index = models.length; index < instances; index += 1) {
    const [, model = { recorded: {} }] = models[index % models.length] ?? [];
    const recorded = {
      ...model.recorded,
      "config.name": `graph-${index}`,
      "config.description": `number ${index} of the bench`,
      "config.graphDBCacheSize": 1 + (index % 256),
    };
    state.resources[`instances.graph-${index}`] = { ...model, ...{ id: `instance-${index + 1}` }, recorded };
  }
  rmSync(join(path, ".graphform"), { recursive: true });
  mkdirSync(join(path, ".graphform"));
  writeFileSync(many ?? "", JSON.stringify({ ...state, name: `bench-${instances}` }));
  for (const [at, text] of benchFiles(instances, url).entries())
    writeFileSync(join(path, at === 0 ? "graphform.yaml" : `graphform-${at}.yaml`), text);
  node(["-e", `fetch("${url}/bench?instances=${instances}")`], path);
  return path;
}

function node(args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
}

/** A program that parses a file with the same library, or with `JSON.parse`; bundled and cached like graphform itself. */
async function bareParse(): Promise<string> {
  const outfile = join(folder, "parse.mjs");
  const contents = `
    import module from "node:module";
    import { readFileSync } from "node:fs";
    module.enableCompileCache();
    for (const path of process.argv.slice(2)) {
      const text = readFileSync(path, "utf8");
      if (path.endsWith(".json")) JSON.parse(text);
      else (await import("yaml")).default.parse(text);
    }`;
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

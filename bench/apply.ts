import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { benchManifest } from "./manifest.ts";
import { type Case, measured, medianOf, type Taken } from "./measure.ts";
import { startService } from "./start-service.ts";
import { leastRatio, startTerraform } from "./terraform/terraform.ts";

/**
 * An apply of a thousand databases with 64 requests in flight, against a service that takes 20 ms for a request and `--deploy` ms to
 * deploy, as a multiple of what a bare program needs to sign in, list and describe them with as many; and an apply of Terraform, if
 * it is installed, as a multiple of that apply. The databases differ in what an update can change; with `--distinct` also in what is
 * fixed, so that few of their creates may be in flight together. `--profile` names a folder for a CPU profile of the apply; `--cli`
 * another build of the program.
 */
const root = join(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    count: { type: "string", default: "1000" },
    deploy: { type: "string", default: "200" },
    cli: { type: "string", default: join(root, "bin", "graphform.js") },
    distinct: { type: "boolean", default: false },
    profile: { type: "string" },
  },
});
const parallelism = "64";
const env = {
  GRAPHFORM_USERNAME: "bench",
  GRAPHFORM_PASSWORD: "bench",
  BENCH_PASSWORD: "not-a-secret",
  CI: "true",
};
const folder = mkdtempSync(join(tmpdir(), "graphform-bench-"));
const taken = new Map<string, Taken[]>();
const terraform = await startTerraform(folder);
try {
  for (let round = 0; round < Number(values.rounds); round += 1) await once(round);
  const medians = new Map([...taken].map(([name, list]) => [name, medianOf(list)]));
  const [apply = Number.NaN, bare = Number.NaN] = [...medians.values()].map(({ time }) => time);
  console.log(`${(apply / bare).toFixed(2)} times a bare program (medians)`);
  if (terraform !== undefined)
    console.log(leastRatio(medians, "terraform apply", "apply", Number(values.count)));
} finally {
  terraform?.end();
  rmSync(folder, { recursive: true, force: true });
}

/** Measures all of them against a service of their own. */
async function once(round: number): Promise<void> {
  const { child, url } = await startService(Number(values.deploy));
  try {
    const cwd = join(folder, String(round));
    mkdirSync(cwd);
    const distinct = benchManifest(Number(values.count), url);
    const alike = distinct.replace(/graphDBCacheSize: \d+/g, "graphDBCacheSize: 25");
    const manifest = values.distinct ? distinct : alike;
    writeFileSync(join(cwd, "graphform.yaml"), manifest);
    const profiling = values.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${values.profile}`];
    const options = ["apply", "--auto-approve", "--parallelism", parallelism];
    const cases: readonly Case[] = [
      { name: "apply", args: [...profiling, values.cli, ...options], cwd, env },
      { name: "bare", args: [join(root, "bench", "bare.mjs"), url, parallelism] },
      ...(terraform === undefined ? [] : [terraform.apply(manifest, url)]),
    ];
    const times = cases.map((each) => {
      const one = measured(each);
      taken.set(each.name, [...(taken.get(each.name) ?? []), one]);
      return `${one.time.toFixed(0).padStart(7)} ms ${each.name}`;
    });
    console.log(times.join(" "));
  } finally {
    child.stdin?.end();
  }
}

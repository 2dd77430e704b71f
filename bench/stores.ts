import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { type SharedStore, sharedStores } from "../test/support/shared-stores.ts";
import { benchManifest } from "./manifest.ts";
import { runNode, startService } from "./start-service.ts";

/**
 * An apply of a thousand databases, with the state in a file and in each shared store on this machine: time, and bytes written to
 * the store, as multiples of those of the file. The service takes 20 ms for a request and 0.2 s to deploy.
 */
const root = join(import.meta.dirname, "..");
const { values } = parseArgs({ options: { count: { type: "string", default: "1000" } } });
const count = Number(values.count);
const name = `bench-${count}`;
const folder = mkdtempSync(join(tmpdir(), "graphform-bench-"));

/** What one apply took. */
interface Taken {
  readonly ms: number;
  readonly bytes: number;
  readonly requests: number;
}

try {
  const file = await measured("file", undefined);
  print("file", file, file);
  for (const [kind, start] of Object.entries(sharedStores)) {
    const store = await start(name);
    try {
      print(kind, await measured(kind, store), file);
    } finally {
      await store.close();
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function print(kind: string, { ms, bytes, requests }: Taken, file: Taken): void {
  const time = `${(ms / 1000).toFixed(1).padStart(7)} s ${(ms / file.ms).toFixed(2).padStart(6)} times`;
  const size = `${(bytes / 1e6).toFixed(1).padStart(8)} MB ${(bytes / file.bytes).toFixed(1).padStart(6)} times`;
  console.log(`${kind.padEnd(14)} ${time} ${size} in ${requests} writes`);
}

async function measured(kind: string, store: SharedStore | undefined): Promise<Taken> {
  const { child, url } = await startService();
  try {
    const cwd = join(folder, kind.replace(/\W+/g, "-"));
    mkdirSync(cwd);
    const counted = join(cwd, "writes.json");
    const section = store === undefined ? "" : `state: ${JSON.stringify(store.section)}\n`;
    const alike = benchManifest(count, url).replace(/graphDBCacheSize: \d+/g, "graphDBCacheSize: 25");
    writeFileSync(join(cwd, "graphform.yaml"), alike + section);
    const env = {
      ...process.env,
      ...store?.env,
      ...{ GRAPHFORM_USERNAME: "bench", GRAPHFORM_PASSWORD: "bench", BENCH_PASSWORD: "not-a-secret" },
      ...{ CI: "true", BENCH_WRITES: counted },
    };
    const cli = join(root, "bin", "graphform.js");
    if (store !== undefined) await runNode([cli, "state", "init"], cwd, env);
    const before = store?.received();
    const began = performance.now();
    const preload = ["--import", join(root, "bench", "count-writes.mjs")];
    await runNode([...preload, cli, "apply", "--auto-approve", "--parallelism", "64"], cwd, env);
    const ms = performance.now() - began;
    if (store === undefined) return { ms, ...JSON.parse(readFileSync(counted, "utf8")) };
    const { bytes, requests } = store.received();
    return { ms, bytes: bytes - (before?.bytes ?? 0), requests: requests - (before?.requests ?? 0) };
  } finally {
    child.stdin?.end();
  }
}

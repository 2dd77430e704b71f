import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient } from "@redis/client";
import { compareData } from "../src/replace/data/compare-data.ts";
import { copy } from "../src/replace/data/copy.ts";
import { takeInventory } from "../src/replace/data/inventory.ts";
import { openSide, type Side } from "../src/replace/data/nodes.ts";

/**
 * `--runs N`: whole migrations under 50 writers that follow the output, and one that never looks at it again; of databases with an
 * append-only file, with a replica too, and with neither. `--sizes 10,100,300`: copy and verify against the bare DUMP and RESTORE of the
 * same keys, in MB. Exit 1 if a number that was acknowledged is missing, or a server ended.
 */
const { values } = parseArgs({ options: { runs: { type: "string" }, sizes: { type: "string" } } });
const program = join(import.meta.dirname, "..", "bin", "graphform.js");
const login = { username: "app", password: "bench-password" };
const never = new AbortController().signal;

interface Kind {
  readonly name: string;
  readonly plan: string;
  /** The create-only change: from and to. */
  readonly change: readonly [string, string];
}

const paid = "nodeInstanceType: m7g.large, graphDBCacheSize: 25, ";
const cache = ["graphDBCacheSize: 25", "graphDBCacheSize: 64"] as const;
const kinds: readonly Kind[] = [
  { name: "append-only file", plan: `tier: pro, component: standalone, config: { ${paid}`, change: cache },
  { name: "and a replica", plan: `tier: pro, component: multi-zone, config: { ${paid}`, change: cache },
  { name: "neither", plan: "tier: free, component: free, config: { ", change: ["us-east-1", "eu-west-1"] },
];

/** A folder with a platform and a manifest of so many databases. */
class Place {
  readonly folder = mkdtempSync(join(tmpdir(), "graphform-bench-"));
  readonly env = { ...process.env, BENCH_PASSWORD: login.password };
  text: string;

  constructor(plan: string, names: readonly string[]) {
    const instances = names.map(
      (
        name,
      ) => `  ${name}: { cloudProvider: aws, region: us-east-1, ${plan}graphdbUser: app, graphdbPassword: "\${secret.bench}" },
    lifecycle: { onReplace: migrate, protect: false, migration: { maxReadOnly: 1h } } }`,
    );
    this.text = `apiVersion: graphform/v1\nname: bench\nsecrets: { bench: { env: BENCH_PASSWORD } }\ninstances:\n${instances.join("\n")}
outputs:\n${names.map((name) => `  ${name}: \${instances.${name}.endpoint}`).join("\n")}\n`;
    this.write();
    this.run("platform", "up", "--detach");
    this.run("apply", "--auto-approve");
  }

  write(): void {
    writeFileSync(join(this.folder, "graphform.yaml"), this.text);
  }

  run(...args: readonly string[]): string {
    return execFileSync(process.execPath, [program, ...args], {
      cwd: this.folder,
      env: this.env,
      encoding: "utf8",
      stdio: "pipe",
    });
  }

  /** Runs a command beside the writers. */
  async start(...args: readonly string[]): Promise<string> {
    const options = { cwd: this.folder, env: this.env };
    return new Promise((resolve, reject) => {
      execFile(process.execPath, [program, ...args], options, (error, out, err) =>
        error === null ? resolve(out.trim()) : reject(new Error(`${error.message}${out}${err}`)),
      );
    });
  }

  end(): void {
    this.run("platform", "down");
    rmSync(this.folder, { recursive: true });
  }
}

async function connect(
  endpoint: string,
): Promise<Pick<ReturnType<typeof createClient>, "isReady" | "destroy" | "sendCommand">> {
  const [host = "", port = ""] = endpoint.split(":");
  const client = createClient({ ...login, socket: { host, port: Number(port), reconnectStrategy: false } });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

async function migration({ name, plan, change }: Kind, writers: number): Promise<boolean> {
  const place = new Place(plan, ["orders"]);
  let endpoint = await place.start("output", "orders", "--raw");
  const acknowledged: number[] = [];
  const times: number[] = [];
  let next = 0;
  let isOver = false;
  const write = async (follows: boolean): Promise<void> => {
    for (let at = endpoint; !isOver; at = follows ? endpoint : at) {
      const client = await connect(at).catch(() => undefined);
      try {
        while (!isOver && client?.isReady === true) {
          next += 1;
          const number = next;
          await client.sendCommand(["GRAPH.QUERY", "w", `CREATE (:W {i: ${number}})`]);
          acknowledged.push(number);
          times.push(performance.now());
          await pause(5);
        }
      } catch {
        // It goes on with the next number, at the endpoint that it knows.
      } finally {
        client?.destroy();
      }
      await pause(50);
    }
  };
  const look = async (): Promise<void> => {
    while (!isOver) {
      const found = await place.start("output", "orders", "--raw").catch(() => "");
      if (found !== "") endpoint = found;
      await pause(200);
    }
  };
  const all = [...Array.from({ length: writers }, () => write(true)), write(false), look()];
  while (acknowledged.length < 1000) await pause(20);
  place.text = place.text.replace(...change);
  place.write();
  await place.start("apply", "--auto-approve", "--cutover", "instances.orders");
  const old = acknowledged.length;
  while (acknowledged.length < old + 500) await pause(20);
  isOver = true;
  await Promise.all(all);
  endpoint = await place.start("output", "orders", "--raw");
  const status = JSON.parse(place.run("replace", "status", "--json"));
  const { rehearsed } = status["instances.orders"];
  const winner = await connect(endpoint);
  const reply = await winner.sendCommand(["GRAPH.RO_QUERY", "w", "MATCH (w:W) RETURN collect(w.i)"]);
  winner.destroy();
  const found = new Set(/\[[\d, ]+\]/.exec(JSON.stringify(reply))?.[0].match(/\d+/g)?.map(Number));
  const lost = acknowledged.filter((number) => !found.has(number)).length;
  const logs = globSync(".graphform/platform/databases/*/node-*/server.log", { cwd: place.folder });
  const ended = logs.filter((file) =>
    /ASSERTION FAILED|crashed by signal/.test(readFileSync(join(place.folder, file), "utf8")),
  );
  const gap = Math.max(...times.map((time, index) => time - (times[index - 1] ?? time)));
  const planned = rehearsed.copy + rehearsed.verify;
  console.log(
    `${name.padEnd(16)} ${acknowledged.length} acknowledged, ${lost} lost, ${ended.length} servers ended; no write for ${Math.round(gap)} ms; rehearsed copy and compare ${planned} ms`,
  );
  place.end();
  return lost === 0 && ended.length === 0;
}

/** Copy and verify of one graph of so many MB, against its bare DUMP and RESTORE. */
async function figures(sizes: readonly number[]): Promise<void> {
  const place = new Place(`tier: pro, component: standalone, config: { ${paid}`, ["old", "new"]);
  const side = async (name: string): Promise<Side> => {
    const [host = "", port = ""] = place.run("output", name, "--raw").trim().split(":");
    return openSide([{ ...login, host, port: Number(port) }], never);
  };
  const [source, target] = [await side("old"), await side("new")];
  const { control } = source.primary;
  for (const size of sizes) {
    await control.one(["FLUSHALL"]);
    await target.primary.control.one(["FLUSHALL"]);
    for (let made = 0; made < size * 1000; made += 2000) {
      const texts = Array.from({ length: 2000 }, () => `'${randomBytes(690).toString("base64")}'`);
      await control.one(["GRAPH.QUERY", "g", `UNWIND [${texts.join()}] AS t CREATE (:N {t: t})`]);
    }
    const began = performance.now();
    const dump = await control.one(["DUMP", "g"], { binary: true });
    if (!Buffer.isBuffer(dump)) throw new Error("no dump");
    const dumped = performance.now();
    await target.primary.control.one(["RESTORE", "g", "0", dump]);
    const bare = performance.now() - began;
    await target.primary.control.one(["GRAPH.DELETE", "g"]);
    const inventory = await takeInventory(source, never);
    const begun = performance.now();
    await copy(source, target, { inventory }, never);
    const copied = performance.now() - begun;
    const differences = await compareData(source, target, { inventory }, never);
    const verified = performance.now() - begun - copied;
    console.log(
      `${Math.round(dump.length / 1e6)} MB: DUMP ${Math.round(dumped - began)} ms, DUMP and RESTORE ${Math.round(bare)} ms, copy ${Math.round(copied)} ms (${(copied / bare).toFixed(2)} times), verify ${Math.round(verified)} ms, ${differences.length} differences`,
    );
  }
  source.close();
  target.close();
  place.end();
}

for (let run = 0; run < Number(values.runs ?? 0); run += 1) {
  const kind = kinds[run % kinds.length];
  if (kind !== undefined && !(await migration(kind, 50))) process.exitCode = 1;
}
if (values.sizes !== undefined) await figures(values.sizes.split(",").map(Number));

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import { createClient } from "@redis/client";

/**
 * The main job on the local platform: three real databases from a manifest, one changed in place, a replacement refused, one that keeps
 * its data under a writer, nothing left to do; and the proof, read from the database over its own protocol. Exit 0 when all of it is so.
 * `--keep` leaves the platform running and the folder in place where all of it was so.
 */
const [option, ...excess] = process.argv.slice(2);
if (excess.length > 0 || (option !== undefined && option !== "--keep")) {
  console.error("demo: the only option is --keep (npm run demo -- --keep)");
  process.exit(1);
}
const isKept = option === "--keep";
/** True from the moment that the demo leaves everything as it is. */
let isLeft = false;
const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "graphform-demo-"));
const manifest = join(folder, "graphform.yaml");
const password = randomBytes(12).toString("base64url");
/** Nobody's own service or credentials: the demo has its own. */
const settings = Object.entries(process.env).filter(([name]) => !/^GRAPHFORM_(?!ENGINE|MODULE)/.test(name));
const env = { ...Object.fromEntries(settings), SHOP_PASSWORD: password };
/** What an interrupted demo ends: the command that runs, unless it is the one that tidies up. */
let running: ChildProcess | undefined;
const stop = (): void => void running?.kill("SIGINT");
process.on("SIGINT", stop).on("SIGTERM", stop).on("SIGHUP", stop);

async function demo(): Promise<void> {
  cpSync(join(root, "examples", "quick-start.yaml"), manifest);
  say("a local platform: the hosting service on this machine, with real databases");
  try {
    await graphform(0, "platform", "up", "--detach");
    say("three databases from one manifest");
    await graphform(0, "apply", "--auto-approve");
    say("the same again: nothing to do");
    await graphform(0, "plan", "--detailed-exitcode");

    say("a description changes: in place");
    edit("the order graph", "orders, customers and what they bought");
    await graphform(2, "plan", "--detailed-exitcode");
    await graphform(0, "apply", "--auto-approve");

    say("a region changes: that takes a new, empty database, and is refused");
    edit("cloudProvider: aws, region: us-east-1", "cloudProvider: aws, region: eu-west-1");
    await graphform(4, "apply", "--auto-approve", "--target", "instances.orders");
    edit("cloudProvider: aws, region: eu-west-1", "cloudProvider: aws, region: us-east-1");

    say("the same kind of change, now moving the data, while a client writes");
    const before = (await graphform(0, "output", "ordersEndpoint", "--raw")).trim();
    const writing = startWriter(before);
    edit("graphDBCacheSize: 100", "graphDBCacheSize: 64");
    edit(
      "component: single-zone",
      "component: single-zone\n    lifecycle: { onReplace: migrate, migration: { maxReadOnly: 5m } }",
    );
    await graphform(0, "apply", "--auto-approve", "--cutover", "instances.orders").finally(writing.stop);
    await graphform(0, "plan", "--detailed-exitcode");

    say("the new database itself, asked over its own protocol");
    const endpoint = (await graphform(0, "output", "ordersEndpoint", "--raw")).trim();
    await ask(endpoint, writing.acknowledged);
    isLeft = isKept;
    if (isLeft) return explainKept(endpoint);
  } finally {
    if (!isLeft) await graphform(0, "platform", "down");
  }
  say("done: no differences are left");
}

/** Prints how to look at what the demo leaves, and how to end it. */
function explainKept(endpoint: string): void {
  const command = `"${process.execPath}" "${join(root, "bin", "graphform.js")}"`;
  const file = join(folder, "password");
  writeFileSync(file, `${password}\n`, { mode: 0o600 });
  say("done: no differences are left; the platform keeps running, and its folder stays");
  console.log(`
  cd ${folder}
  export SHOP_PASSWORD="$(cat ${file})"    # password of the databases' user app
  alias graphform='${command}'

look at it
  graphform platform open                 # its page in a browser, by a link that signs in once
  graphform plan                          # after a change of graphform.yaml
  graphform show                          # the databases; orders answers at ${endpoint}

end it
  graphform platform down                 # stops the databases and keeps their data
  rm -r ${folder}`);
}

/** Writes consecutive numbers until it is stopped, or the database is closed; remembers those that were acknowledged. */
function startWriter(endpoint: string): { readonly acknowledged: readonly number[]; stop(): void } {
  const acknowledged: number[] = [];
  const client = clientOf(endpoint);
  client.on("error", () => undefined);
  const write = async (): Promise<void> => {
    await client.connect();
    for (let number = 1; client.isReady; number += 1) {
      await client.sendCommand(["GRAPH.QUERY", "shop", `CREATE (:Order {number: ${number}})`]);
      acknowledged.push(number);
    }
  };
  write().catch(() => undefined);
  return { acknowledged, stop: () => client.destroy() };
}

function clientOf(endpoint: string): ReturnType<typeof createClient> {
  const [host = "", port = ""] = endpoint.split(":");
  return createClient({
    username: "app",
    password,
    socket: { host, port: Number(port), reconnectStrategy: false },
  });
}

/** Asks the database what it runs with, and lets it answer a query. It must have every number that the writer saw acknowledged. */
async function ask(endpoint: string, acknowledged: readonly number[]): Promise<void> {
  const client = clientOf(endpoint);
  await client.connect();
  try {
    const query =
      "CREATE (:Customer {name: 'Ada'})-[:BOUGHT]->(:Item {name: 'engine'}) RETURN 'Ada bought an engine'";
    const [, rows] = list(await client.sendCommand(["GRAPH.QUERY", "shop", query]));
    const orders = "MATCH (o:Order) RETURN collect(o.number)";
    const written = new Set(
      String(list(await client.sendCommand(["GRAPH.QUERY", "shop", orders]))[1])
        .match(/\d+/g)
        ?.map(Number),
    );
    const lost = acknowledged.filter((number) => !written.has(number));
    const [, live] = list(await client.sendCommand(["GRAPH.CONFIG", "GET", "CACHE_SIZE"]));
    const declared = Number(/graphDBCacheSize: (\d+)/.exec(readFileSync(manifest, "utf8"))?.[1]);
    console.log(`GRAPH.QUERY                 ${JSON.stringify(rows)}`);
    console.log(`GRAPH.CONFIG GET CACHE_SIZE ${String(live)}, and the manifest says ${declared}`);
    console.log(`orders acknowledged         ${acknowledged.length}, lost ${lost.length}`);
    if (acknowledged.length === 0 || lost.length > 0)
      throw new Error("the migration lost what was acknowledged");
    if (Number(live) !== declared) throw new Error("the database does not run with what the manifest says");
  } finally {
    client.destroy();
  }
}

function list(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [reply];
}

/** Runs graphform in the demo's folder and returns its bare output, with --raw; any exit code but the expected one ends the demo. */
function graphform(expected: number, ...args: readonly string[]): Promise<string> {
  console.log(styleText("dim", `$ graphform ${args.join(" ")}`));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, "bin", "graphform.js"), ...args], {
      cwd: folder,
      env,
      // What is only shown goes to the terminal itself, whose columns and colours it then has.
      stdio: ["ignore", args.includes("--raw") ? "pipe" : "inherit", "inherit"],
      // Out of reach of the terminal's own Ctrl-C.
      detached: true,
    });
    running = args.includes("down") ? undefined : child;
    let printed = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      printed += chunk.toString("utf8");
      process.stdout.write(chunk);
    });
    child.once("error", reject);
    child.once("close", (code) => {
      console.log(styleText("dim", `exit ${code}\n`));
      if (code === expected) resolve(printed);
      else reject(new Error(`graphform ${args[0]} ended with ${code}; ${expected} was to be expected`));
    });
  });
}

function edit(from: string, to: string): void {
  const before = readFileSync(manifest, "utf8");
  if (!before.includes(from)) throw new Error(`the manifest does not say "${from}"`);
  writeFileSync(manifest, before.replace(from, to));
}

function say(text: string): void {
  console.log(styleText(["bold", "cyan"], `\n# ${text}`));
}

try {
  await demo();
} catch (error) {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  if (!isLeft) rmSync(folder, { recursive: true, force: true });
}

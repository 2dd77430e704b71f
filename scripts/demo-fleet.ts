import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { styleText } from "node:util";
import { createClient } from "@redis/client";

/**
 * A fleet on this machine: a controller with its own PostgreSQL, two workers, the local platform, and 30 manifests of three tenants from a Git
 * repository. All are applied; one drifts by hand and is healed; a risky change waits and is approved; a worker is killed in the middle, and
 * the other one does its work. Exit 0 when all of it is so. Every manifest has one real database, and six get a second one.
 */
const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "gf-fleet-"));
// PostgreSQL runs as another account if root starts the demo.
chmodSync(folder, 0o755);
const repository = join(folder, "manifests");
const password = randomBytes(12).toString("base64url");
const settings = Object.entries(process.env).filter(([name]) => !/^GRAPHFORM_(?!ENGINE|MODULE)/.test(name));
const env: { [name: string]: string | undefined } = {
  ...Object.fromEntries(settings),
  ...{ SHOP_PASSWORD: password, SEARCH_PASSWORD: password, FRAUD_PASSWORD: password },
  XDG_STATE_HOME: join(folder, "sessions"),
  // Runs of a worker that was killed can be taken over after this time.
  GRAPHFORM_STATE_LEASE: "60s",
};
const tenants = ["shop", "search", "fraud"];
const numbers = Array.from({ length: 10 }, (_, at) => `${at + 1}`.padStart(2, "0"));
const names = tenants.flatMap((tenant) => numbers.map((number) => `${tenant}/graph-${number}`));
const started = new Set<ChildProcess>();
const begun = Date.now();
let isInterrupted = false;
const interrupt = (): void => {
  isInterrupted = true;
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);

async function demo(): Promise<void> {
  say("a local platform with real databases, and a Git repository with 30 manifests of three tenants");
  await graphform(0, "platform", "up", "--detach", "--delay", "create=3000");
  for (const name of names) write(name, manifestOf(name));
  git("init", "--quiet", "--initial-branch", "main", ".");
  commit("thirty graphs");
  writeFileSync(join(folder, "controller.yaml"), configuration());

  say("a controller with a PostgreSQL of its own, and two workers");
  const api = await startServe(
    "--embedded",
    "db",
    "--role",
    "api",
    "--listen",
    "127.0.0.1:0",
    "--config",
    "controller.yaml",
  );
  env["GRAPHFORM_CONTROLLER_URL"] = api.url;
  env["GRAPHFORM_CONTROLLER_TOKEN"] = readFileSync(api.tokenFile, "utf8").trim();
  env["GRAPHFORM_CONTROLLER_DATABASE_URL"] = readFileSync(join(folder, "db", "database-url"), "utf8").trim();
  const worker = ["--role", "worker", "--workers", "4", "--config", "controller.yaml"];
  const first = await startServe(...worker);
  await startServe(...worker);

  say("all manifests are added; what is safe is applied without a person");
  const source = (name: string): object => ({
    type: "git",
    url: `file://${repository}`,
    ref: "main",
    path: name,
  });
  await graphform(
    0,
    "fleet",
    "add",
    names[0] ?? "",
    "--git",
    `file://${repository}`,
    "--path",
    names[0] ?? "",
    "--interval",
    "60s",
    "--auto",
    "safe",
  );
  for (const path of names.slice(1)) {
    const [tenant, name] = path.split("/");
    await ask("POST", "/api/v1/manifests", {
      tenant,
      name,
      source: source(path),
      auto: "safe",
      intervalSeconds: 60,
    });
  }
  await untilInSync();
  await graphform(0, "fleet", "list");

  say("somebody changes a running database by hand: the next check heals it");
  const endpoint = (await ask("GET", "/api/v1/state/shop/graph-01")).text;
  const database = clientOf(endpoint);
  await database.connect();
  await database.sendCommand(["GRAPH.CONFIG", "SET", "RESULTSET_SIZE", "7"]);
  const rows = async (): Promise<string> =>
    String(await database.sendCommand(["GRAPH.CONFIG", "GET", "RESULTSET_SIZE"]));
  console.log(`by hand: ${await rows()}`);
  await until("the drift is healed", async () => (await rows()).endsWith(",5000"), 240);
  console.log(`healed:  ${await rows()}`);
  database.destroy();

  say("a change that restarts a database waits for a person");
  write("shop/graph-01", manifestOf("shop/graph-01").replace("m7g.large", "m7g.xlarge"));
  commit("larger nodes");
  await graphform(8, "fleet", "reconcile", "shop/graph-01", "--wait");
  const { runs } = (await ask("GET", "/api/v1/approvals?tenant=shop")).json as { runs: readonly Run[] };
  const waiting = runs[0] ?? fail("no run waits for an approval");
  await graphform(0, "fleet", "show", waiting.id);
  await graphform(0, "fleet", "approve", waiting.id, "--fingerprint", waiting.fingerprint ?? "", "--wait");

  say("six manifests get a second database, and a worker is killed while it applies");
  const grown = names.slice(10, 16);
  for (const name of grown) write(name, manifestOf(name, 2));
  commit("second databases");
  for (const name of grown) await ask("POST", `/api/v1/manifests/${name}/runs`, {});
  const killed = await until(
    "the first worker applies",
    async () => {
      const { workers } = (await ask("GET", "/api/v1/workers")).json as {
        workers: readonly { id: string; pid: number }[];
      };
      const own = workers.find(({ pid }) => pid === first.pid)?.id;
      const { runs: applying } = (await ask("GET", "/api/v1/runs?status=applying")).json as {
        runs: readonly Run[];
      };
      return applying.find((run) => run.worker === own);
    },
    120,
  );
  process.kill(first.pid, "SIGKILL");
  console.log(
    `killed the worker of ${killed.tenant}/${killed.manifest} (run ${killed.id}); the other one takes it over when heartbeat and lease have lapsed`,
  );
  await until(
    "the run is applied",
    async () => {
      const { run } = (await ask("GET", `/api/v1/runs/${killed.id}`)).json as { run: Run };
      if (["errored", "stale", "canceled"].includes(run.status))
        fail(`the run of the killed worker ended ${run.status}: ${run.reasons.join("; ")}`);
      return run.status === "applied" && run.worker !== killed.worker;
    },
    300,
  );
  await graphform(0, "fleet", "show", killed.id);
  await untilInSync();
  await graphform(0, "fleet", "drift");
  const instances = readdirCount();
  say(`done: 30 manifests, ${instances} real databases, ${Math.round((Date.now() - begun) / 1000)} s`);
}

interface Run {
  readonly id: string;
  readonly tenant: string;
  readonly manifest: string;
  readonly status: string;
  readonly worker: string | null;
  readonly fingerprint: string | null;
  readonly reasons: readonly string[];
}

/** The number of databases that the manifests declare: each is a process of the local platform. */
function readdirCount(): number {
  return names.length + 6;
}

/** A free database for each manifest; the first has one of a tier whose settings can be changed. */
function manifestOf(path: string, databases = 1): string {
  const [tenant = "", name = ""] = path.split("/");
  const secret = `graphdbPassword: "\${secret.password}"`;
  const free = (key: string): string =>
    `  ${key}:\n    tier: free\n    component: free\n    config: { name: ${tenant}-${name}-${key}, graphdbUser: app, ${secret} }\n`;
  const bigger = `  main:\n    tier: pro\n    component: standalone\n    config: { name: ${tenant}-${name}, nodeInstanceType: m7g.large, graphDBResultSetSize: 5000, graphdbUser: app, ${secret} }\n`;
  return `apiVersion: graphform/v1
name: ${tenant}-${name}
secrets: { password: { env: ${tenant.toUpperCase()}_PASSWORD } }
defaults:
  instances: { cloudProvider: aws, region: us-east-1 }
instances:
${path === "shop/graph-01" ? bigger : free("main")}${databases > 1 ? free("second") : ""}outputs:
  endpoint: \${instances.main.endpoint}
`;
}

function configuration(): string {
  const entries = tenants.map(
    (tenant) =>
      `  ${tenant}:\n    secrets: { envPrefix: ${tenant.toUpperCase()}_ }\n    auto: safe\n    maxConcurrent: 6\n`,
  );
  return `tenants:\n${entries.join("")}git: { allow: ["file://${repository}"] }\n`;
}

function write(name: string, text: string): void {
  mkdirSync(join(repository, name), { recursive: true });
  writeFileSync(join(repository, name, "graphform.yaml"), text);
}

function git(...args: readonly string[]): void {
  const author = {
    GIT_AUTHOR_NAME: "demo",
    GIT_AUTHOR_EMAIL: "demo@example.com",
    GIT_COMMITTER_NAME: "demo",
    GIT_COMMITTER_EMAIL: "demo@example.com",
  };
  execFileSync("git", args, {
    cwd: repository,
    env: { ...process.env, ...author },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function commit(message: string): void {
  git("add", ".");
  git("commit", "--quiet", "--message", message);
  console.log(styleText("dim", `$ git commit -m "${message}"`));
}

/** Starts a controller or a worker, and resolves with its ready line. */
async function startServe(
  ...args: readonly string[]
): Promise<{ readonly url: string; readonly pid: number; readonly tokenFile: string }> {
  console.log(styleText("dim", `$ graphform serve ${args.join(" ")}`));
  const child = spawn(process.execPath, [join(root, "bin", "graphform.js"), "serve", ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  started.add(child);
  let said = "";
  child.stderr.on("data", (text: Buffer) => {
    said = `${said}${text}`.slice(-5000);
  });
  child.once("exit", (code, signal) => {
    started.delete(child);
    if (code !== 0 && signal !== "SIGKILL")
      console.error(`a controller ended with ${code ?? signal}: ${said}`);
  });
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line);
  throw new Error(`serve ${args.join(" ")} did not start: ${said}`);
}

async function untilInSync(): Promise<void> {
  let last = "";
  await until(
    "all manifests are in sync",
    async () => {
      const { manifests } = (await ask("GET", "/api/v1/manifests?limit=500")).json as {
        manifests: readonly { status: string; trouble: string | null; tenant: string; name: string }[];
      };
      const counts = Map.groupBy(manifests, ({ status }) => status);
      const text = [...counts].map(([status, list]) => `${list.length} ${status}`).join(", ");
      if (text !== last) console.log(`  ${Math.round((Date.now() - begun) / 1000)} s: ${text}`);
      last = text;
      const stuck = manifests.find(({ status }) => ["blocked", "errored", "waiting"].includes(status));
      if (stuck !== undefined) await explain(stuck);
      return counts.get("in-sync")?.length === names.length;
    },
    600,
  );
}

/** Ends the demo with the reasons of the newest runs of a manifest, unless one of them is at work. */
async function explain({ tenant, name }: { readonly tenant: string; readonly name: string }): Promise<void> {
  const query = new URLSearchParams({ tenant, manifest: name, limit: "3" });
  const { runs } = (await ask("GET", `/api/v1/runs?${query}`)).json as { runs: readonly Run[] };
  // A stale one is planned again by itself.
  if (runs[0] !== undefined && ["pending", "planning", "approved", "applying"].includes(runs[0].status))
    return;
  const lines = runs.map(({ status, reasons }) => `${status}: ${reasons.join("; ")}`);
  fail(`${tenant}/${name}: its newest runs are\n  ${lines.join("\n  ")}`);
}

async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  seconds: number,
): Promise<T> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await pause(1000)) {
    if (isInterrupted) fail("interrupted");
    const found = await look();
    if (found !== undefined && found !== false) return found;
  }
  return fail(`after ${seconds} s it is not so that ${what}`);
}

async function ask(
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly json: unknown; readonly text: string }> {
  const response = await fetch(new URL(path, env["GRAPHFORM_CONTROLLER_URL"]), {
    method,
    headers: {
      authorization: `Bearer ${env["GRAPHFORM_CONTROLLER_TOKEN"]}`,
      "content-type": "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) fail(`${method} ${path} answers ${response.status}: ${text}`);
  return { json: JSON.parse(text), text };
}

/** A client for the endpoint that a state's document has as its output. */
function clientOf(state: string): ReturnType<typeof createClient> {
  const [, host = "", port = ""] = /"([a-z0-9.-]+):(\d+)"/i.exec(state) ?? fail("the state has no endpoint");
  return createClient({
    username: "app",
    password,
    socket: { host, port: Number(port), reconnectStrategy: false },
  });
}

/** Runs graphform in the demo's folder; any exit code but the expected one ends the demo. */
function graphform(expected: number, ...args: readonly string[]): Promise<void> {
  console.log(styleText("dim", `$ graphform ${args.join(" ")}`));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, "bin", "graphform.js"), ...args], {
      cwd: folder,
      env,
      stdio: ["ignore", "inherit", "inherit"],
      detached: true,
    });
    child.once("error", reject);
    child.once("close", (code) => {
      console.log(styleText("dim", `exit ${code}\n`));
      if (code === expected) resolve();
      else
        reject(
          new Error(
            `graphform ${args.slice(0, 2).join(" ")} ended with ${code}; ${expected} was to be expected`,
          ),
        );
    });
  });
}

function fail(message: string): never {
  throw new Error(message);
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
  // Workers first: the controller's database ends with it.
  for (const child of [...started].reverse()) {
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGTERM");
    await ended;
  }
  await graphform(0, "platform", "down").catch(() => undefined);
  rmSync(folder, { recursive: true, force: true });
}

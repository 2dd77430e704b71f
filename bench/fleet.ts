import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";

/**
 * `--kills N`: two workers apply 30 manifests of 10 databases each, and are killed at random moments, N times in all; each starts again at
 * once. Prints the time from a kill to the takeover of each run that was at work, and what stands at the end: 300 databases, none twice, all
 * in a state, every run at rest. A run that was given up, since each of its workers in a row was killed before it made progress, is asked for
 * again, as a person would. Exit 1 otherwise. `--manifests`, `--databases`, `--every` (ms between kills), `--create` (ms that the platform
 * takes for a create), `--concurrent` (applies at one time) change the trial.
 */
const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "20" },
    manifests: { type: "string", default: "30" },
    databases: { type: "string", default: "10" },
    every: { type: "string", default: "8000" },
    create: { type: "string", default: "2000" },
    concurrent: { type: "string", default: "6" },
  },
});
const [kills, manifests, databases, every] = [
  values.kills,
  values.manifests,
  values.databases,
  values.every,
].map(Number) as [number, number, number, number];
const program = join(import.meta.dirname, "..", "bin", "graphform.js");
const folder = mkdtempSync(join(tmpdir(), "gf-fleet-bench-"));
chmodSync(folder, 0o755);
const env: NodeJS.ProcessEnv = {
  ...process.env,
  SHOP_DB: "only-for-a-trial",
  XDG_STATE_HOME: join(folder, "sessions"),
};
const children = new Set<ChildProcess>();

/** Starts `graphform ARGS` and resolves with its ready line. */
async function start(...args: readonly string[]): Promise<{
  readonly child: ChildProcess;
  readonly ready: { readonly url: string; readonly tokenFile: string };
}> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.add(child);
  child.once("exit", () => children.delete(child));
  for await (const line of createInterface({ input: child.stdout }))
    return { child, ready: JSON.parse(line) };
  throw new Error(`graphform ${args.join(" ")} did not start`);
}

function manifestOf(name: string): string {
  const rows = Array.from(
    { length: databases },
    (_, at) =>
      `  db${at}: { tier: free, component: free, cloudProvider: aws, region: us-east-1, config: { name: ${name}-${at}, graphdbUser: app, graphdbPassword: "\${secret.db}" } }`,
  );
  return `apiVersion: graphform/v1\nname: ${name}\nsecrets: { db: { env: SHOP_DB } }\ninstances:\n${rows.join("\n")}\n`;
}

async function trial(): Promise<boolean> {
  const platform = await start(
    "platform",
    "up",
    "--json",
    "--engine",
    "none",
    "--delay",
    `create=${values.create}`,
  );
  writeFileSync(
    join(folder, "controller.yaml"),
    `tenants:\n  shop: { service: { platformUrl: "${platform.ready.url}" }, credentials: { username: { env: TRIAL_USERNAME }, password: { env: TRIAL_PASSWORD } }, secrets: { envPrefix: SHOP_ }, auto: safe, maxConcurrent: ${values.concurrent} }\n`,
  );
  const login: { readonly username: string; readonly password: string } = JSON.parse(
    readFileSync(join(folder, ".graphform", "platform", "credentials.json"), "utf8"),
  );
  Object.assign(env, { TRIAL_USERNAME: login.username, TRIAL_PASSWORD: login.password });
  const api = await start(
    "serve",
    "--embedded",
    "db",
    "--role",
    "api",
    "--listen",
    "127.0.0.1:0",
    "--config",
    "controller.yaml",
  );
  const url = readFileSync(join(folder, "db", "database-url"), "utf8").trim();
  env["GRAPHFORM_CONTROLLER_DATABASE_URL"] = url;
  const token = readFileSync(api.ready.tokenFile, "utf8").trim();
  const database = new pg.Pool({ connectionString: url, max: 4 });
  const rows = async (text: string): Promise<readonly Record<string, string>[]> =>
    (await database.query(text)).rows;
  for (let at = 0; at < manifests; at += 1) {
    const name = `m${`${at}`.padStart(2, "0")}`;
    const answer = await fetch(`${api.ready.url}/api/v1/manifests`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({
        tenant: "shop",
        name,
        source: { type: "upload" },
        files: { "graphform.yaml": manifestOf(name) },
        auto: "safe",
        intervalSeconds: 3600,
      }),
    });
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  }
  const worker = async (): Promise<ChildProcess> =>
    (await start("serve", "--role", "worker", "--workers", "3", "--config", "controller.yaml")).child;
  const workers = [await worker(), await worker()];
  const begun = Date.now();
  const takeovers: number[] = [];
  const watched: Promise<void>[] = [];
  const open =
    "SELECT id, worker, fence FROM graphform.runs WHERE status IN ('planning', 'applying', 'converging')";

  const watch = async ({ id, fence }: Record<string, string>, killed: number): Promise<void> => {
    for (;;) {
      const [row] = await rows(`SELECT fence, ended_at FROM graphform.runs WHERE id = '${id}'`);
      if (row === undefined || row["ended_at"] !== null || row["fence"] !== fence) break;
      await pause(250);
    }
    takeovers.push(Date.now() - killed);
  };
  for (let killed = 0; killed < kills; ) {
    await pause(every * (0.5 + Math.random()));
    const at = Math.floor(Math.random() * workers.length);
    const dead = workers[at];
    const [row] = await rows(`SELECT id FROM graphform.workers WHERE pid = ${dead?.pid}`);
    const held = (await rows(open)).filter((run) => run["worker"] === row?.["id"]);
    const [left] = await rows("SELECT count(*) AS left FROM graphform.runs WHERE ended_at IS NULL");
    if (left?.["left"] === "0") break;
    dead?.kill("SIGKILL");
    killed += 1;
    watched.push(...held.map((run) => watch(run, Date.now())));
    workers[at] = await worker();
    if (killed % 10 === 0)
      console.log(
        `${killed} kills, ${left?.["left"]} runs open, ${Math.round((Date.now() - begun) / 1000)} s`,
      );
  }
  await Promise.all(watched);
  const rest = async (): Promise<void> => {
    for (let left = "1"; left !== "0"; await pause(1000))
      left =
        (
          await rows(
            "SELECT count(*) AS left FROM graphform.runs WHERE ended_at IS NULL AND status <> 'needs_approval'",
          )
        )[0]?.["left"] ?? "0";
  };
  await rest();
  for (const { name, reasons } of await rows(
    "SELECT m.name, r.reasons::text FROM graphform.runs r JOIN graphform.manifests m ON m.id = r.manifest_id WHERE r.status = 'errored'",
  ))
    console.log(`${name} was given up: ${reasons}`);
  await fetch(`${api.ready.url}/api/v1/redrive`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  await rest();
  const ended = await rows(
    "SELECT status, count(*) AS runs FROM graphform.runs GROUP BY status ORDER BY status",
  );
  const bound = await rows(
    "SELECT DISTINCT jsonb_path_query(document::jsonb, '$.resources.*.id') #>> '{}' AS id FROM graphform.states",
  );
  const intents = await rows("SELECT name FROM graphform.states WHERE document::jsonb -> 'intents' <> '{}'");
  const authorization = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
  const status = await fetch(`${platform.ready.url}/_platform/status`, { headers: { authorization } });
  const standing = ((await status.json()) as { instances: readonly { id: string }[] }).instances.map(
    ({ id }) => id,
  );
  takeovers.sort((a, b) => a - b);
  const seconds = (ms: number | undefined): string =>
    ms === undefined ? "-" : `${(ms / 1000).toFixed(1)} s`;
  console.log(`runs: ${ended.map(({ status, runs }) => `${runs} ${status}`).join(", ")}`);
  console.log(
    `takeovers: ${takeovers.length}, median ${seconds(takeovers[takeovers.length >> 1])}, worst ${seconds(takeovers.at(-1))}`,
  );
  console.log(
    `databases: ${standing.length} of ${manifests * databases}, in states ${bound.length}, open creates ${intents.length}; ${Math.round((Date.now() - begun) / 1000)} s`,
  );
  await database.end();
  const ids = new Set(bound.map(({ id }) => id));
  return (
    standing.length === manifests * databases && standing.every((id) => ids.has(id)) && intents.length === 0
  );
}

try {
  if (!(await trial())) process.exitCode = 1;
} finally {
  for (const child of children) child.kill("SIGTERM");
  while (children.size > 0) await pause(100);
  rmSync(folder, { recursive: true, force: true });
}

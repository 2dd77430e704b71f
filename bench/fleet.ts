import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { manifestOf, openTrial } from "./controller.ts";

/**
 * `--kills N`: two workers apply 30 manifests of 10 databases each, and are killed at random moments, N times in all; each starts again at
 * once. Prints the time from a kill to the takeover of each run that was at work, and what stands at the end: 300 databases, none twice, all
 * in a state, every run at rest. A run that was given up, since each of its workers in a row was killed before it made progress, is asked for
 * again, as a person would. Exit 1 otherwise. `--manifests`, `--databases`, `--every` (ms between kills), `--create` (ms that the platform
 * takes for a create), `--concurrent` (applies at one time), `--workers` change the trial: a worker that is killed before it has begun makes no progress.
 */
const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "20" },
    manifests: { type: "string", default: "30" },
    databases: { type: "string", default: "10" },
    every: { type: "string", default: "8000" },
    create: { type: "string", default: "2000" },
    concurrent: { type: "string", default: "6" },
    workers: { type: "string", default: "2" },
  },
});
const [kills, manifests, databases, every] = [
  values.kills,
  values.manifests,
  values.databases,
  values.every,
].map(Number) as [number, number, number, number];
const opened = openTrial();

async function trial(): Promise<boolean> {
  const delay = ["--delay", `create=${values.create}`];
  const platform = await opened.graphform("platform", "up", "--json", "--engine", "none", ...delay);
  const login: { readonly username: string; readonly password: string } = JSON.parse(
    readFileSync(join(opened.folder, ".graphform", "platform", "credentials.json"), "utf8"),
  );
  const controller = await opened.controller(
    `tenants:\n  shop: { service: { platformUrl: "${platform.ready.url}" }, credentials: { username: { env: TRIAL_USERNAME }, password: { env: TRIAL_PASSWORD } }, secrets: { envPrefix: SHOP_ }, auto: safe, maxConcurrent: ${values.concurrent} }\n`,
    { TRIAL_USERNAME: login.username, TRIAL_PASSWORD: login.password },
  );
  const { rows } = controller;
  for (let at = 0; at < manifests; at += 1) {
    const name = `m${`${at}`.padStart(2, "0")}`;
    await controller.send("POST", "manifests", {
      ...{ tenant: "shop", name, source: { type: "upload" }, auto: "safe", intervalSeconds: 3600 },
      files: { "graphform.yaml": manifestOf(name, databases) },
    });
  }
  const worker = (): ChildProcess => controller.worker(3);
  const workers = Array.from({ length: Number(values.workers) }, worker);
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
    const [left] = await rows("SELECT count(*) AS left FROM graphform.runs WHERE ended_at IS NULL");
    if (left?.["left"] === "0") break;
    const gone = dead === undefined ? undefined : once(dead, "exit");
    dead?.kill("SIGKILL");
    const moment = Date.now();
    await gone;
    killed += 1;
    // Read after its end: a run that its worker has just put back waits for no takeover.
    const held = (await rows(open)).filter((run) => run["worker"] === row?.["id"]);
    watched.push(...held.map((run) => watch(run, moment)));
    workers[at] = worker();
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
  await controller.send("POST", "redrive", {});
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
  const ids = new Set(bound.map(({ id }) => id));
  return (
    standing.length === manifests * databases && standing.every((id) => ids.has(id)) && intents.length === 0
  );
}

try {
  if (!(await trial())) process.exitCode = 1;
} finally {
  await opened.end();
}

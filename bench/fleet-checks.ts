import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sharedState } from "../src/index.ts";
import { manifestOf, openTrial, type TrialController } from "./controller.ts";

/**
 * Two workers check `--manifests` of `--databases` each, of `--tenants`, every `--interval` seconds; each tenant has a stand-in for its
 * service that answers after 20 ms. One manifest of each tenant is applied. The states of the others are written by the store's own code, with
 * the ids of databases that the stand-in then has, and their uploads count as applied: their first check compares everything. Then prints,
 * for each of `--windows` intervals: checks a second, how far their beginning and end were behind the due time, processor time for each check
 * and memory. `--long N`: in one more interval another tenant has N manifests whose applies take a minute. Changes of the others, `--changes`
 * in the last interval without and in the one with them, show what these cost the others. Exit 1 if checks were left out or found a
 * difference, a run failed, or a tenant applied more at once than it may.
 */
const options = {
  ...{ manifests: "2000", databases: "10", tenants: "10", interval: "600" },
  ...{ windows: "2", slots: "8", long: "500", changes: "60", limit: "4" },
};
const { values } = parseArgs({
  options: Object.fromEntries(
    Object.entries(options).map(([name, usual]) => [name, { type: "string", default: usual }] as const),
  ),
});
const number = (name: keyof typeof options): number => Number(values[name]);
const seconds = number("interval");
const opened = openTrial();
const tenants = Array.from({ length: number("tenants") }, (_, at) => `t${at}`);
let hasFailed = false;

async function trial(): Promise<void> {
  const { controller, services } = await openController();
  const { rows } = controller;
  const begun = Date.now();
  for (const [at, tenant] of tenants.entries()) await add(controller, tenant, `m${at}`);
  const one = controller.worker(number("slots"));
  while ((await rows("SELECT FROM graphform.runs WHERE ended_at IS NULL LIMIT 1")).length > 0)
    await pause(1_000);
  one.kill("SIGTERM");
  await once(one, "exit");
  await copyStates(controller, services);
  for (let at = tenants.length; at < number("manifests"); at += 1)
    await add(controller, tenants[at % tenants.length] ?? "", `m${at}`);
  await rows(`UPDATE graphform.manifests SET approved_commit = commit, planned_commit = commit, checked_at = now();
    UPDATE graphform.runs SET status = 'planned_and_finished', exit_code = 0, ended_at = now() WHERE ended_at IS NULL;
    DELETE FROM graphform_queue.job WHERE name = 'plan'`);
  say(`${values["manifests"]} manifests after ${Math.round((Date.now() - begun) / 1000)} s`);
  const workers = [controller.worker(number("slots")), controller.worker(number("slots"))];
  const world = { controller, workers };
  for (let left = number("windows"); left > 0; left -= 1)
    await measure(world, left === 1 && number("long") > 0 ? "changes" : "checks");
  if (number("long") === 0) return;
  for (let at = 0; at < number("long"); at += 1) await add(controller, "long", `l${at}`);
  await measure(world, "changes");
  const bad = await rows(
    "SELECT status, count(*) FROM graphform.runs WHERE status IN ('errored', 'blocked', 'stale') GROUP BY 1",
  );
  if (bad.length > 0) fail(`runs that failed: ${JSON.stringify(bad)}`);
}

async function openController(): Promise<{
  readonly controller: TrialController;
  readonly services: readonly string[];
}> {
  const program = join(import.meta.dirname, "service.ts");
  const services: string[] = [];
  const lines: string[] = [];
  for (const tenant of [...tenants, "long"]) {
    const deploy = tenant === "long" ? 60_000 : 200;
    const { url } = (await opened.start(program, "--latency", "20", "--deploy", `${deploy}`)).ready;
    services.push(url);
    lines.push(
      `  ${tenant}: { service: { platformUrl: "${url}" }, credentials: { username: { env: TRIAL_LOGIN }, password: { env: TRIAL_LOGIN } }, secrets: { envPrefix: ${prefixOf(tenant)} }, auto: safe, maxConcurrent: ${values["limit"]} }`,
    );
  }
  const controller = await opened.controller(`tenants:\n${lines.join("\n")}\n`, {
    TRIAL_LOGIN: "bench@example.com",
    ...Object.fromEntries(
      [...tenants, "long"].map((tenant) => [`${prefixOf(tenant)}DB`, "only-for-a-trial"]),
    ),
  });
  return { controller, services };
}

/** Writes the states of all manifests but the first of each tenant: that of the first one with other names, and the ids that its service gives next. */
async function copyStates({ rows, run }: TrialController, services: readonly string[]): Promise<void> {
  const [count, databases] = [number("manifests"), number("databases")];
  for (const [first, tenant] of tenants.entries()) {
    const [row] = await rows(`SELECT document FROM graphform.states WHERE name = '${tenant}/m${first}'`);
    const model = row?.["document"] ?? "";
    const own = Math.ceil((count - first) / tenants.length);
    await (await fetch(`${services[first]}/bench?instances=${own * databases}`)).text();
    for (let copy = 1; copy < own; copy += 1) {
      const name = `m${first + copy * tenants.length}`;
      const document = model
        .replaceAll(/"instance-(\d+)"/g, (_all, id) => `"instance-${Number(id) + copy * databases}"`)
        .replaceAll(`"m${first}"`, `"${name}"`)
        .replaceAll(`m${first}-`, `${name}-`);
      const state = sharedState(run, `${tenant}/${name}`);
      await state.lock({ ID: "bench" });
      const written = await state.write(document, "bench");
      if (written.is !== "written") throw new Error(`the state of ${name} was not written: ${written.is}`);
      await state.unlock("bench");
    }
  }
}

function prefixOf(tenant: string): string {
  return `${tenant.toUpperCase()}_`;
}

async function add({ send }: TrialController, tenant: string, name: string): Promise<void> {
  await send("POST", "manifests", {
    ...{ tenant, name, source: { type: "upload" }, auto: "safe", intervalSeconds: seconds },
    files: { "graphform.yaml": manifestOf(name, number("databases"), `${prefixOf(tenant)}DB`) },
  });
}

interface World {
  readonly controller: TrialController;
  readonly workers: readonly ChildProcess[];
}

/** Measures one interval. `changes`: each of some manifests of the tenants gets a database more, one after the other. */
async function measure({ controller, workers }: World, what: "checks" | "changes"): Promise<void> {
  const { rows, send, api, folder } = controller;
  const postmaster = Number(
    readFileSync(join(folder, "db", "data", "postmaster.pid"), "utf8").split("\n")[0],
  );
  const spent = (): readonly number[] => [
    ...workers.map(({ pid }) => processorOf(pid ?? 0)),
    processorOf(api.pid ?? 0),
    [postmaster, ...childrenOf(postmaster)].reduce((sum, pid) => sum + processorOf(pid), 0),
  ];
  const transactions = async (): Promise<number> =>
    Number(
      (await rows("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"))[0]?.[
        "xact_commit"
      ],
    );
  const [from, before, committed] = [Date.now(), spent(), await transactions()];
  const changed: string[] = [];
  const most = new Map<string, number>();
  const loads: number[] = [];
  for (let second = 0; Date.now() < from + seconds * 1000; second += 1) {
    const atOnce =
      "SELECT tenant, count(*) FROM graphform.runs WHERE ended_at IS NULL AND status IN ('applying', 'converging') GROUP BY 1";
    for (const { tenant = "", count } of await rows(atOnce))
      most.set(tenant, Math.max(most.get(tenant) ?? 0, Number(count)));
    if (second % 10 === 0) loads.push(loadavg()[0] ?? 0);
    const every = Math.max(1, Math.floor(seconds / (number("changes") + 2)));
    if (what === "changes" && second % every === 0 && changed.length < number("changes")) {
      // The last ones of the tenants, each time others.
      const at = number("manifests") - 1 - Math.floor(Math.random() * number("manifests"));
      const tenant = tenants[at % tenants.length] ?? "";
      const text = manifestOf(`m${at}`, number("databases") + 1, `${prefixOf(tenant)}DB`);
      const path = `manifests/${tenant}/m${at}/files`;
      const files = { "graphform.yaml": text };
      const { run } = await send("PUT", path, { files });
      if (typeof run === "string") changed.push(run);
    }
    await pause(1_000);
  }
  const [after, commits, took] = [spent(), await transactions(), (Date.now() - from) / 1000];
  const isWithin = `>= to_timestamp(${from / 1000}) AND r.created_at < to_timestamp(${from / 1000 + seconds})`;
  // The moment for which a check was due: the latest one before it that is a whole number of intervals away from the next one.
  const due = `r.created_at - make_interval(secs => mod(mod(extract(epoch FROM r.created_at - m.next_due_at), ${seconds}) + ${seconds}, ${seconds})::float8)`;
  await pause(20_000);
  const checks = `SELECT ${due} AS due, r.created_at AS asked, r.ended_at AS ended, r.status, (SELECT min(at) FROM graphform.run_events e
      WHERE e.run_id = r.id AND event ->> 'to' = 'planning') AS begun
    FROM graphform.runs r JOIN graphform.manifests m ON m.id = r.manifest_id WHERE r.trigger = 'schedule' AND r.created_at ${isWithin} AND m.tenant <> 'long'`;
  const [found] = await rows(`SELECT count(*) AS asked, count(ended) AS ended,
    count(*) FILTER (WHERE status <> 'planned_and_finished' AND ended IS NOT NULL) AS different, ${lag("asked - due", "queued")}, ${lag("begun - due", "begun")},
    ${lag("ended - due", "ended")}, ${lag("ended - begun", "took")} FROM (${checks}) c`);
  const spans = after.map((now, at) => now - (before[at] ?? 0));
  const [one = 0, two = 0, ofApi = 0, ofDatabase = 0] = spans;
  const ended = Number(found?.["ended"]);
  const each = (processor: number): string => `${((1000 * processor) / ended).toFixed(0)} ms`;
  say(
    `--- ${took.toFixed(0)} s, load ${(loads.reduce((sum, load) => sum + load, 0) / loads.length).toFixed(1)}`,
  );
  say(`checks: ${ended} ended of ${found?.["asked"]} asked for; ${(ended / took).toFixed(2)} a second`);
  for (const part of ["queued", "begun", "ended", "took"])
    say(`${part}: ${found?.[`${part}_half`]} s (median), ${found?.[`${part}_most`]} s (99 of 100)`);
  say(`processor for a check: workers ${each(one + two)}, API ${each(ofApi)}, database ${each(ofDatabase)}`);
  say(
    `processor: workers ${percent(one, took)} and ${percent(two, took)}, API ${percent(ofApi, took)}, database ${percent(ofDatabase, took)} of a core`,
  );
  say(
    `memory: workers ${workers.map(({ pid }) => memoryOf(pid ?? 0)).join(" and ")} MB, API ${memoryOf(api.pid ?? 0)} MB, database ${[postmaster, ...childrenOf(postmaster)].reduce((sum, pid) => sum + memoryOf(pid), 0)} MB`,
  );
  say(`transactions: ${((commits - committed) / took).toFixed(0)} a second`);
  if (ended < number("manifests") * 0.98) fail("checks were left out");
  if (Number(found?.["different"]) > 0) fail(`${found?.["different"]} checks found a difference, or failed`);
  const [over] = [...most].filter(([, count]) => count > number("limit"));
  if (over !== undefined) fail(`${over[0]} applied ${over[1]} at once`);
  if (what === "checks") return;
  const list = changed.map((id) => `'${id}'`).join(", ") || "NULL";
  const [change] =
    await rows(`SELECT count(*) AS asked, count(ended_at) AS ended, ${lag("ended_at - created_at", "took")},
    ${lag("applying - approved", "waited")} FROM (SELECT r.*, (SELECT min(at) FROM graphform.run_events e WHERE e.run_id = r.id AND event ->> 'to' = 'applying') AS applying,
      (SELECT min(at) FROM graphform.run_events e WHERE e.run_id = r.id AND event ->> 'to' = 'approved') AS approved
    FROM graphform.runs r WHERE r.id::text IN (${list})) c`);
  say(
    `changes: ${change?.["ended"]} ended of ${change?.["asked"]}; from the upload to the end ${change?.["took_half"]} s (median), ${change?.["took_most"]} s (99 of 100); from the approval to the apply ${change?.["waited_half"]} s, ${change?.["waited_most"]} s`,
  );
  const [long] = await rows(
    "SELECT count(*) FILTER (WHERE status = 'applied') AS applied, count(*) FILTER (WHERE status = 'approved') AS waiting FROM graphform.runs WHERE tenant = 'long'",
  );
  say(
    `applied at once, at most: ${[...most].map(([tenant, count]) => `${tenant} ${count}`).join(", ")}; of long ones ${long?.["applied"]} applied, ${long?.["waiting"]} wait`,
  );
}

function lag(span: string, name: string): string {
  const of = (part: number): string =>
    `round((percentile_cont(${part}) WITHIN GROUP (ORDER BY extract(epoch FROM ${span})))::numeric, 1)`;
  return `${of(0.5)} AS ${name}_half, ${of(0.99)} AS ${name}_most`;
}

/** Processor seconds of a process, with those of its children that have ended. */
function processorOf(pid: number): number {
  const fields = statOf(pid);
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

/** The fields of a process's stat behind its name; none if it is gone. */
function statOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    return [];
  }
}

function childrenOf(parent: number): readonly number[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return all.filter((pid) => Number(statOf(pid)[1]) === parent);
}

/** MB of a process; of memory that it shares with others, its part. */
function memoryOf(pid: number): number {
  try {
    const [, kb = "0"] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
    return Math.round(Number(kb) / 1024);
  } catch {
    return 0;
  }
}

function percent(spent: number, took: number): string {
  return `${((100 * spent) / took).toFixed(1)} %`;
}

function say(line: string): void {
  console.log(line);
}

function fail(line: string): void {
  say(line);
  hasFailed = true;
}

try {
  await trial();
} finally {
  await opened.end();
}
process.exitCode = hasFailed ? 1 : 0;

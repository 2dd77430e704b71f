/** @module Measures the fleet and this process in Prometheus' text format. No label names a tenant, a manifest or a person. */
import { sql } from "kysely";
import { bounds, countRun, type Histogram, metric, type Sample } from "./counters.ts";
import { manifestStatuses } from "./documents.ts";
import type { World } from "./endpoint.ts";
import { manifestsOf } from "./rows.ts";

/** Ms in which a transaction that ends a run may be late. */
const late = 60_000;

/** The metrics that a token may see: of one tenant, or of all, with those of the process and the queue. */
export async function measure(world: World, tenant: string | null): Promise<string> {
  const lines = [...(await measureManifests(world, tenant)), ...(await measureRuns(world, tenant))];
  if (tenant === null) lines.push(...(await measureQueue(world)), ...world.metrics.requests());
  return `${lines.join("\n")}\n`;
}

async function measureManifests({ database }: World, tenant: string | null): Promise<readonly string[]> {
  const seconds = (time: "checked_at" | "drifted_at") =>
    sql<number | null>`extract(epoch FROM clock_timestamp() - min(${sql.ref(time)}))::float8`;
  const within = tenant === null ? [] : [tenant];
  const rows = await database
    .selectFrom(manifestsOf(database, within).as("found"))
    .select([
      "status",
      sql<number>`count(*)::int`.as("count"),
      sql<number>`count(waiting_run)::int`.as("waiting"),
      seconds("checked_at").as("checked"),
      seconds("drifted_at").as("drifted"),
    ])
    .groupBy("status")
    .execute();
  const counts = new Map(rows.map(({ status, count }) => [status, count]));
  const oldest = (of: "checked" | "drifted"): number => Math.max(0, ...rows.map((row) => row[of] ?? 0));
  return [
    ...metric(
      "manifests",
      "gauge",
      "Manifests by status.",
      manifestStatuses.map((status) => [`{status="${status}"}`, counts.get(status) ?? 0]),
    ),
    ...metric("drift_age_seconds", "gauge", "Age of the oldest drift.", [["", oldest("drifted")]]),
    ...metric(
      "check_age_seconds",
      "gauge",
      "Time since the last check of the manifest that was checked longest ago.",
      [["", oldest("checked")]],
    ),
    ...metric("approvals_waiting", "gauge", "Manifests with a run that waits for an approval.", [
      ["", rows.reduce((sum, { waiting }) => sum + waiting, 0)],
    ]),
  ];
}

async function measureRuns(
  { database, metrics: { runs } }: World,
  tenant: string | null,
): Promise<readonly string[]> {
  const rows = await database
    .selectFrom("runs")
    .select(["id", "tenant", "status", "ended_at", "created_at"])
    .where("ended_at", ">", new Date(runs.seenUntil - late))
    .execute();
  for (const { id, ended_at, created_at, ...row } of rows) {
    const ended = ended_at?.getTime() ?? 0;
    // What had ended before the process began is not its own.
    if (!runs.counted.has(id)) countRun(runs.totals, row, (ended - created_at.getTime()) / 1000);
    runs.counted.set(id, ended);
    runs.seenUntil = Math.max(runs.seenUntil, ended);
  }
  for (const [id, ended] of runs.counted) if (ended < runs.seenUntil - late) runs.counted.delete(id);
  const byResult = new Map<string, Histogram>();
  for (const one of runs.totals.values()) {
    if (tenant !== null && one.tenant !== tenant) continue;
    const sum = byResult.get(one.result) ?? { ...one, count: 0, sum: 0, below: bounds.map(() => 0) };
    sum.count += one.count;
    sum.sum += one.sum;
    one.below.forEach((value, at) => {
      sum.below[at] = (sum.below[at] ?? 0) + value;
    });
    byResult.set(one.result, sum);
  }
  const all = [...byResult.values()];
  return [
    ...metric(
      "runs_total",
      "counter",
      "Runs by result.",
      all.map(({ result, count }) => [`{result="${result}"}`, count]),
    ),
    ...metric(
      "run_duration_seconds",
      "histogram",
      "Time from the request for a run to its end, with waits.",
      [
        ...all.flatMap(({ result, count, sum, below }): readonly Sample[] => [
          ...bounds.map((bound, at): Sample => [`_bucket{result="${result}",le="${bound}"}`, below[at] ?? 0]),
          [`_bucket{result="${result}",le="+Inf"}`, count],
          [`_sum{result="${result}"}`, sum],
          [`_count{result="${result}"}`, count],
        ]),
      ],
    ),
  ];
}

async function measureQueue({ database, queue }: World): Promise<readonly string[]> {
  const backlog = await queue.backlog();
  const { workers, takeovers, fenced } = await database
    .selectFrom("workers")
    .select([
      sql<number>`count(*)::int`.as("workers"),
      sql<number>`coalesce(sum(takeovers), 0)::int`.as("takeovers"),
      sql<number>`coalesce(sum(fenced), 0)::int`.as("fenced"),
    ])
    .executeTakeFirstOrThrow();
  return [
    ...metric(
      "queue_ready",
      "gauge",
      "Jobs that wait for a worker.",
      backlog.map(({ name, ready }) => [`{queue="${name}"}`, ready]),
    ),
    ...metric(
      "queue_oldest_seconds",
      "gauge",
      "Time that the oldest of them has waited.",
      backlog.map(({ name, oldest }) => [`{queue="${name}"}`, oldest]),
    ),
    ...metric("workers", "gauge", "Workers.", [["", workers]]),
    ...metric("takeovers_total", "counter", "Runs that were taken over from a worker that died.", [
      ["", takeovers],
    ]),
    ...metric(
      "fenced_writes_total",
      "counter",
      "Writes that had no effect, since another worker had the run.",
      [["", fenced]],
    ),
  ];
}

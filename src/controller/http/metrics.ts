/** @module Measures the fleet in Prometheus' text format. No label names a tenant, a manifest or a person. */
import { sql } from "kysely";
import { manifestStatuses } from "./documents.ts";
import type { World } from "./endpoint.ts";
import { manifestsOf } from "./rows.ts";

/** Labels, and a value. */
type Sample = readonly [labels: string, value: number];

/** The lines of one metric. */
function metric(
  name: string,
  help: string,
  samples: readonly Sample[] | number,
  type = "gauge",
): readonly string[] {
  const full = `graphform_${name}`;
  const rows = typeof samples === "number" ? [["", samples] as const] : samples;
  return [
    `# HELP ${full} ${help}`,
    `# TYPE ${full} ${type}`,
    ...rows.map(([labels, value]) => `${full}${labels && `{${labels}}`} ${value}`),
  ];
}

/** Counts requests since the process began. */
export function countRequests(): {
  add(method: string, path: string, code: number): void;
  lines(): readonly string[];
} {
  const counts = new Map<string, number>();
  return {
    add(method, path, code) {
      const labels = `method="${method}",path="${path}",code="${code}"`;
      counts.set(labels, (counts.get(labels) ?? 0) + 1);
    },
    lines: () => metric("http_requests_total", "Requests by code.", [...counts], "counter"),
  };
}

/** The metrics that a token may see: of one tenant, or of all, with those of the queue, the workers and this process. */
export async function measure(world: World, tenant: string | null): Promise<string> {
  const { database } = world;
  const age = (time: "checked_at" | "drifted_at") =>
    sql<number | null>`extract(epoch FROM clock_timestamp() - min(${sql.ref(time)}))::float8`;
  const manifests = await database
    .selectFrom(manifestsOf(database, tenant === null ? [] : [tenant]).as("found"))
    .select([
      "status",
      sql<number>`count(*)::int`.as("count"),
      sql<number>`count(waiting_run)::int`.as("waiting"),
    ])
    .select([age("checked_at").as("checked"), age("drifted_at").as("drifted")])
    .groupBy("status")
    .execute();
  const oldest = (of: "checked" | "drifted"): number => Math.max(0, ...manifests.map((row) => row[of] ?? 0));
  const waiting = manifests.reduce((sum, row) => sum + row.waiting, 0);
  const byStatus = manifestStatuses.map(
    (status): Sample => [`status="${status}"`, manifests.find((row) => row.status === status)?.count ?? 0],
  );
  const lasted = sql`extract(epoch FROM ended_at - created_at)`;
  let ended = database
    .selectFrom("runs")
    .select(["status", sql<number>`count(*)::int`.as("count")])
    .select(
      sql<readonly number[]>`percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY ${lasted})`.as(
        "seconds",
      ),
    )
    .where("ended_at", ">", sql<Date>`clock_timestamp() - interval '1 hour'`)
    .groupBy("status");
  if (tenant !== null) ended = ended.where("tenant", "=", tenant);
  const runs = await ended.execute();
  const lines = [
    ...metric("manifests", "Manifests by status.", byStatus),
    ...metric("drift_age_seconds", "Age of the oldest drift.", oldest("drifted")),
    ...metric(
      "check_age_seconds",
      "Age of the last check of the manifest that waits longest for one.",
      oldest("checked"),
    ),
    ...metric("approvals_waiting", "Manifests with a run that waits for an approval.", waiting),
    ...metric(
      "runs_last_hour",
      "Runs that ended in the last hour, by result.",
      runs.map(({ status, count }) => [`result="${status}"`, count]),
    ),
    ...metric(
      "run_seconds_last_hour",
      "Time from the request for a run to its end, for runs that ended in the last hour.",
      runs.flatMap(({ status, seconds }): readonly Sample[] => [
        [`result="${status}",quantile="0.5"`, seconds[0] ?? 0],
        [`result="${status}",quantile="0.95"`, seconds[1] ?? 0],
      ]),
    ),
    ...(tenant === null ? await measureQueue(world) : []),
  ];
  return `${lines.join("\n")}\n`;
}

async function measureQueue({ database, queue, counted }: World): Promise<readonly string[]> {
  const backlog = await queue.backlog();
  const { workers, takeovers, fenced } = await database
    .selectFrom("workers")
    .select([
      sql<number>`count(*)::int`.as("workers"),
      sql<number>`coalesce(sum(takeovers), 0)::int`.as("takeovers"),
      sql<number>`coalesce(sum(fenced), 0)::int`.as("fenced"),
    ])
    .executeTakeFirstOrThrow();
  const ready = backlog.map(({ name, ready }): Sample => [`queue="${name}"`, ready]);
  const oldest = backlog.map(({ name, oldest }): Sample => [`queue="${name}"`, oldest]);
  return [
    ...metric("queue_ready", "Jobs that wait for a worker.", ready),
    ...metric("queue_oldest_seconds", "Time that the oldest of them has waited.", oldest),
    ...metric("workers", "Workers.", workers),
    ...metric("takeovers_total", "Runs that were taken over from a worker that died.", takeovers, "counter"),
    ...metric("fenced_writes_total", "Writes without effect: another worker had the run.", fenced, "counter"),
    ...counted(),
  ];
}

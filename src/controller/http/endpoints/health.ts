/** @module Endpoints for those that watch the controller: health, readiness, and metrics, whose labels name no tenant, manifest or person. */
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { pendingMigrations } from "../../database/migrations.ts";
import { manifestStatuses } from "../documents.ts";
import type { ApiContext, Handlers } from "../endpoint.ts";
import { Problem } from "../problem.ts";
import { manifestsOf } from "../rows.ts";

/** Ms that readiness waits for the database. */
const patience = 3_000;

export const healthHandlers: Handlers = {
  health: async ({ context }) => ({ status: "ok", version: context.version }),
  async readiness({ context: { database } }) {
    const late = new AbortController();
    const looks = sql`SELECT 1`.execute(database).then(() => pendingMigrations(database));
    const pending = await Promise.race([looks, pause(patience, undefined, { signal: late.signal })])
      .catch(() => undefined)
      .finally(() => late.abort());
    const retry = { "retry-after": "5" };
    if (pending === undefined) throw new Problem("database-unavailable", undefined, retry);
    if (pending.length > 0)
      throw new Problem("not-ready", "its tables are older: run graphform serve migrate", retry);
    return { status: "ready" };
  },
  metrics: async ({ context, caller }) =>
    new Response(await measure(context, caller.tenant), {
      headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" },
    }),
};

type Sample = readonly [labels: string, value: number];

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
async function measure(context: ApiContext, tenant: string | null): Promise<string> {
  const { database } = context;
  const found = manifestsOf(database, tenant === null ? [] : [tenant]).as("found");
  const isChecked = sql`paused_until IS NULL OR paused_until < now()`;
  const age = (time: string, which = sql`true`) =>
    sql<number>`coalesce(extract(epoch FROM clock_timestamp() - min(${sql.ref(time)}) FILTER (WHERE ${which})), 0)::float8`;
  const manifests = await database
    .selectFrom(found)
    .select(["status", count.as("count"), sql<number>`count(waiting_run)::int`.as("waiting")])
    .select([age("checked_at", isChecked).as("checked"), age("drifted_at").as("drifted")])
    .groupBy("status")
    .execute();
  const oldest = (of: "checked" | "drifted"): number => Math.max(0, ...manifests.map((row) => row[of]));
  const byStatus = new Map(manifests.map((row) => [row.status, row.count]));
  const { rows: runs } = await sql<{ status: string; count: number; seconds: readonly [number, number] }>`
    SELECT status, count(*)::int AS count,
      percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - created_at)) AS seconds
    FROM graphform.runs WHERE ended_at > now() - interval '1 hour' AND coalesce(tenant = ${tenant}, true)
    GROUP BY status`.execute(database);
  const quantiles = runs.flatMap(({ status, seconds: [median, high] }): readonly Sample[] => [
    [`result="${status}",quantile="0.5"`, median],
    [`result="${status}",quantile="0.95"`, high],
  ]);
  const results = runs.map((row): Sample => [`result="${row.status}"`, row.count]);
  const states = manifestStatuses.map((name): Sample => [`status="${name}"`, byStatus.get(name) ?? 0]);
  const waiting = manifests.reduce((sum, row) => sum + row.waiting, 0);
  const lines = [
    ...metric("manifests", "Manifests by status.", states),
    ...metric("drift_age_seconds", "Age of the oldest drift.", oldest("drifted")),
    ...metric("check_age_seconds", "Age of the oldest check of a manifest not paused.", oldest("checked")),
    ...metric("approvals_waiting", "Manifests with a run that waits for an approval.", waiting),
    ...metric("runs_last_hour", "Runs that ended in the last hour, by result.", results),
    ...metric("run_seconds_last_hour", "Time from the request for a run to its end, of these.", quantiles),
    ...(tenant === null ? await measureQueue(context) : []),
  ];
  return `${lines.join("\n")}\n`;
}

const count = sql<number>`count(*)::int`;

async function measureQueue({ database, queue, counted }: ApiContext): Promise<readonly string[]> {
  const backlog = await queue.backlog();
  const sum = (column: string) => sql<number>`coalesce(sum(${sql.ref(column)}), 0)::int`;
  const { workers, takeovers, fenced } = await database
    .selectFrom("workers")
    .select([sum("takeovers").as("takeovers"), sum("fenced").as("fenced")])
    .select(sql<number>`(count(*) FILTER (WHERE seen_at > now() - interval '1 minute'))::int`.as("workers"))
    .executeTakeFirstOrThrow();
  const ready = backlog.map(({ name, ready }): Sample => [`queue="${name}"`, ready]);
  const oldest = backlog.map(({ name, oldest }): Sample => [`queue="${name}"`, oldest]);
  return [
    ...metric("queue_ready", "Jobs that wait for a worker.", ready),
    ...metric("queue_oldest_seconds", "Time that the oldest of them has waited.", oldest),
    ...metric("workers", "Workers that gave a sign of life in the last minute.", workers),
    // A worker takes its numbers with it when it ends, or a day after it died.
    ...metric("takeovers", "Runs that the workers of now took over from one that died.", takeovers),
    ...metric("fenced_writes", "Their writes without effect: another worker had the run.", fenced),
    ...counted(),
  ];
}

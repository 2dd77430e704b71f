/** @module Makes the order for a thread: the files of a manifest in a checkout, with the environment that its tenant may see. */
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { ControllerConfig } from "../config/config.ts";
import type { Database } from "../database/connect.ts";
import type { ManifestRow } from "../database/schema.ts";
import { checkOut } from "../sources/git.ts";
import { tenantEnvironment } from "../sources/tenant-environment.ts";
import type { Order, StateFacts } from "./thread-pool.ts";
import type { WorkerContext } from "./worker-context.ts";

/** Checks out a commit of a manifest, does the work with the order for a thread, and removes the checkout. `needsOthers`: with the ids that other states bind. */
export async function withCheckout<T>(
  { database, databaseUrl, config }: WorkerContext,
  manifest: ManifestRow,
  [commit, signal, needsOthers = false]: readonly [
    commit: string,
    signal: AbortSignal,
    needsOthers?: boolean,
  ],
  work: (order: Order) => Promise<T>,
): Promise<T> {
  const current = config.current();
  const { id, tenant, name } = manifest;
  const kept = await database
    .selectFrom("uploads")
    .select("files")
    .where((where) => where.and({ manifest_id: id, digest: commit }))
    .executeTakeFirst();
  const checkout = await checkOut({ ...manifest, upload: kept?.files ?? null }, commit, current, signal);
  try {
    const { env, limits, service } = await tenantEnvironment(tenant, current, process.env, checkout.folder);
    const state = `${tenant}/${name}`;
    return await work({
      files: checkout.files,
      env: { ...env, GRAPHFORM_STATE_POSTGRES_URL: databaseUrl },
      limits,
      isStored: manifest.source.type === "upload",
      service,
      state: `postgres:///?${new URLSearchParams({ name: state })}`,
      bound: await boundIds(database, besides(current, tenant), state, needsOthers),
    });
  } finally {
    await checkout.remove();
  }
}

/** The tenants that use the same service, this one among them: each sees the objects of the others in its lists. */
export function besides({ tenants }: ControllerConfig, tenant: string): readonly string[] {
  const service = tenants[tenant]?.service;
  return Object.keys(tenants).filter((other) => isDeepStrictEqual(tenants[other]?.service, service));
}

/**
 * Ids of the objects that the states of these tenants bind, for a thread. They matter only if objects of this state may be unknown: it was
 * never written, has open creates, or is about to get some.
 */
async function boundIds(
  database: Database,
  tenants: readonly string[],
  name: string,
  needsOthers: boolean,
): Promise<Order["bound"]> {
  const row = await sql<{
    facts: string | null;
  }>`SELECT facts FROM graphform.states WHERE name = ${name}`.execute(database);
  const own = row.rows[0]?.facts ?? "{}";
  const { settled = false }: StateFacts = JSON.parse(own);
  if (settled && !needsOthers) return undefined;
  const { rows } = await sql<{ others: string | null }>`
    SELECT string_agg(facts, ',') AS others FROM graphform.states
    WHERE split_part(name, '/', 1) = ANY(${tenants}) AND name <> ${name}`.execute(database);
  return { own, others: `[${rows[0]?.others ?? ""}]` };
}

/** @module Keeps a state in PostgreSQL: rows with versions, and a lease with a fence. */
import { GraphformError } from "../../../model/errors.ts";
import type { StateDriver } from "../driver.ts";
import { connectionSettings } from "./connection-settings.ts";
import { openConnections } from "./connections.ts";
import { history, read, readVersion, write } from "./documents.ts";
import { holderNow, release, renew, take } from "./lease.ts";
import type { PostgresConfig, PostgresCredentials } from "./postgres-config.ts";
import { prepare, probe } from "./prepare.ts";
import { tablesIn } from "./tables.ts";

/**
 * The driver of one state in PostgreSQL, also behind PgBouncer in transaction mode. Nothing connects before the first call.
 * Throws `state-unsuitable` for settings that make no sense, and `state-denied` where there is no user.
 */
export function createPostgresDriver(config: PostgresConfig, credentials: PostgresCredentials): StateDriver {
  const { name, schema = "graphform", versions = 50 } = config;
  if (schema === "" || Buffer.byteLength(schema) > 63)
    throw new GraphformError(
      "state-unsuitable",
      "the schema of the state has no name, or a name of over 63 bytes",
      {
        hint: "correct state.schema; the default is graphform",
      },
    );
  const settings = connectionSettings(config, credentials);
  const { where } = settings;
  const place = { where, schema };
  const connections = openConnections(settings, place);
  const { run } = connections;
  const tables = tablesIn(schema, settings.requestTimeout / 2);
  return {
    where,
    expires: true,
    read: () => read(run, tables, name),
    write: (text, expected, lease) => write(run, tables, name, { text, expected, lease, keep: versions }),
    take: (holder) => take(run, tables, name, holder),
    renew: (_lease, holder) => renew(run, tables, name, holder),
    async release(lease) {
      await release(run, tables, name, lease.holder.id);
    },
    holder: () => holderNow(run, tables, name),
    remove: (id) => release(run, tables, name, id),
    prepare: () => prepare(connections, tables, place),
    probe: () => probe(run, tables, place),
    history: async (limit) => (versions === 0 ? undefined : await history(run, tables, name, limit)),
    readVersion: (id) => readVersion(run, tables, name, id),
    close: connections.close,
  };
}

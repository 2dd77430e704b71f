/** @module Defines the configuration of a state in PostgreSQL, and the variables that its credentials come from. */
import type { SslMode } from "../../../model/store-choices.ts";

/** The place of a state, as the manifest names it. */
export interface PostgresConfig {
  /** Name of the state; the states of a schema have different ones. */
  readonly name: string;
  /** Host name, address, or absolute path of the folder with the socket. Default: `PGHOST`, then `localhost`. */
  readonly host?: string;
  /** Default: `PGPORT`, then 5432. */
  readonly port?: number;
  /** Default: `PGDATABASE`. */
  readonly database?: string;
  /** Schema of the tables. Default `graphform`. */
  readonly schema?: string;
  /** Default: `PGSSLMODE`, then `disable` on this machine and `verify-full` for any other. */
  readonly sslmode?: SslMode;
  /** PEM file of the authority that the server's certificate is checked with. Default: the authorities that Node knows. */
  readonly sslrootcert?: string;
  /** Number of versions that are kept; 0 keeps none. Default 50. */
  readonly versions?: number;
  /** Longest wait for a connection, in ms. Default 10 s. */
  readonly connectTimeout?: number;
  /** Longest wait for the answer to a statement, in ms. Default 30 s. */
  readonly requestTimeout?: number;
}

/** Variables that are read: a URL, and libpq's own. What the URL says goes before the others. */
export const postgresVariables = [
  "GRAPHFORM_STATE_POSTGRES_URL",
  "PGHOST",
  "PGPORT",
  "PGDATABASE",
  "PGUSER",
  "PGPASSWORD",
  "PGSSLMODE",
  "PGSSLROOTCERT",
  "PGSSLCERT",
  "PGSSLKEY",
] as const;

/** The values of these variables; an empty one counts as not set. */
export type PostgresCredentials = { readonly [variable in (typeof postgresVariables)[number]]?: string };

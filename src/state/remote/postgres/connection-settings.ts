/** @module Joins the manifest, the URL and the variables of libpq into the settings of a connection. */

import { isIP } from "node:net";
import { GraphformError } from "../../../model/errors.ts";
import { defined } from "../../../model/json.ts";
import { type PostgresLocation, type SslMode, sslModes } from "../../../model/stores/postgres.ts";

/** The place of a state, as the manifest names it, and limits. */
export interface PostgresConfig extends Omit<PostgresLocation, "type"> {
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

/** Everything that a connection needs. `where` has no credential. */
export interface ConnectionSettings {
  readonly where: string;
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string | undefined;
  readonly sslmode: SslMode;
  readonly sslrootcert: string | undefined;
  readonly sslcert: string | undefined;
  readonly sslkey: string | undefined;
  /** Longest waits, in ms. */
  readonly connectTimeout: number;
  readonly requestTimeout: number;
}

const urlVariable = "GRAPHFORM_STATE_POSTGRES_URL";

/**
 * Settings of a connection: the manifest before the URL before the variables. Throws `state-unsuitable` where the URL
 * contradicts the manifest, since a state in another database would create everything once more, and where something is
 * missing or unknown; `state-denied` where there is no user.
 */
export function connectionSettings(
  config: PostgresConfig,
  credentials: PostgresCredentials,
): ConnectionSettings {
  const address = credentials[urlVariable];
  const url = address ? readConnectionUrl(address, urlVariable) : undefined;
  refuseContradictions(config, url);
  const host = config.host ?? url?.host ?? (credentials.PGHOST || "localhost");
  const port = portOf(config.port ?? url?.port ?? (credentials.PGPORT || 5432));
  const database = config.database ?? url?.database ?? credentials.PGDATABASE;
  if (!database)
    throw unsuitable("no database is named", "set state.database in the manifest, or PGDATABASE");
  const user = url?.user ?? credentials.PGUSER;
  if (!user)
    throw new GraphformError("state-denied", "no user is named for the state in PostgreSQL", {
      hint: `set PGUSER and PGPASSWORD, or ${urlVariable}`,
    });
  return {
    where: addressOf(config, host, port, database),
    host,
    port,
    database,
    user,
    password: url?.password ?? (credentials.PGPASSWORD || undefined),
    sslmode: sslModeOf(config.sslmode ?? url?.sslmode ?? credentials.PGSSLMODE, host),
    sslrootcert: config.sslrootcert ?? url?.sslrootcert ?? (credentials.PGSSLROOTCERT || undefined),
    sslcert: url?.sslcert ?? (credentials.PGSSLCERT || undefined),
    sslkey: url?.sslkey ?? (credentials.PGSSLKEY || undefined),
    connectTimeout: config.connectTimeout ?? 10_000,
    requestTimeout: config.requestTimeout ?? 30_000,
  };
}

/** The address, as `--state` takes it. */
function addressOf({ name, schema }: PostgresConfig, host: string, port: number, database: string): string {
  const at = isIP(host) === 6 ? `[${host}]` : encodeURIComponent(host);
  const query = new URLSearchParams({ name, ...defined({ schema }) });
  return `postgres://${at}:${port}/${encodeURIComponent(database)}?${query}`;
}

function refuseContradictions(config: PostgresConfig, url: ConnectionUrl | undefined): void {
  for (const key of ["host", "port", "database", "sslmode", "sslrootcert"] as const) {
    const [said, other] = [config[key], url?.[key]];
    if (said === undefined || other === undefined || String(said) === other) continue;
    throw unsuitable(
      `${urlVariable} names another ${key} than the manifest`,
      `the manifest says ${said}; leave state.${key} out of it, or correct the variable`,
    );
  }
}

function portOf(said: string | number): number {
  const port = Number(said);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw unsuitable("the port is not a number from 1 to 65535", "correct state.port, PGPORT or the URL");
}

function sslModeOf(said: string | undefined, host: string): SslMode {
  if (!said) return isThisMachine(host) ? "disable" : "verify-full";
  const mode = sslModes.find((name) => name === said);
  if (mode !== undefined) return mode;
  throw unsuitable(
    said === "allow" || said === "prefer"
      ? `sslmode ${said} falls back to plain text, which is not done here`
      : "the sslmode is not known",
    `use one of ${sslModes.join(", ")}`,
  );
}

/** True for a socket, and for the addresses that never leave this machine. */
function isThisMachine(host: string): boolean {
  return host.startsWith("/") || host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);
}

function unsuitable(what: string, hint: string): GraphformError {
  return new GraphformError("state-unsuitable", `the state in PostgreSQL: ${what}`, { hint });
}

/** The parts of a URL; what it does not name is undefined. */
interface ConnectionUrl {
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly database: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly sslmode: string | undefined;
  readonly sslrootcert: string | undefined;
  readonly sslcert: string | undefined;
  readonly sslkey: string | undefined;
}

/** Parameters that are read. */
const known = ["host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey"];
/** Parameters that hosting services put into their URLs, and that change nothing here. */
const ignored = ["application_name", "channel_binding", "connect_timeout", "target_session_attrs"];

/** Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=...`. Throws `state-unsuitable` for anything else. */
function readConnectionUrl(text: string, variable: string): ConnectionUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(ql)?:\/\//i.test(text)) throw unreadable(variable);
  // An @ behind the host is that of a password with a / in it: the host and the database would be parts of the password.
  if (/^[^/]*\/\/[^/?#]*[/?#].*@/.test(text)) throw unreadable(variable);
  const other = [...url.searchParams.keys()].find((name) => ![...known, ...ignored].includes(name));
  if (other !== undefined)
    throw new GraphformError("state-unsuitable", `${variable} has a parameter that is not known here`, {
      hint: `known are: ${[...known, ...ignored].join(", ")}`,
    });
  const parameter = (name: string): string | undefined => url.searchParams.get(name) || undefined;
  const decoded = (part: string): string | undefined => decode(part, variable) || undefined;
  return {
    host: decoded(url.hostname.replace(/^\[|\]$/g, "")) ?? parameter("host"),
    port: url.port || parameter("port"),
    database: decoded(url.pathname.slice(1)),
    user: decoded(url.username),
    password: decoded(url.password),
    sslmode: parameter("sslmode"),
    sslrootcert: parameter("sslrootcert"),
    sslcert: parameter("sslcert"),
    sslkey: parameter("sslkey"),
  };
}

function decode(part: string, variable: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw unreadable(variable);
  }
}

function unreadable(variable: string): GraphformError {
  return new GraphformError(
    "state-unsuitable",
    `${variable} is not a URL of the form postgres://USER:PASSWORD@HOST:PORT/DATABASE`,
    { hint: "write characters like @ / : # % of a password as %40 %2F %3A %23 %25" },
  );
}

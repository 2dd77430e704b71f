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

const urlVariable = "GRAPHFORM_STATE_POSTGRES_URL";

const parts = {
  host: "PGHOST",
  port: "PGPORT",
  database: "PGDATABASE",
  user: "PGUSER",
  password: "PGPASSWORD",
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
} as const;
type Part = keyof typeof parts;

/** The values of the URL's variable, and of libpq's own; an empty one counts as not set. */
export type PostgresCredentials = {
  readonly [variable in typeof urlVariable | (typeof parts)[Part]]?: string;
};

/** `where` has no credential. */
export interface ConnectionSettings
  extends Required<Omit<PostgresConfig, "name" | "schema" | "versions" | "sslrootcert">>,
    Readonly<Record<"password" | "sslrootcert" | "sslcert" | "sslkey", string | undefined>> {
  readonly where: string;
  readonly user: string;
}

/**
 * The manifest comes before the URL, and the URL before the variables. Throws `state-denied` if there is no user, and `state-unsuitable`
 * if something is missing or unknown, or if the URL contradicts the manifest: in another database everything would be created once more.
 */
export function connectionSettings(
  config: PostgresConfig,
  credentials: PostgresCredentials,
): ConnectionSettings {
  const address = credentials[urlVariable];
  const url: ConnectionUrl = address ? readConnectionUrl(address, urlVariable) : {};
  const declared: { readonly [part in Part]?: string | number | undefined } = config;
  for (const part of ["host", "port", "database", "sslmode", "sslrootcert"] as const) {
    const [said, other] = [declared[part], url[part]];
    if (said === undefined || other === undefined || String(said) === other) continue;
    throw unsuitable(
      `${urlVariable} names another ${part} than the manifest`,
      `the manifest says ${said}; leave state.${part} out of it, or correct the variable`,
    );
  }
  const said = (part: Part): string | undefined =>
    (declared[part] ?? url[part] ?? (credentials[parts[part]] || undefined))?.toString();
  const host = said("host") ?? "localhost";
  const port = portOf(said("port") ?? 5432);
  const [database, user] = [said("database"), said("user")];
  if (!database)
    throw unsuitable("no database is named", "set state.database in the manifest, or PGDATABASE");
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
    password: said("password"),
    sslmode: sslModeOf(said("sslmode"), host),
    sslrootcert: said("sslrootcert"),
    sslcert: said("sslcert"),
    sslkey: said("sslkey"),
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

function portOf(said: string | number): number {
  const port = Number(said);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw unsuitable("the port is not a number from 1 to 65535", "correct state.port, PGPORT or the URL");
}

function sslModeOf(said: string | undefined, host: string): SslMode {
  // A socket, and the addresses that never leave this machine.
  const isNear =
    host.startsWith("/") || host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);
  if (!said) return isNear ? "disable" : "verify-full";
  const mode = sslModes.find((name) => name === said);
  if (mode !== undefined) return mode;
  throw unsuitable(
    said === "allow" || said === "prefer"
      ? `sslmode ${said} falls back to plain text, which is not done here`
      : "the sslmode is not known",
    `use one of ${sslModes.join(", ")}`,
  );
}

function unsuitable(what: string, hint: string): GraphformError {
  return new GraphformError("state-unsuitable", `the state in PostgreSQL: ${what}`, { hint });
}

type ConnectionUrl = { readonly [part in Part]?: string | undefined };

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
  const named = Object.fromEntries(known.map((name) => [name, url.searchParams.get(name) || undefined]));
  const decoded = (part: string): string | undefined => decode(part, variable) || undefined;
  return {
    ...named,
    host: decoded(url.hostname.replace(/^\[|\]$/g, "")) ?? named["host"],
    port: url.port || named["port"],
    database: decoded(url.pathname.slice(1)),
    user: decoded(url.username),
    password: decoded(url.password),
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
  const message = `${variable} is not a URL of the form postgres://USER:PASSWORD@HOST:PORT/DATABASE`;
  const hint = "write characters like @ / : # % of a password as %40 %2F %3A %23 %25";
  return new GraphformError("state-unsuitable", message, { hint });
}

/** @module Reads the URL of a PostgreSQL database, and never repeats it in a message. */
import { GraphformError } from "../../../model/errors.ts";

/** The parts of a URL; what it does not name is undefined. */
export interface ConnectionUrl {
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
export function readConnectionUrl(text: string, variable: string): ConnectionUrl {
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

/** @module Describes the store of a state in PostgreSQL. */
import { defined, textIn } from "../json.ts";
import { queryOf, type StoreDescription, textKey, wordOf } from "./store-description.ts";

/** Modes of TLS, by the names that libpq has for them; its `allow` and `prefer` fall back to plain text and are refused. */
export const sslModes = ["disable", "require", "verify-ca", "verify-full"] as const;

export type SslMode = (typeof sslModes)[number];

export interface PostgresLocation {
  readonly type: "postgres";
  /** Name of the state; the states of a schema have different ones. */
  readonly name: string;
  /** Host name, address, or absolute path of the folder with the socket. Default: `PGHOST`, then `localhost`. */
  readonly host?: string;
  /** Default: `PGDATABASE`. */
  readonly database?: string;
  /** Schema of the tables. Default `graphform`. */
  readonly schema?: string;
  /** Default: `PGSSLMODE`, then `disable` on this machine and `verify-full` for any other. */
  readonly sslmode?: SslMode;
  /** Absolute path of the PEM file of the authority that the server's certificate is checked with. Default: Node's authorities. */
  readonly sslrootcert?: string;
  /** Default: `PGPORT`, then 5432. */
  readonly port?: number;
}

const variables: StoreDescription<PostgresLocation>["variables"] = {
  GRAPHFORM_STATE_POSTGRES_URL: {
    about: "URL of the database of a state, with user and password.",
    isSecret: true,
  },
  GRAPHFORM_STATE_TO_POSTGRES_URL: {
    about: "URL of the database at the other end of a move, with user and password.",
    isSecret: true,
    isOtherEnd: true,
  },
  PGHOST: { about: "Host of the database of a state, if the manifest names none." },
  PGPORT: { about: "Its port." },
  PGDATABASE: { about: "Its database." },
  PGUSER: { about: "User for it." },
  PGPASSWORD: { about: "Password for it.", isSecret: true },
  PGSSLMODE: { about: "How the connection is secured: `disable`, `require`, `verify-ca` or `verify-full`." },
  PGSSLROOTCERT: { about: "PEM file of the authority that its certificate is checked with." },
  PGSSLCERT: { about: "PEM file of the certificate that this user signs in with." },
  PGSSLKEY: { about: "PEM file of that certificate's key." },
};

export const postgres: StoreDescription<PostgresLocation> = {
  place: "a PostgreSQL database",
  keys: {
    host: textKey("postgres: host. Left out: that of PGHOST, or localhost.", {
      form: {
        pattern: /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}|[0-9A-Fa-f:.]{2,45}|\/[^\s@:=?#]{1,200})$/u,
        is: "a host name, an IP address, or the absolute path of the folder with the socket",
      },
      examples: ["db.example.com"],
    }),
    port: {
      type: "integer",
      minimum: 1,
      maximum: 65_535,
      description: "postgres: port. Left out: that of PGPORT, or 5432.",
    },
    database: textKey("postgres: database. Left out: that of PGDATABASE.", {
      form: {
        pattern: /^[^\s@:=?#/]{1,63}$/u,
        is: "the name of a database, without spaces and @ : = ? # /",
      },
      examples: ["states"],
    }),
    schema: textKey("postgres: schema of the tables. Left out: graphform.", {
      form: {
        pattern: /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,62}$/u,
        is: "lower-case letters, digits and _, and none of PostgreSQL's own schemas",
      },
      examples: ["graphform"],
    }),
    name: textKey("postgres: name of the state in its table. Left out: the manifest's name.", {
      form: { pattern: /^[^\s@:=?#]{1,200}$/u, is: "a name without spaces and @ : = ? #" },
      examples: ["shop"],
    }),
    sslmode: textKey(
      "postgres: how the connection is secured. Left out: that of PGSSLMODE, or verify-full but for this machine.",
      { enum: sslModes },
    ),
    sslrootcert: textKey("postgres: PEM file of the authority that its certificate is checked with.", {
      form: {
        pattern: /^(?:system|\/.{1,1000}|[A-Za-z]:[\\/].{1,1000})$/u,
        is: "an absolute path, or system",
      },
      examples: ["/etc/ssl/company.pem"],
    }),
  },
  required: [],
  variables,
  schemes: ["postgres", "postgresql"],
  spelling: "postgres://HOST/DATABASE?name=NAME",
  parameters: ["name", "schema", "sslmode", "sslrootcert"],
  refusesStaleWrites: true,
  locksExpire: true,
  readAddress({ hostname, port, pathname }) {
    const host = decodeURIComponent(hostname).replace(/^\[(.*)\]$/, "$1") || undefined;
    const database = decodeURIComponent(pathname.replace(/^\/+/, "")) || undefined;
    return { host, port: port === "" ? undefined : Number(port), database };
  },
  locate(values, name) {
    const { port } = values;
    const texts = ["host", "database", "schema", "sslrootcert"] as const;
    return {
      type: "postgres",
      name: textIn(values["name"]) ?? name,
      ...defined(Object.fromEntries(texts.map((key) => [key, textIn(values[key])]))),
      ...defined({ sslmode: wordOf(values, "sslmode", sslModes) }),
      ...(typeof port === "number" ? { port } : {}),
    };
  },
  address({ host, port, database, name, schema, sslmode, sslrootcert }) {
    const at = host === undefined ? "" : host.includes(":") ? `[${host}]` : encodeURIComponent(host);
    const path = database === undefined ? "" : encodeURIComponent(database);
    const query = queryOf({ name, schema, sslmode, sslrootcert });
    return `postgres://${at}${port === undefined ? "" : `:${port}`}/${path}${query}`;
  },
  canonical: ({ type, name, host, port, database, schema }) => ({
    ...{ type, name },
    ...defined({ host: host?.startsWith("/") ? host : host?.toLowerCase(), database }),
    ...(port === undefined || port === 5432 ? {} : { port }),
    ...(schema === undefined || schema === "graphform" ? {} : { schema }),
  }),
  source: (_, variable) =>
    ["GRAPHFORM_STATE_POSTGRES_URL", "PGPASSWORD", "PGSSLKEY"].find(variable) ??
    "none: GRAPHFORM_STATE_POSTGRES_URL, or PGUSER and PGPASSWORD",
  clock: () => undefined,
  pipeline: () => ({ secrets: ["GRAPHFORM_STATE_POSTGRES_URL"] }),
};

/** @module Reads and writes the place of a state as one word: a path or a URL without credentials. */
import { credentialsIn } from "../manifest/state-faults.ts";
import { sslModes } from "../manifest/state-shape.ts";
import { GraphformError } from "../model/errors.ts";
import type { PostgresPlace, S3Place, StatePlace } from "./place.ts";

/**
 * The place that a path or a URL names: `s3://bucket/key?region=..`, `postgres://host/database?name=..`, `https://..`,
 * `file:..` or a path. `name` is the manifest's. Throws `state-address`, without its text where it holds credentials.
 */
export function placeAt(given: string, name: string): StatePlace {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(given) ?? [];
  if (scheme === undefined) return { type: "file", path: given.replace(/^file:/, "") };
  if (credentialsIn(given).length > 0)
    throw new GraphformError(
      "state-credentials",
      "the address of the state holds credentials: other users of this machine see them, and logs keep them",
      { hint: "take them out, and set the variables of the environment that docs/stores.md lists" },
    );
  const url = URL.parse(given);
  if (url === null) throw unreadable(given, "it is no URL");
  const read = readers[scheme.toLowerCase()];
  if (read === undefined) throw unreadable(given, `nothing here speaks ${scheme}`);
  return read(url, given, name);
}

type Reader = (url: URL, given: string, name: string) => StatePlace;

const http: Reader = (_, address) => ({ type: "http", address });

const postgres: Reader = (url, given, manifest) => {
  const known = parametersOf(url, given, ["name", "schema", "sslmode", "sslrootcert"]);
  assertOneOf(given, "sslmode", known["sslmode"], sslModes);
  const database = decodeURIComponent(url.pathname.replace(/^\/+/, ""));
  return {
    ...{ type: "postgres", name: manifest, ...known },
    ...(url.hostname === "" ? {} : { host: url.hostname.replace(/^\[(.*)\]$/, "$1") }),
    ...(url.port === "" ? {} : { port: Number(url.port) }),
    ...(database === "" ? {} : { database }),
  };
};

const readers: { readonly [scheme: string]: Reader } = {
  http,
  https: http,
  postgres,
  postgresql: postgres,
  file: (url) => ({ type: "file", path: decodeURIComponent(url.pathname) }),
  s3(url, given, manifest) {
    const { pathStyle, ...known } = parametersOf(url, given, ["region", "endpoint", "pathStyle"]);
    assertOneOf(given, "pathStyle", pathStyle, ["true", "false"]);
    const key = decodeURIComponent(url.pathname.replace(/^\//, ""));
    if (url.hostname === "") throw unreadable(given, "it names no bucket");
    const style = pathStyle === undefined ? {} : { pathStyle: pathStyle === "true" };
    return {
      type: "s3",
      bucket: url.host,
      key: key === "" ? `${manifest}.state.json` : key,
      ...known,
      ...style,
    };
  },
};

/** The place as one word that `placeAt` reads. It leaves out how an HTTP address is locked. */
export function addressOf(place: StatePlace): string {
  switch (place.type) {
    case "file":
      return place.path;
    case "http":
      return place.address;
    case "s3":
      return s3Address(place);
    case "postgres":
      return postgresAddress(place);
  }
}

/** The lines that put a place into a manifest. */
export function sectionOf(place: StatePlace): string {
  const { type, ...rest } = place;
  const keys = Object.entries(rest).filter(([key]) => key !== "elsewhere");
  const lines = keys.map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`);
  return `state:\n  type: ${type}\n${lines.join("")}`;
}

function s3Address({ bucket, key, region, endpoint, pathStyle }: S3Place): string {
  const path = key.split("/").map(encodeURIComponent).join("/");
  return `s3://${bucket}/${path}${query({ region, endpoint, pathStyle })}`;
}

function postgresAddress({ host, port, database, ...parameters }: PostgresPlace): string {
  const { name, schema, sslmode, sslrootcert } = parameters;
  const at = host === undefined ? "" : host.includes(":") ? `[${host}]` : encodeURIComponent(host);
  const path = database === undefined ? "" : encodeURIComponent(database);
  return `postgres://${at}${port === undefined ? "" : `:${port}`}/${path}${query({ name, schema, sslmode, sslrootcert })}`;
}

function query(values: { readonly [name: string]: string | boolean | undefined }): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(Object.fromEntries(given))}`;
}

function parametersOf(
  url: URL,
  given: string,
  known: readonly string[],
): { readonly [name: string]: string } {
  const strange = [...url.searchParams.keys()].find((name) => !known.includes(name));
  if (strange !== undefined)
    throw unreadable(given, `it has no parameter "${strange}"; known: ${known.join(", ")}`);
  return Object.fromEntries(url.searchParams);
}

function assertOneOf(given: string, name: string, value: string | undefined, all: readonly string[]): void {
  if (value !== undefined && !all.includes(value))
    throw unreadable(given, `${name} is "${value}"; allowed: ${all.join(", ")}`);
}

function unreadable(given: string, why: string): GraphformError {
  return new GraphformError("state-address", `${given} is no place for a state: ${why}`, {
    hint: "name a file, or a URL like s3://BUCKET/KEY, postgres://HOST/DATABASE?name=NAME or https://HOST/PATH",
  });
}

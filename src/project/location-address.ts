/** @module Reads and writes the location of a state as one word: a path or a URL without credentials. */
import { GraphformError } from "../model/errors.ts";
import { sslModes } from "../model/store-choices.ts";
import { formBroken, storeRefusal } from "../model/store-forms.ts";
import { holdsCredentials, shownAddress } from "../model/userinfo.ts";
import type { PostgresLocation, S3Location, StateLocation } from "./state-location.ts";

/**
 * The location that a path or a URL names: `s3://bucket/key?region=..`, `postgres://host/database?name=..`, `https://..`,
 * `file:///..` or a path. `name` is the manifest's. Throws `state-address` and `state-credentials`, without a credential in the
 * text. A word that may be meant as a URL is no path: the state would begin anew in a file, and apply would create everything once more.
 */
export function locationAt(given: string, name: string): StateLocation {
  if (isPath(given)) return { type: "file", path: given };
  if (given.includes("@") || holdsCredentials(given))
    throw new GraphformError(
      "state-credentials",
      "the address of the state holds credentials: other users of this machine see them, and logs keep them",
      {
        hint: "take them out, and set the variables of the environment that docs/stores.md lists; write an @ of a path as %40",
      },
    );
  const [, scheme = ""] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(given) ?? [];
  if (scheme === "") throw misspelt(given);
  const url = URL.parse(given);
  if (url === null) throw unreadable(given, "it is not a valid URL");
  const read = readers[scheme.toLowerCase()];
  if (read === undefined)
    throw unreadable(given, `unknown scheme "${scheme}"; known: ${Object.keys(readers).join(", ")}`);
  return checked(decodedBy(read, url, given, name), given);
}

/**
 * True for a text that can only be a path: it begins like one, or is the plain name of a file with an ending, in folders none
 * of which could be a host. The type of a store (`postgres`) or a variable that nobody has expanded (`$HOME/x`) is none.
 */
function isPath(given: string): boolean {
  if (/^(?:\.{0,2}[\\/](?!\/)|[a-z]:[\\/](?!\/))/i.test(given)) return true;
  return /^(?:\.?[\p{L}\p{N}_][\p{L}\p{N}_ -]*\/)*\.?[\p{L}\p{N}_][\p{L}\p{N}_ .-]*\.[\p{L}\p{N}]+$/u.test(
    given,
  );
}

/** The refusal of a text that may be meant as a URL or a type, and is neither a URL nor clearly a path. */
function misspelt(given: string): GraphformError {
  const [, word = given] = /^([a-z][a-z0-9+.-]*?)(?::|\/\/)/i.exec(given) ?? [];
  const spelling = spellings[word.toLowerCase()];
  const asPath = given.startsWith("~")
    ? "write the whole path: ~ is the shell's"
    : `for a file of that name write ./${shownAddress(given)}`;
  return new GraphformError(
    "state-address",
    `${shownAddress(given)} is neither a URL of a state nor clearly a path`,
    { hint: spelling === undefined ? asPath : `write ${spelling}; ${asPath}` },
  );
}

const spellings: { readonly [scheme: string]: string } = {
  http: "https://HOST/PATH",
  https: "https://HOST/PATH",
  s3: "s3://BUCKET/KEY",
  postgres: "postgres://HOST/DATABASE?name=NAME",
  postgresql: "postgres://HOST/DATABASE?name=NAME",
  file: "file:///PATH, or the path alone",
};

/** The location, where the rules for the manifest's section are kept by its values too. */
function checked(location: StateLocation, given: string): StateLocation {
  for (const [key, value] of Object.entries(location)) {
    if (typeof value !== "string" || location.type === "file") continue;
    const form = formBroken(key, value);
    if (form !== undefined) throw unreadable(given, `its ${key} must be ${form.is}`);
    const refusal = storeRefusal(key, value);
    if (refusal !== undefined)
      throw new GraphformError("state-address", refusal.message, { hint: refusal.hint });
  }
  return location;
}

/** Calls a reader with a URL. Throws `state-address` where an escape in it cannot be decoded. */
function decodedBy(read: Reader, url: URL, given: string, name: string): StateLocation {
  try {
    return read(url, given, name);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw unreadable(given, "it has a % that begins no escape");
  }
}

type Reader = (url: URL, given: string, name: string) => StateLocation;

const http: Reader = (_, address) => ({ type: "http", address });

const postgres: Reader = (url, given, manifest) => {
  const known = parametersOf(url, given, ["name", "schema", "sslmode", "sslrootcert"]);
  assertOneOf(given, "sslmode", known["sslmode"], sslModes);
  const database = decodeURIComponent(url.pathname.replace(/^\/+/, ""));
  return {
    ...{ type: "postgres", name: manifest, ...known },
    ...(url.hostname === "" ? {} : { host: decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, "$1") }),
    ...(url.port === "" ? {} : { port: Number(url.port) }),
    ...(database === "" ? {} : { database }),
  };
};

const readers: { readonly [scheme: string]: Reader } = {
  http,
  https: http,
  postgres,
  postgresql: postgres,
  file(url, given) {
    // file://tmp/x names a host, and a path that nobody meant.
    if (url.host !== "" || !/^file:\/\/\//i.test(given)) throw misspelt(given);
    return { type: "file", path: decodeURIComponent(url.pathname) };
  },
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

/** The location as one word that `locationAt` reads. It leaves out how an HTTP address is locked. */
export function addressOf(location: StateLocation): string {
  switch (location.type) {
    case "file":
      return location.path;
    case "http":
      return location.address;
    case "s3":
      return s3Address(location);
    case "postgres":
      return postgresAddress(location);
  }
}

/** The lines that put a location into a manifest. */
export function sectionOf(location: StateLocation): string {
  const { type, ...rest } = location;
  const keys = Object.entries(rest).filter(([key]) => key !== "elsewhere");
  const lines = keys.map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`);
  return `state:\n  type: ${type}\n${lines.join("")}`;
}

function s3Address({ bucket, key, region, endpoint, pathStyle }: S3Location): string {
  const path = key.split("/").map(encodeURIComponent).join("/");
  return `s3://${bucket}/${path}${query({ region, endpoint, pathStyle })}`;
}

function postgresAddress({ host, port, database, ...parameters }: PostgresLocation): string {
  const { name, schema, sslmode, sslrootcert } = parameters;
  const at = host === undefined ? "" : host.includes(":") ? `[${host}]` : encodeURIComponent(host);
  const path = database === undefined ? "" : encodeURIComponent(database);
  return `postgres://${at}${port === undefined ? "" : `:${port}`}/${path}${query({ name, schema, sslmode, sslrootcert })}`;
}

function query(values: { readonly [name: string]: string | boolean | undefined }): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  const text = new URLSearchParams(Object.fromEntries(given)).toString();
  // A query may hold both as they are; an endpoint is easier to read so.
  return given.length === 0 ? "" : `?${text.replaceAll("%3A", ":").replaceAll("%2F", "/")}`;
}

function parametersOf(
  url: URL,
  given: string,
  known: readonly string[],
): { readonly [name: string]: string } {
  const unknown = [...url.searchParams.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw unreadable(given, `it has no parameter "${unknown}"; known: ${known.join(", ")}`);
  return Object.fromEntries(url.searchParams);
}

function assertOneOf(given: string, name: string, value: string | undefined, all: readonly string[]): void {
  if (value !== undefined && !all.includes(value))
    throw unreadable(given, `${name} is "${value}"; allowed: ${all.join(", ")}`);
}

function unreadable(given: string, why: string): GraphformError {
  return new GraphformError("state-address", `${shownAddress(given)} is not a location of a state: ${why}`, {
    hint: "name a file, or a URL like s3://BUCKET/KEY, postgres://HOST/DATABASE?name=NAME or https://HOST/PATH",
  });
}

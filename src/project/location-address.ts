/** @module Reads and writes the location of a state as one word: a path or a URL without credentials. */
import { GraphformError } from "../model/errors.ts";
import { isStoreType, type StateLocation, stores } from "../model/stores/index.ts";
import { type Store, type StoreValues, unreadableAddress } from "../model/stores/store.ts";
import { holdsCredentials, shownAddress } from "../model/userinfo.ts";

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
  if (url === null) throw unreadableAddress(given, "it is not a valid URL");
  const store = storeOf(scheme);
  if (store === undefined) {
    const known = Object.values(stores).flatMap(({ schemes }) => schemes);
    throw unreadableAddress(given, `unknown scheme "${scheme}"; known: ${known.join(", ")}`);
  }
  const values = { ...decoded(store, url, given), ...parametersOf(store, url, given) };
  assertForms(store, values, given);
  return store.locate(values, name);
}

function storeOf(scheme: string): Store<StateLocation, never> | undefined {
  return Object.values(stores).find(({ schemes }) => schemes.includes(scheme.toLowerCase()));
}

/**
 * True for a text that can only be a path: it begins like one, or is the plain name of a file with an ending, in folders none
 * of which could be a host. The type of a store (`postgres`) or a variable that was not expanded (`$HOME/x`) is none.
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
  const spelling = storeOf(word)?.spelling;
  const asPath = given.startsWith("~")
    ? "write the whole path: ~ is the shell's"
    : `for a file of that name write ./${shownAddress(given)}`;
  return new GraphformError(
    "state-address",
    `${shownAddress(given)} is neither a URL of a state nor clearly a path`,
    { hint: spelling === undefined ? asPath : `write ${spelling}; ${asPath}` },
  );
}

/** The values of the path. Throws `state-address` for an escape that cannot be decoded. */
function decoded(store: Store<StateLocation, never>, url: URL, given: string): StoreValues {
  try {
    return store.readAddress(url, given);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw unreadableAddress(given, "it has a % that begins no escape");
  }
}

function parametersOf(
  { parameters, keys }: Store<StateLocation, never>,
  url: URL,
  given: string,
): StoreValues {
  if (parameters === undefined) return {};
  const unknown = [...url.searchParams.keys()].find((name) => !parameters.includes(name));
  if (unknown !== undefined) {
    const known = parameters.length === 0 ? "it has none" : `known: ${parameters.join(", ")}`;
    throw unreadableAddress(given, `it has no parameter "${unknown}"; ${known}`);
  }
  const values = [...url.searchParams].map(([name, text]) => {
    const isFlag = keys[name]?.type === "boolean";
    const allowed = isFlag ? ["true", "false"] : keys[name]?.enum;
    if (allowed !== undefined && !allowed.includes(text))
      throw unreadableAddress(given, `${name} is "${text}"; allowed: ${allowed.join(", ")}`);
    return [name, isFlag ? text === "true" : text] as const;
  });
  return Object.fromEntries(values);
}

/** Refuses the values that the manifest's section would refuse. */
function assertForms({ keys }: Store<StateLocation, never>, values: StoreValues, given: string): void {
  for (const [key, value] of Object.entries(values)) {
    if (typeof value !== "string") continue;
    const { form, refusal } = keys[key] ?? {};
    if (form?.pattern.test(value) === false) throw unreadableAddress(given, `its ${key} must be ${form.is}`);
    const refused = refusal?.(value);
    if (refused !== undefined)
      throw new GraphformError("state-address", refused.message, { hint: refused.hint });
  }
}

/** The location as one word that `locationAt` reads. */
export function addressOf(location: StateLocation): string {
  return stores[location.type].address(location);
}

/** The lines that put a location into a manifest. */
export function sectionOf({ type, ...rest }: StateLocation): string {
  const keys = Object.entries(rest).filter(([key]) => Object.hasOwn(stores[type].keys, key));
  const lines = keys.map(([key, value]) => `  ${key}: ${JSON.stringify(value)}\n`);
  return `state:\n  type: ${type}\n${lines.join("")}`;
}

/** The type of a section; a file for anything that is no store. */
export function typeOf(section: StoreValues): StateLocation["type"] {
  const said = section["type"] ?? section["backend"];
  return isStoreType(said) ? said : "file";
}

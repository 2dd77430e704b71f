/** @module Finds the location of a state: from --state, the environment, the manifest, or a file beside the manifest; reads and writes it as one word. */
import { existsSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { GraphformError, isGraphformError, shellWord } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { Header } from "../model/manifest.ts";
import type { ManifestIdentity } from "../model/service-identity.ts";
import type { StateDocument } from "../model/state.ts";
import type { FileLocation } from "../model/stores/file.ts";
import { isStoreType, type StateLocation, type StoreType, stores } from "../model/stores/index.ts";
import {
  type StoreDescription,
  type StoreValues,
  unreadableAddress,
} from "../model/stores/store-description.ts";
import { holdsCredentials, redactedAddress } from "../model/userinfo.ts";
import { isEmpty, isRenamed } from "../state/claim-state.ts";
import { readStored, targetOf } from "../state/state-file.ts";
import { standsElsewhere } from "../state/store-trouble.ts";
import type { Settings } from "./settings.ts";

/** The location of a manifest's state: that of --state, of GRAPHFORM_STATE, of the manifest, or the usual file beside it, `manifest`. */
export function locateState(
  header: Header,
  folder: string,
  given: string | undefined,
  settings: Settings,
  manifest?: string,
): StateLocation {
  const named = given ?? settings.get("GRAPHFORM_STATE");
  if (named !== undefined) return namedLocation(named, header);
  const type = typeOf(header.state);
  return type === "file" ? fileLocation(header, folder, manifest) : declaredLocation(header, type);
}

/** The place that a path or URL names; as the manifest describes it, if it is that address. Throws `state-address`. */
export function namedLocation(named: string, header: Header): StateLocation {
  const place = locationAt(named, header.name);
  if (place.type === "file" || typeOf(header.state) !== place.type) return place;
  const declared = declaredLocation(header, place.type);
  return addressOf(declared) === addressOf(place) ? declared : place;
}

/**
 * The usual file, or the one of `state.path`. That is relative to the current folder, like every path in a manifest. The usual one lies beside a
 * link to the manifest: links of several folders to one manifest have a state each.
 */
export function fileLocation({ name, state }: Header, folder: string, manifest?: string): FileLocation {
  const { path } = state;
  if (typeof path === "string")
    return isAbsolute(path)
      ? { type: "file", path }
      : { type: "file", path, elsewhere: [join(folder, path)] };
  const usual = join(".graphform", `${name}.state.json`);
  const linked =
    manifest === undefined || !existsSync(manifest) ? [] : [join(dirname(realpathSync(manifest)), usual)];
  return { type: "file", path: join(folder, usual), elsewhere: [usual, ...linked] };
}

/** Refusals of a file that is that of another manifest, service or program. One whose state was moved names the place that has it. */
const notInUse = ["state-foreign", "state-name", "state-manifest", "state-service"];

interface StateOwner {
  readonly header: Header;
  readonly folder: string;
  readonly location: StateLocation;
  readonly identity: ManifestIdentity;
}

/**
 * Throws `state-elsewhere` if a manifest without a state in its place has one in the usual file, of the same service; or if that is its place, in
 * the usual file of another name: the manifest was renamed.
 */
export async function assertUsualFileUnused(
  { header, folder, location, identity }: StateOwner,
  claim: (state: StateDocument) => unknown,
): Promise<void> {
  const { path } = fileLocation({ ...header, state: {} }, folder);
  const file = await targetOf(path);
  if (file === (await placeOf(location))) return assertNotRenamed(file, identity);
  try {
    const { state } = await readStored(file, path, header.name);
    if (state === undefined || isEmpty(state)) return;
    claim(state);
  } catch (error) {
    if (isGraphformError(error) && notInUse.includes(error.code)) return;
    throw error;
  }
  const to = location.type === "file" ? `'${location.path}'` : location.type;
  const move = `move it: graphform state migrate --state '${path}' --to ${to}; --state with the new place begins with nothing`;
  throw standsElsewhere(addressOf(location), path, move);
}

/** Throws `state-elsewhere` if a state beside a usual file is that of the same manifest, under another name. */
async function assertNotRenamed(usual: string, identity: ManifestIdentity): Promise<void> {
  const names = await readdir(dirname(usual)).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(".state.json") && each !== basename(usual))) {
    const other = join(dirname(usual), name);
    const { state } = await readStored(other, other, undefined).catch((error: unknown) => {
      if (isGraphformError(error) && [...notInUse, "state-moved", "state-moving"].includes(error.code))
        return { state: undefined };
      throw error;
    });
    if (state === undefined || isEmpty(state) || !isRenamed(state, identity)) continue;
    const [from, to] = [other, usual].map(shellWord);
    const message = `no state at ${usual}, and ${other} has that of this manifest, which was named ${state.name}: a second one would create everything once more`;
    const hint = `give it that name again, or take the state along: graphform state migrate --state ${from} --to ${to}`;
    throw new GraphformError("state-elsewhere", message, { hint });
  }
}

/** The location that the section declares for a shared store; what it leaves out has its default. */
export function declaredLocation({ name, state }: Header, type: StoreType): StateLocation {
  return stores[type].locate(state, name);
}

/** The text that is equal for all spellings of one place. A relative path counts from the current folder, and links are followed. */
export async function placeOf(location: StateLocation): Promise<string> {
  if (location.type === "file") return targetOf(location.path);
  return addressOf(stores[location.type].canonical?.(location) ?? location);
}

/** Throws `state-shared` if another manifest keeps its state in the same place. Both are files or folders, for the message. */
export function assertOwnState(other: string | undefined, manifest: string, place: string): void {
  if (other === undefined) return;
  throw new GraphformError(
    "state-shared",
    `${other} and ${manifest} keep their states in one place, ${place}: each would change what the other has made`,
    { hint: "give each manifest a name of its own, or a place of its own in its state section" },
  );
}

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

function storeOf(scheme: string): StoreDescription<StateLocation> | undefined {
  return Object.values(stores).find(({ schemes }) => schemes.includes(scheme.toLowerCase()));
}

/** True for what can only be a path: not the type of a store (`postgres`), nor an unexpanded variable (`$HOME/x`). */
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
    : `for a file of that name write ./${redactedAddress(given)}`;
  return new GraphformError(
    "state-address",
    `${redactedAddress(given)} is neither a URL of a state nor clearly a path`,
    { hint: spelling === undefined ? asPath : `write ${spelling}; ${asPath}` },
  );
}

/** The values of the path. Throws `state-address` for an escape that cannot be decoded. */
function decoded(store: StoreDescription<StateLocation>, url: URL, given: string): StoreValues {
  try {
    return store.readAddress(url, given);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw unreadableAddress(given, "it has a % that begins no escape");
  }
}

function parametersOf(
  { parameters, keys }: StoreDescription<StateLocation>,
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
function assertForms({ keys }: StoreDescription<StateLocation>, values: StoreValues, given: string): void {
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

/** The identity of a manifest, never an absolute path: working copies stand anywhere. Paths are unknown outside of Git. */
export function manifestIdentity(
  { environment }: Pick<Header, "environment">,
  files: readonly string[],
): ManifestIdentity {
  const paths = files.flatMap((file) => pathInRepository(file) ?? []);
  return {
    ...defined({ environment }),
    ...(paths.length === 0 || paths.length < files.length ? {} : { paths }),
  };
}

/** The folder of the repository that a folder belongs to; undefined if there is none. */
export function repositoryOf(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

function pathInRepository(file: string): string | undefined {
  try {
    const path = resolve(file);
    const folder = realpathSync(dirname(path));
    const root = repositoryOf(folder);
    return root === undefined
      ? undefined
      : relative(root, join(folder, basename(path))).replaceAll("\\", "/");
  } catch {
    // Its folder is not there: a text that no file holds yet.
    return undefined;
  }
}

/** @module Finds the location of a state: from --state, the environment, the manifest, or a file beside the manifest. */
import { isAbsolute, join } from "node:path";
import { type StoreType, storeTypes } from "../manifest/schema/state-shape.ts";
import { GraphformError } from "../model/errors.ts";
import type { Header } from "../model/manifest.ts";
import { targetOf } from "../state/state-file.ts";
import { addressOf, locationAt } from "./location-address.ts";
import type { Settings } from "./settings.ts";
import type { FileLocation, StateLocation } from "./state-location.ts";

/** The location of a manifest's state: that of --state, of GRAPHFORM_STATE, of the manifest, or the usual file beside it. */
export function locateState(
  header: Header,
  folder: string,
  given: string | undefined,
  settings: Settings,
): StateLocation {
  const named = given ?? settings.get("state");
  if (named !== undefined) return namedLocation(named, header);
  const type = typeOf(header.state);
  return type === "file" ? fileLocation(header, folder) : declaredLocation(header, type);
}

/**
 * The place that a path or a URL names. Where the manifest describes that very HTTP address, it is as described: a URL does not
 * say how it is locked. Throws `state-address`.
 */
export function namedLocation(named: string, header: Header): StateLocation {
  const place = locationAt(named, header.name);
  if (place.type !== "http" || typeOf(header.state) !== "http") return place;
  const declared = declaredLocation(header, "http");
  return declared.type === "http" && declared.address === place.address ? declared : place;
}

/** The usual file, or the one of `state.path`. That is relative to the current folder, like every path in a manifest. */
export function fileLocation({ name, state }: Header, folder: string): FileLocation {
  const { path } = state;
  if (typeof path === "string")
    return isAbsolute(path) ? { type: "file", path } : { type: "file", path, elsewhere: join(folder, path) };
  const usual = join(".graphform", `${name}.state.json`);
  return { type: "file", path: join(folder, usual), elsewhere: usual };
}

/** The location that the section declares for a type; what it leaves out has its default. */
export function declaredLocation({ name, state }: Header, type: Exclude<StoreType, "file">): StateLocation {
  const text = (key: string): { readonly [key: string]: string } => {
    const value = state[key];
    return typeof value === "string" ? { [key]: value } : {};
  };
  const texts = (keys: readonly string[]): { readonly [key: string]: string } =>
    Object.assign({}, ...keys.map(text));
  if (type === "http") {
    const methods = ["lockMethod", "unlockMethod", "updateMethod", "dialect"];
    return { type, address: "", ...texts(["address", "lockAddress", "unlockAddress", ...methods]) };
  }
  if (type === "s3") {
    const { pathStyle } = state;
    return {
      ...{ type, bucket: "", key: `${name}.state.json`, ...texts(["bucket", "key", "region", "endpoint"]) },
      ...(typeof pathStyle === "boolean" ? { pathStyle } : {}),
    };
  }
  const { port } = state;
  return {
    ...{ type, name, ...texts(["name", "host", "database", "schema", "sslmode", "sslrootcert"]) },
    ...(typeof port === "number" ? { port } : {}),
  };
}

/** The text that is equal for equal locations. A relative path counts from the current folder, and a link for what it leads to. */
export async function placeOf(location: StateLocation): Promise<string> {
  return location.type === "file" ? targetOf(location.path) : addressOf(location);
}

/** Throws `state-shared` where another manifest keeps its state in the same place. Both are files or folders, for the message. */
export function assertOwnState(other: string | undefined, manifest: string, place: string): void {
  if (other === undefined) return;
  throw new GraphformError(
    "state-shared",
    `${other} and ${manifest} keep their states in one place, ${place}: each would change what the other has made`,
    { hint: "give each manifest a name of its own, or a place of its own in its state section" },
  );
}

function typeOf(section: Header["state"]): StoreType {
  const said = section["type"] ?? section["backend"];
  return storeTypes.find((type) => type === said) ?? "file";
}

/** @module Finds the location of a state: from --state, the environment, the manifest, or a file beside the manifest. */
import { isAbsolute, join } from "node:path";
import { GraphformError } from "../model/errors.ts";
import type { Header } from "../model/manifest.ts";
import type { FileLocation } from "../model/stores/file.ts";
import { type StateLocation, type StoreType, stores } from "../model/stores/index.ts";
import { targetOf } from "../state/state-file.ts";
import { addressOf, locationAt, typeOf } from "./location-address.ts";
import type { Settings } from "./settings.ts";

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
 * The place that a path or a URL names. If the manifest describes that very address, it is as described: a URL does not
 * say how an HTTP address is locked. Throws `state-address`.
 */
export function namedLocation(named: string, header: Header): StateLocation {
  const place = locationAt(named, header.name);
  if (place.type === "file" || typeOf(header.state) !== place.type) return place;
  const declared = declaredLocation(header, place.type);
  return addressOf(declared) === addressOf(place) ? declared : place;
}

/** The usual file, or the one of `state.path`. That is relative to the current folder, like every path in a manifest. */
export function fileLocation({ name, state }: Header, folder: string): FileLocation {
  const { path } = state;
  if (typeof path === "string")
    return isAbsolute(path) ? { type: "file", path } : { type: "file", path, elsewhere: join(folder, path) };
  const usual = join(".graphform", `${name}.state.json`);
  return { type: "file", path: join(folder, usual), elsewhere: usual };
}

/** The location that the section declares for a shared store; what it leaves out has its default. */
export function declaredLocation({ name, state }: Header, type: StoreType): StateLocation {
  return stores[type].locate(state, name);
}

/** The text that is equal for equal locations. A relative path counts from the current folder, and a link for what it leads to. */
export async function placeOf(location: StateLocation): Promise<string> {
  return location.type === "file" ? targetOf(location.path) : addressOf(location);
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

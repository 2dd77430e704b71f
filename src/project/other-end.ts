/** @module Finds the other end of a move and the credentials for it, and sends none to a host that nobody here has named. */
import { storeTypes } from "../manifest/schema/state-shape.ts";
import { GraphformError } from "../model/errors.ts";
import type { Header } from "../model/manifest.ts";
import type { SettingKey } from "./environment-variables.ts";
import { declaredLocation, namedLocation } from "./locate-state.ts";
import type { Settings } from "./settings.ts";
import { httpCredentials, type Side } from "./state-credentials.ts";
import type { StateLocation } from "./state-location.ts";

/** A location with the side whose credentials are meant for it. */
export interface OtherEnd {
  readonly location: StateLocation;
  readonly side: Side;
}

/**
 * The credentials for the other end of a move: those of GRAPHFORM_STATE_TO_* where they are set. Those of one end never go to
 * another HTTP host.
 */
export function sideOf(from: StateLocation, to: StateLocation, settings: Settings): Side {
  const others: readonly SettingKey[] =
    to.type === "postgres" ? ["stateToPostgresUrl"] : ["stateToUsername", "stateToPassword", "stateToToken"];
  if (others.some((key) => settings.get(key) !== undefined)) return "stateTo";
  const [old, fresh] = [from, to].map((location) =>
    location.type === "http" ? URL.parse(location.address)?.origin : undefined,
  );
  return old !== undefined && fresh !== undefined && old !== fresh ? "stateTo" : "state";
}

/**
 * The place at an address that a stored document names, to be read and never locked. Whoever can write to a store can put any
 * address there: throws `state-host` where credentials would go to a host that neither the manifest nor the environment names.
 * A signature for S3 holds no secret.
 */
export function otherEnd(address: string, own: StateLocation, settings: Settings, header: Header): OtherEnd {
  const named = namedLocation(address, header);
  // The address of a lock is not part of it, and the protocol wants one.
  const location = named.type === "http" ? { lockAddress: named.address, ...named } : named;
  const side = sideOf(own, location, settings);
  const host = hostOf(location);
  const isSecret = location.type !== "http" || httpCredentials(location, settings, side).value !== undefined;
  if (host === undefined || !isSecret || hostsNamed(own, settings, header).includes(host))
    return { location, side };
  throw new GraphformError("state-host", `neither the manifest nor the environment names ${host}`);
}

/** The host that a location's credentials go to, of HTTP with scheme and port; undefined where none do, or where the environment names it. */
function hostOf(location: StateLocation): string | undefined {
  if (location.type === "http") return URL.parse(location.address)?.origin ?? location.address;
  return location.type === "postgres" ? location.host : undefined;
}

function hostsNamed(own: StateLocation, settings: Settings, header: Header): readonly string[] {
  const declared = storeTypes.flatMap((type) => (type === "file" ? [] : [declaredLocation(header, type)]));
  const given = settings.get("state");
  const places = [own, ...declared, ...(given === undefined ? [] : [namedLocation(given, header)])];
  const urls = [settings.get("statePostgresUrl"), settings.get("stateToPostgresUrl")];
  const hosts = urls.map((url) => URL.parse(url ?? "")?.hostname.replace(/^\[(.*)\]$/, "$1"));
  const api = URL.parse(settings.get("ciApiV4Url") ?? "")?.origin;
  const all = [...places.map(hostOf), ...hosts, settings.get("pgHost"), api];
  return all.filter((host): host is string => host !== undefined && host !== "");
}

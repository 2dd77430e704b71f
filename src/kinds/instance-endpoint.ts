/** @module Reads the address of a database from a describe answer. */
import { answerValues } from "../hosting/wire/answer-values.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Profile, TopologyRules } from "../model/profile.ts";
import type { Values } from "./wire.ts";

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * Finds the address of a database: host and port as describe shows them, or both of one entry of its topology, chosen by
 * the profile's rules whatever the order of the entries. A host that could carry credentials is no host: monitoring shows
 * its own address as `user:password@host`.
 */
export function endpointOf(values: Values, { topology }: Pick<Profile, "topology">): Endpoint | undefined {
  const shown = addressOf(values["host"], values["port"]);
  if (shown !== undefined || topology === undefined) return shown;
  const candidates = entriesOf(values["topology"])
    .flatMap(([key, entry]) => candidate(key, entry, topology, values["networkType"]))
    .toSorted((left, right) => (left.rank < right.rank ? -1 : 1));
  return candidates[0]?.address;
}

/** The outputs that a database without an address lacks, each with what the service leaves out. */
export function missingEndpoint(
  values: Values,
  profile: Pick<Profile, "topology">,
): { readonly [output: string]: string } {
  const gap = endpointGap(values, profile);
  return { host: gap, port: gap, endpoint: gap };
}

/** The missing part: the port beside a host, or both. A host that may contain credentials is not repeated. */
function endpointGap(values: Values, { topology }: Pick<Profile, "topology">): string {
  const shown = hostOf(values["host"]);
  if (shown !== undefined) return `the service shows the host ${shown} and no port for it`;
  const entries = topology === undefined ? [] : entriesOf(values["topology"]);
  const gaps = entries.flatMap(([key, entry]) => {
    const { host, port, never } = topology ?? { host: [], port: [], never: {} };
    const named = { ...entry, resourceKey: entry["resourceKey"] ?? key };
    const found = hostOf(answerValues(entry, { host })["host"]);
    if (found === undefined || isNever(named, { never })) return [];
    const where = entryName(named.resourceKey);
    return [
      `the service shows the host ${found} in ${where} and no usable port for it (${[port].flat().join(", ")})`,
    ];
  });
  return gaps.toSorted()[0] ?? "the service shows no address of it";
}

interface Candidate {
  /** The smallest one is taken. */
  readonly rank: string;
  readonly address: Endpoint;
}

function candidate(
  key: string,
  entry: JsonObject,
  rules: TopologyRules,
  networkType: Json | undefined,
): readonly Candidate[] {
  const { host, port, networkingType: type, first = "" } = rules;
  const read = answerValues(entry, { host, port, type, first: [first] });
  const address = addressOf(read["host"], read["port"]);
  if (address === undefined || isNever({ ...entry, resourceKey: entry["resourceKey"] ?? key }, rules))
    return [];
  const wanted = typesFor(networkType, rules);
  const given = typeof read["type"] === "string" ? read["type"].toUpperCase() : undefined;
  if (wanted !== undefined && given !== undefined && !wanted.includes(given)) return [];
  // Without a networkType of the instance, a public address is the one that can be reached from here.
  const ranks = [read["first"] === true, given === undefined || given === "PUBLIC"];
  const rank = [...ranks.map((isBetter) => (isBetter ? "0" : "1")), address.host, address.port].join(" ");
  return [{ rank, address }];
}

/** True for an entry that is none of the database's, by the rules of the profile. */
export function isNever(entry: JsonObject, { never }: Pick<TopologyRules, "never">): boolean {
  return Object.entries(never).some(([path, pattern]) => {
    const { value } = answerValues(entry, { value: [path] });
    return (
      value !== undefined &&
      !isObject(value) &&
      new RegExp(pattern, "i").test(String(value).slice(0, longest))
    );
  });
}

/** Length up to which a value is matched with a profile's pattern, in characters: a pattern may be slow on a long one. */
const longest = 200;

function typesFor(networkType: Json | undefined, rules: TopologyRules): readonly string[] | undefined {
  const wanted = typeof networkType === "string" ? networkType.toUpperCase() : "";
  const found = Object.entries(rules.networkingTypes).find(([name]) => name.toUpperCase() === wanted);
  return found?.[1].map((type) => type.toUpperCase());
}

/** Host and port if both are what they have to be. */
export function addressOf(host: Json | undefined, port: Json | undefined): Endpoint | undefined {
  const number = typeof port === "number" || typeof port === "string" ? Number(port) : Number.NaN;
  const safe = hostOf(host);
  return safe !== undefined && Number.isInteger(number) && number > 0 && number < 65_536
    ? { host: safe, port: number }
    : undefined;
}

function hostOf(host: Json | undefined): string | undefined {
  return typeof host === "string" && /^[^\s@%/?#\\,;"'<>]+$/.test(host) ? host : undefined;
}

function entryName(key: Json | undefined): string {
  return typeof key === "string" && /^[\w.-]{1,80}$/.test(key)
    ? `the entry ${key}`
    : "an entry of its topology";
}

export function entriesOf(topology: Json | undefined): readonly (readonly [string, JsonObject])[] {
  const entries = Array.isArray(topology)
    ? topology.map((entry): [string, Json] => ["", entry])
    : Object.entries(isObject(topology) ? topology : {});
  return entries.flatMap(([key, entry]) => (isObject(entry) ? [[key, entry] as const] : []));
}

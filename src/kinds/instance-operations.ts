/** @module Reads the nodes and the address of an instance from its topology, and makes the requests of operations on it. */
import { answerValues, type Values } from "../hosting/wire/spelling.ts";
import { GraphformError } from "../model/errors.ts";
import { defined, isObject, type Json, type JsonObject, objectsIn, own } from "../model/json.ts";
import type { Choices } from "../model/kind.ts";
import type { Ref } from "../model/observed.ts";
import type { Profile, Reads, TopologyRules } from "../model/service.ts";

/** Path parameters of a component: the keys that the profile has for a tier and a component. */
export function instanceParams(place: JsonObject, profile: Profile): { readonly [name: string]: string } {
  const tier = own(profile.tiers, String(place["tier"]));
  const resourceKey = own(tier?.components ?? {}, String(place["component"]));
  if (tier === undefined || resourceKey === undefined) {
    throw new GraphformError(
      "profile-component",
      `profile ${profile.name} has no component "${String(place["component"])}" of tier "${String(place["tier"])}"`,
      { hint: "graphform profile show lists what it has" },
    );
  }
  return { serviceModelKey: tier.serviceModelKey, productTierKey: tier.productTierKey, resourceKey };
}

const defaultAction = "FAILOVER_AND_RESTART";

export interface Failover {
  readonly body: JsonObject;
  /** Key of the resource that the node belongs to, for services whose path names it; undefined if none is shown. */
  readonly nodeResourceKey: string | undefined;
}

/** Asks the database at an address for its role; undefined if it cannot be asked or does not say. */
export type AskRole = (address: Endpoint) => Promise<"primary" | "replica" | undefined>;

/**
 * The failover of an instance. Without a named node it gives up the first one that is unwell, otherwise the primary: as the service
 * says, or as the databases themselves say if the service does not. Throws `no-replica` if nothing is there to fail over to, and
 * `primary-unknown` unless exactly one node is the primary: to give up a replica would not help.
 */
export async function failoverOf(
  id: string,
  topology: Json | undefined,
  choices: Choices,
  askRole: AskRole,
  rules: Pick<TopologyRules, "never"> = { never: {} },
): Promise<Failover> {
  const nodes = nodesOf(topology, rules);
  const named = choices["replica"];
  const names = nodes.map((node) => node.id).join(", ");
  const noReplica = (message: string, hint: string): GraphformError =>
    new GraphformError("no-replica", message, { hint });
  if (nodes.length === 1 && named === undefined)
    throw noReplica(
      `${id} has one node and nothing to fail over to`,
      "components with replicas are single-zone and multi-zone",
    );
  if (nodes.length === 0 && named === undefined)
    throw noReplica(
      `the service does not show the nodes of ${id}`,
      "name the node to give up with --replica ID",
    );
  const chosen = nodes.find(({ isUnwell }) => isUnwell) ?? nodes.find(({ isPrimary }) => isPrimary);
  const given = named ?? chosen?.id ?? (await primaryByRole(id, nodes, askRole));
  const node = nodes.find((candidate) => candidate.id === given);
  if (nodes.length > 0 && node === undefined)
    throw noReplica(`${id} has no node "${given}"`, `it has: ${names}`);
  return {
    body: { failedReplicaId: given, failedReplicaAction: choices["action"] ?? defaultAction },
    nodeResourceKey: node?.resourceKey,
  };
}

async function primaryByRole(id: string, nodes: readonly Node[], askRole: AskRole): Promise<string> {
  const roles = await Promise.all(
    nodes.map(async ({ address }) => (address === undefined ? undefined : askRole(address))),
  );
  const [primary, ...others] = nodes.filter((_, at) => roles[at] === "primary");
  if (primary !== undefined && others.length === 0) return primary.id;
  const said = nodes.map((node, at) => `${node.id} ${roles[at] ?? "does not say"}`).join(", ");
  throw new GraphformError(
    "primary-unknown",
    `neither the service nor the databases say which node of ${id} is the primary (${said}), and none is unwell`,
    { hint: "name the node to give up with --replica ID" },
  );
}

interface Node {
  readonly id: string;
  readonly address: Endpoint | undefined;
  readonly isPrimary: boolean;
  readonly isUnwell: boolean;
  readonly resourceKey: string | undefined;
}

/**
 * The database's nodes, wherever they stand: those of the main resource, or, if that has none, of what computes. Jobs,
 * sentinels and whatever watches the database have nodes that are no replicas of it; what has no address of the database by the
 * profile's rules has none either.
 */
function nodesOf(topology: Json | undefined, rules: Pick<TopologyRules, "never">): readonly Node[] {
  const resources = entriesOf(topology)
    .filter(([key, entry]) => !isNever({ ...entry, resourceKey: entry["resourceKey"] ?? key }, rules))
    .map(([, entry]) => entry);
  const ofMain = resources.filter((resource) => resource["main"] === true).flatMap(nodesIn);
  return ofMain.length > 0 ? ofMain : resources.filter(isDatabase).flatMap(nodesIn);
}

/** The addresses of the nodes of a database; undefined for a node that the service shows without one. */
export function nodeAddresses(
  topology: Json | undefined,
  rules: Pick<TopologyRules, "never"> = { never: {} },
): readonly (Endpoint | undefined)[] {
  return nodesOf(topology, rules).map(({ address }) => address);
}

function isDatabase(resource: JsonObject): boolean {
  const name = [resource["resourceKey"], resource["resourceName"]].map(String).join(" ").toLowerCase();
  const isHelper = ["sentinel", "observ", "rebalance"].some((word) => name.includes(word));
  return resource["hasCompute"] !== false && resource["isJob"] !== true && !isHelper;
}

function nodesIn(resource: JsonObject): readonly Node[] {
  const { nodes, resourceKey } = resource;
  const key = typeof resourceKey === "string" && resourceKey !== "" ? resourceKey : undefined;
  return objectsIn(nodes).flatMap((node) => nodeOf(node, key));
}

function nodeOf(node: JsonObject, resourceKey: string | undefined): readonly Node[] {
  const word = (key: string): string => String(node[key] ?? "").toUpperCase();
  const id = node["id"];
  if (typeof id !== "string" || id === "") return [];
  const isUnwell = word("healthStatus") === "UNHEALTHY" || word("status") === "FAILED";
  const isPrimary = ["PRIMARY", "MASTER", "LEADER"].includes(word("role"));
  const [port] = Array.isArray(node["ports"]) ? node["ports"] : [];
  return [{ id, address: addressOf(node["endpoint"], port), isPrimary, isUnwell, resourceKey }];
}

/** The values of an instance as the service describes it now. */
export async function describedValues(
  service: Reads,
  { id, place }: Ref,
  signal: AbortSignal,
): Promise<Values> {
  const params = { ...instanceParams(place, service.profile), id };
  return (await service.read({ operation: "instance.describe", params }, signal)).values;
}

/** The body of a version upgrade: the seven keys that the paths of an instance are made of, and the version. */
export function upgradeBody(
  params: { readonly [name: string]: string },
  { version }: Choices,
  { keys }: Profile,
): JsonObject {
  return {
    serviceProviderId: keys["provider"] ?? "",
    serviceKey: keys["service"] ?? "",
    serviceAPIVersion: "v1",
    serviceEnvironmentKey: "prod",
    serviceModelKey: params["serviceModelKey"] ?? "",
    productTierKey: params["productTierKey"] ?? "",
    resourceKey: params["resourceKey"] ?? "",
    ...defined({ targetVersion: version }),
  };
}

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

/** An address that can be taken; the one with the smallest rank is. */
function candidate(key: string, entry: JsonObject, rules: TopologyRules, networkType: Json | undefined) {
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

function isNever(entry: JsonObject, { never }: Pick<TopologyRules, "never">): boolean {
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

function addressOf(host: Json | undefined, port: Json | undefined): Endpoint | undefined {
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

function entriesOf(topology: Json | undefined): readonly (readonly [string, JsonObject])[] {
  const entries = Array.isArray(topology)
    ? topology.map((entry): [string, Json] => ["", entry])
    : Object.entries(isObject(topology) ? topology : {});
  return entries.flatMap(([key, entry]) => (isObject(entry) ? [[key, entry] as const] : []));
}

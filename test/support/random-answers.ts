import type { Json, JsonObject } from "../../src/model/json.ts";
import { type Habits, shuffled } from "./random-habits.ts";

/** An object at the service. */
export interface Held {
  readonly id: string;
  readonly tier: string;
  readonly resource: string;
  readonly subscription: string;
  /** ISO 8601. */
  readonly createdAt: string;
  params: JsonObject;
  tags: Json;
  /** Looks that still show the passing status. */
  passing: number;
  status: string;
  isLeaving: boolean;
}

/** Text that stands in answers and must never get anywhere. */
export const leaks: RegExp = /obs-pw-|@metrics|@node\.|@example|echoed-pw/;

/** The address that clients of an instance use. */
export function addressOf(id: string): { readonly host: string; readonly port: number } {
  return { host: `node.${id}.example.com`, port: 6379 + (id.length % 3) };
}

/** An object with what else the service says of it. */
export function beside(habits: Habits, fields: JsonObject): JsonObject {
  const more = { somethingNew: { deep: [1, null, { a: "b" }] }, __weird__: null, "": "" };
  return { ...fields, ...(habits.unknown ? more : {}) };
}

/** The answer of a list. */
export function listAnswer(habits: Habits, key: string, items: readonly Json[]): JsonObject {
  const token = habits.page === "absent" ? {} : { nextPageToken: habits.page === "null" ? null : "" };
  const isThere = items.length > 0 || habits.emptyList !== "absent";
  const list = items.length === 0 && habits.emptyList === "null" ? null : items;
  return beside(habits, { ...(isThere ? { [key]: list } : {}), ...token });
}

/** The describe answer of an instance. */
export function described(habits: Habits, held: Held): JsonObject {
  const isPassing = held.passing > 0;
  const status = held.isLeaving ? "DELETING" : isPassing ? habits.passingStatus : held.status;
  const params = habits.numbersAsText ? asTexts(held.params) : held.params;
  const isEarly = isPassing && habits.launch;
  return beside(habits, {
    id: held.id,
    status: habits.lowercase ? status.toLowerCase() : status,
    cloud_provider: "aws",
    region: "us-east-1",
    network_type: habits.nulls ? null : "PUBLIC",
    ...(habits.times ? { created_at: held.createdAt } : {}),
    ...(habits.subscription ? { subscriptionId: held.subscription } : {}),
    ...(habits.resource ? { resourceID: `r-${held.tier}-${held.resource}` } : {}),
    result_params: isEarly ? null : params,
    ...(isEarly ? { launch_input_params: params } : {}),
    ...tagsOf(habits, held),
    detailedNetworkTopology: topologyOf(habits, held.id),
    ...(habits.nulls ? { customNetworkDetail: null, backupStatus: null, maintenanceTasks: null } : {}),
  });
}

function asTexts(params: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(params).map(([key, value]) => [key, String(value)]));
}

function tagsOf({ tags: where }: Habits, { tags }: Held): JsonObject {
  return {
    ...(where === "metadata" ? {} : { customTags: tags }),
    ...(where === "top" ? {} : { resourceInstanceMetadata: { deletionProtection: false, customTags: tags } }),
  };
}

/** The entries of an instance in any order: one of them is the database's. */
function topologyOf(habits: Habits, id: string): Json {
  const { host, port: number } = addressOf(id);
  const port: Json = habits.numbersAsText ? String(number) : number;
  const entry = (resourceKey: string, more: JsonObject): JsonObject =>
    beside(habits, {
      resourceKey,
      resourceName: resourceKey,
      main: false,
      hasCompute: true,
      networkingType: "PUBLIC",
      publiclyAccessible: true,
      clusterEndpoint: "",
      clusterPorts: habits.nulls ? null : [],
      ...(habits.nulls ? { nodes: null, additionalEndpoints: null, isJob: null } : {}),
      ...more,
    });
  const at = (clusterEndpoint: string, ...clusterPorts: Json[]): JsonObject => ({
    clusterEndpoint,
    clusterPorts,
  });
  const entries = [
    entry("omnistrateobserv", at(`watch:obs-pw-${id}@metrics.example.com`, 443)),
    entry("observ-x", { main: true, ...at(`u:obs-pw-${id}@${host}`, port) }),
    entry("main", { main: true, hasCompute: false }),
    entry("node", { ...at(host, port, 16379), nodes: [{ id: "node-s-0", status: "RUNNING" }] }),
    entry("node-in", { networkingType: "INTERNAL", ...at(`inner.${id}.example.com`, port) }),
    entry("sentinel-sz", at(`sentinel.${id}.example.com`, 26379)),
    entry("a-rebalance-job", { isJob: true, ...at(`job.${id}.example.com`, port) }),
    entry("zz", at("a:echoed-pw@example.org", port)),
  ];
  if (habits.topology === "list") return shuffled(entries);
  return Object.fromEntries(shuffled(entries).map((value) => [`r-${Math.random()}`, value]));
}

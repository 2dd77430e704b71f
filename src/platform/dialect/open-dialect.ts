/** @module Chooses the dialect of a data folder, remembers it there, and makes that of FalkorDB Cloud from its service profile. */
import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../files/atomic-write.ts";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import { readProfile } from "../model/instance-types.ts";
import { type Component, type Plan, type PlanResource, plans } from "../model/plans.ts";
import type { Store } from "../model/records.ts";
import { type Dialect, type DialectName, dialectNames } from "./dialect.ts";

/** The requested or the folder's dialect. Throws if the folder has records of another one: all would seem to be gone. */
export async function openDialect(
  dataDir: string,
  store: Store,
  asked: DialectName | undefined,
): Promise<Dialect> {
  const file = join(dataDir, "control", "profile");
  const written = (await readFile(file, "utf8").catch(() => "")).trim();
  const before = dialectNames.find((name) => name === written) ?? "default";
  const name = asked ?? before;
  if (name !== before && Object.values(store).some((records) => records.list().length > 0))
    throw new Error(
      `${dataDir} contains records of the profile ${before}, not of ${name}; start it with --profile ${before}, or with another --data-dir`,
    );
  if (name === "default") await rm(file, { force: true });
  else if (name !== written) await writeAtomically(file, `${name}\n`);
  return name === "default" ? defaultDialect : falkordbCloud(await readProfile(name));
}

export const defaultDialect: Dialect = {
  name: "default",
  isVendors: false,
  provider: "sp-default",
  service: "graphdb",
  cookies: { session: "svc_token", refresh: "svc_refresh_token" },
  plans,
  params: { fields: {}, absent: [], ignored: [], required: {}, defaults: {} },
  updateMethods: ["PUT", "PATCH"],
  failover: {
    node: ["failed_replica_id", "failedReplicaID", "failedReplicaId"],
    action: ["failed_replica_action", "failedReplicaAction"],
  },
  copy: { region: ["target_region", "targetRegion"], source: ["source_snapshot_id", "sourceSnapshotId"] },
  snapshots: { statuses: {}, copyAnswer: ["snapshot_id", "snapshotId"] },
  settings: { echo: false, networks: "adopt-only", pageSize: Number.POSITIVE_INFINITY },
};

/** Keys, spellings and methods are those of `profile` (throws if one is missing); the rest is the vendor's. */
function falkordbCloud(profile: JsonObject): Dialect {
  const failover = textsAt(profile, "operations", "instance.failover", "body");
  const copy = textsAt(profile, "operations", "instance.copy-snapshot", "body");
  const wordOf = (words: { readonly [own: string]: string }, own: string): string => words[own] ?? own;
  const [updateMethod = "PATCH"] = requestOf(profile, "instance.update").split(" ");
  return {
    name: "falkordb-cloud",
    isVendors: true,
    provider: textAt(profile, "keys", "provider"),
    service: textAt(profile, "keys", "service"),
    cookies: {
      session: textAt(profile, "session", "tokenCookie"),
      refresh: textAt(profile, "session", "refreshCookie"),
    },
    plans: plans.map((plan) => planOf(plan, profile)),
    params: {
      fields: textsAt(profile, "fields"),
      absent: ["enableEnterpriseModule"],
      // The vendor's own tests send them to every component.
      ignored: ["storageSize", "hostCount", "clusterReplicas"],
      required: { graphdbPassword: plans.map(({ tier }) => tier), nodeInstanceType: ["pro"] },
      defaults: { graphdbUser: "falkordb" },
    },
    updateMethods: [updateMethod],
    failover: {
      // The vendor's portal sends another spelling than its API.
      node: [wordOf(failover, "failedReplicaId"), "failedReplicaId"],
      action: [wordOf(failover, "failedReplicaAction")],
    },
    copy: { region: [wordOf(copy, "targetRegion")], source: [wordOf(copy, "sourceSnapshotId")] },
    snapshots: { statuses: { completed: "COMPLETE", pending: "DEPLOYING" }, copyAnswer: ["snapshotId"] },
    settings: { echo: true, networks: "full", pageSize: 500 },
  };
}

/** `METHOD path` of an operation, from either form that a profile allows. */
function requestOf(profile: JsonObject, operation: string): string {
  return textsAt(profile, "operations")[operation] ?? textAt(profile, "operations", operation, "request");
}

/** Tiers that offer clusters. The vendor removed the clusters of pro; a profile may still name them. */
const clustered = ["enterprise-byoa", "enterprise"];

function planOf(plan: Plan, profile: JsonObject): Plan {
  const keys = textsAt(profile, "tiers", plan.tier, "components");
  return {
    ...plan,
    modelKey: textAt(profile, "tiers", plan.tier, "serviceModelKey"),
    tierKey: textAt(profile, "tiers", plan.tier, "productTierKey"),
    components: Object.entries(keys).flatMap(([id, key]) => {
      const own = plan.components.find((component) => component.id === id);
      if (own !== undefined) return [componentOf(plan.tier, own, key)];
      return clustered.includes(plan.tier) ? [clusterOf(plan.tier, id, key)] : [];
    }),
  };
}

/**
 * A component as the vendor's plans list it: customers choose a resource without nodes; the nodes are in a second resource, besides
 * sentinel, rebalance job and observability. Their order depends on their ids alone.
 */
function componentOf(tier: string, component: Component, key: string): Component {
  const [node = ""] = component.nodes;
  const zone = node.replace(/^node-|-\d+$/g, "");
  const beside: readonly Omit<PlanResource, "id">[] = [
    { key, name: component.name, part: "public", main: true },
    { key: `node-${zone}`, name: `node-${zone}`, part: "database", main: false },
    { key: "omnistrateobserv", name: "Omnistrate Observability", part: "observability", main: false },
    ...(component.nodes.length < 2
      ? []
      : ([
          { key: `sentinel-${zone}`, name: `sentinel-${zone}`, part: "sentinel", main: false },
          { key: `rebalance-${zone}`, name: `rebalance-${zone}`, part: "rebalance", main: false },
        ] as const)),
  ];
  const resources = beside
    .map((resource) => ({ ...resource, id: resourceId(tier, component.id, resource.key) }))
    .sort((one, other) => (one.id < other.id ? -1 : 1));
  return { ...component, key, resourceId: resourceId(tier, component.id, key), resources };
}

/** A listed component that this platform cannot run: it has no nodes. */
function clusterOf(tier: string, id: string, key: string): Component {
  return { id, key, name: key, nodes: [], resources: [], resourceId: resourceId(tier, id, key) };
}

function resourceId(...of: readonly string[]): string {
  return `r-${createHash("sha256").update(of.join("/")).digest("hex").slice(0, 10)}`;
}

function textAt(facts: JsonObject, ...path: readonly string[]): string {
  const found = valueAt(facts, path);
  if (typeof found === "string") return found;
  throw new Error(`the profile has no ${path.join(".")}`);
}

function textsAt(facts: JsonObject, ...path: readonly string[]): { readonly [key: string]: string } {
  const found = valueAt(facts, path);
  const entries = Object.entries(isObject(found) ? found : {});
  return Object.fromEntries(
    entries.flatMap(([key, value]): [string, string][] => (typeof value === "string" ? [[key, value]] : [])),
  );
}

function valueAt(facts: JsonObject, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, key) => (isObject(value) ? value[key] : undefined), facts);
}

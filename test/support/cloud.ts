import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import { type Listening, listen, type Reply, type Seen } from "../hosting/listen.ts";

type CloudTier = "enterprise-byoa" | "enterprise" | "pro" | "startup" | "free";

/** An instance of the vendor's service; its describe answer is made of `shown`. */
interface CloudInstance {
  readonly id: string;
  readonly tier: CloudTier;
  /** The service's own resource key. */
  readonly resource: string;
  readonly subscription?: string;
  readonly shown?: JsonObject;
}

/** Plans of the vendor as its service offering lists them: ids, keys, and the resources of each. */
const plans: { readonly [tier in CloudTier]: Plan } = {
  enterprise: plan(
    "falkordb-enterprise-customer-hosted",
    "falkordb-enterprise-falkordb-customer-hosted-model-omnistrate-dedicated-tenancy",
    ["standalone", "single-Zone", "multi-Zone", "cluster-Single-Zone", "cluster-Multi-Zone"],
  ),
  pro: plan(
    "falkordb-pro-customer-hosted",
    "falkordb-pro-falkordb-customer-hosted-model-omnistrate-dedicated-tenancy",
    ["standalone", "single-Zone", "multi-Zone", "cluster-Multi-Zone", "octopus"],
  ),
  startup: plan(
    "falkordb-startup-customer-hosted",
    "falkordb-startup-falkordb-customer-hosted-model-omnistrate-multi-tenancy",
    ["standalone"],
  ),
  free: plan(
    "falkordb-free-customer-hosted",
    "falkordb-free-falkordb-customer-hosted-model-omnistrate-multi-tenancy",
    ["free"],
  ),
  "enterprise-byoa": plan(
    "falkordb-enterprise-byoa-byoa",
    "falkordb-enterprise-byoa-falkordb-byoa-model-omnistrate-dedicated-tenancy",
    ["standalone", "single-Zone", "multi-Zone", "cluster-Single-Zone", "cluster-Multi-Zone"],
  ),
};

interface Plan {
  readonly model: string;
  readonly key: string;
  readonly resources: readonly string[];
}

function plan(model: string, key: string, resources: readonly string[]): Plan {
  return { model, key, resources };
}

/** What the service has, and how it misbehaves. Tests change it. */
interface CloudWorld {
  readonly instances: CloudInstance[];
  readonly users: Map<string, JsonObject[]>;
  subscriptions: JsonObject[];
  /** What a create of any resource takes. */
  apis: JsonObject[];
  /** Asked first; undefined leaves the answer to the service. */
  meddle: (seen: Seen) => Reply | undefined;
}

interface Cloud extends CloudWorld {
  readonly service: Listening;
  /** What a command needs to work with it. */
  readonly env: { readonly [name: string]: string };
}

const components = "/2022-09-01-00/resource-instance/sp-JvkxkPhinN/falkordb/v1/prod/";

/** One subscription of each plan, as `sub-TIER`. */
export function subscriptionsOf(...tiers: readonly string[]): JsonObject[] {
  return tiers.map((tier) => ({
    id: `sub-${tier}`,
    status: "ACTIVE",
    productTierId: `pt-${tier}`,
    roleType: "root",
    defaultSubscription: true,
  }));
}

/** The vendor's service in memory, as its public API description has it: no refresh token, a subscription for each plan. */
export async function startCloud(): Promise<Cloud> {
  const world: CloudWorld = {
    instances: [],
    users: new Map(),
    subscriptions: subscriptionsOf(...Object.keys(plans)),
    apis: [],
    meddle: () => undefined,
  };
  const service = await listen((seen) => world.meddle(seen) ?? answer(seen, world));
  const env = {
    GRAPHFORM_PLATFORM_URL: service.url,
    GRAPHFORM_USERS_URL: service.url,
    GRAPHFORM_USERNAME: "ada@example.com",
    GRAPHFORM_PASSWORD: "sign-in-pass-4711",
  };
  return Object.assign(world, { service, env });
}

/** A JWT that lives for an hour from now on. */
function jwt(now: number = Date.now(), life = 3600): string {
  const part = (value: Json): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const iat = Math.floor(now / 1000);
  return `${part({ alg: "none" })}.${part({ iat, exp: iat + life })}.signature`;
}

function answer(seen: Seen, world: CloudWorld): Reply {
  const [path = "", query = ""] = seen.url.split("?");
  const at = `${seen.method} ${path.replace("/2022-09-01-00/", "")}`;
  if (at === "POST resource-instance/user/signin") return { body: { token: jwt() } };
  if (at === "POST logout") return { status: 200 };
  if (at === "GET service-offering") return { body: offering() };
  if (/^GET service-offering\/s-1\/resource\//.test(at)) return { body: { apis: world.apis } };
  if (at === "GET subscription") return { body: { subscriptions: world.subscriptions } };
  if (at === "GET resource-instance/custom-network") return { body: { customNetworks: [] } };
  if (at === "GET resource-instance/snapshot") return { body: {} };
  if (at === "GET resource-instance") return { body: { resourceInstances: world.instances.map(described) } };
  if (path.startsWith("/v1/customer-ldap/")) return users(seen, path, query, world);
  if (path.startsWith(components))
    return component(seen, path.slice(components.length).split("/"), query, world);
  return refusal(404, "not_found", "no such path");
}

function component(seen: Seen, parts: readonly string[], query: string, world: CloudWorld): Reply {
  const [model, key, resource = "", id, verb] = parts;
  const tier = tierOf(model ?? "", key ?? "");
  if (resource === "accounts") return { body: { ids: [] } };
  if (tier === undefined) return refusal(404, "not_found", "no such plan");
  const here = world.instances.filter((entry) => entry.tier === tier && entry.resource === resource);
  if (id === undefined && seen.method === "GET") return { body: { ids: here.map((entry) => entry.id) } };
  if (id === undefined) return create(seen, tier, resource, query, world);
  const found = here.find((entry) => entry.id === id);
  if (found === undefined) return refusal(404, "not_found", `instance ${id} not found`);
  if (seen.method === "GET" && verb === undefined) return { body: described(found) };
  if (seen.method === "DELETE") world.instances.splice(world.instances.indexOf(found), 1);
  if (seen.method === "PATCH") world.instances[world.instances.indexOf(found)] = changed(found, seen);
  return { status: 202 };
}

/** An instance after an update, or after a change of its metadata. */
function changed(instance: CloudInstance, { body }: Seen): CloudInstance {
  const { shown = {} } = instance;
  const { requestParams, deletionProtection, ...top }: { readonly [name: string]: Json } = JSON.parse(body);
  const spread = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
  return {
    ...instance,
    shown: {
      ...shown,
      ...top,
      result_params: { ...spread(shown["result_params"]), ...spread(requestParams) },
      ...(deletionProtection === undefined ? {} : { resourceInstanceMetadata: { deletionProtection } }),
    },
  };
}

function create(seen: Seen, tier: CloudTier, resource: string, query: string, world: CloudWorld): Reply {
  const body: { readonly [name: string]: Json } = JSON.parse(seen.body);
  const id = `instance-${world.instances.length + 1}`;
  const { requestParams = {}, ...top } = body;
  const shown = { ...top, result_params: requestParams };
  const subscription = new URLSearchParams(query).get("subscriptionId") ?? "";
  world.instances.push({ id, tier, resource, subscription, shown });
  return { status: 202, body: { id } };
}

function users(seen: Seen, path: string, query: string, { instances, users: all }: CloudWorld): Reply {
  const id = path.split("/")[4] ?? "";
  const instance = instances.find((entry) => entry.id === id);
  const asked = new URLSearchParams(query).get("subscriptionId");
  if (instance === undefined || asked !== subscriptionOf(instance))
    return {
      status: 400,
      body: { statusCode: 400, error: "Bad Request", message: "Subscription ID mismatch" },
    };
  const own = all.get(id) ?? [];
  if (seen.method === "GET") return { body: { users: own } };
  if (seen.method === "POST") {
    const { username, acl }: { username: string; acl: string } = JSON.parse(seen.body);
    all.set(id, [...own, { username, acl }]);
  }
  return { body: { message: "done" } };
}

function subscriptionOf({ subscription, tier }: CloudInstance): string {
  return subscription ?? `sub-${tier}`;
}

/** The describe answer: the database behind a component without nodes, and what stands beside it. */
function described(instance: CloudInstance): JsonObject {
  const { id, tier, resource, shown } = instance;
  return {
    id,
    status: "RUNNING",
    cloud_provider: "aws",
    region: "us-east-1",
    network_type: "PUBLIC",
    created_at: "2026-01-01T00:00:00Z",
    last_modified_at: "2026-01-02T00:00:00Z",
    subscriptionId: subscriptionOf(instance),
    resourceID: `r-${tier}-${resource}`,
    detailedNetworkTopology: topologyOf(id),
    ...shown,
  };
}

/** Entries of one instance as the vendor's plans have them: one of them is the database's. */
export function topologyOf(id: string): { readonly [resource: string]: JsonObject } {
  const entry = (resourceKey: string, more: JsonObject): JsonObject => ({
    resourceKey,
    resourceName: resourceKey,
    main: false,
    hasCompute: true,
    networkingType: "PUBLIC",
    publiclyAccessible: true,
    clusterEndpoint: "",
    clusterPorts: [],
    ...more,
  });
  return {
    "r-aaa": entry("omnistrateobserv", {
      clusterEndpoint: "observer:obs-pw-4711@metrics.example.com",
      clusterPorts: [443],
    }),
    "r-main": entry("single-Zone", { main: true, hasCompute: false }),
    "r-node": entry("node-sz", {
      clusterEndpoint: `node.${id}.example.com`,
      clusterPorts: [6379],
      nodes: [{ id: "node-sz-0" }, { id: "node-sz-1" }],
    }),
    "r-private": entry("node-in", {
      networkingType: "INTERNAL",
      clusterEndpoint: `inner.${id}.example.com`,
      clusterPorts: [6380],
    }),
    "r-sentinel": entry("sentinel-sz", {
      clusterEndpoint: `sentinel.${id}.example.com`,
      clusterPorts: [26379],
    }),
    "r-job": entry("cluster-sz-rebalance", {
      isJob: true,
      clusterEndpoint: `job.${id}.example.com`,
      clusterPorts: [6379],
    }),
  };
}

function tierOf(model: string, key: string): CloudTier | undefined {
  const tiers: readonly CloudTier[] = ["enterprise", "pro", "startup", "free", "enterprise-byoa"];
  return tiers.find((tier) => plans[tier].model === model && plans[tier].key === key);
}

function offering(): JsonObject {
  const offerings = Object.entries(plans).map(([tier, { model, key, resources }]) => ({
    productTierID: `pt-${tier}`,
    productTierURLKey: key,
    serviceModelURLKey: model,
    resourceParameters: [
      ...resources.map((name) => ({ resourceId: `r-${tier}-${name}`, urlKey: name, name })),
      ...(tier === "enterprise-byoa"
        ? [{ resourceId: "r-injectedaccountconfig-1", urlKey: "accounts" }]
        : []),
    ],
  }));
  return { serviceIds: ["s-1"], services: [{ serviceId: "s-1", offerings }] };
}

function refusal(status: number, name: string, message: string): Reply {
  return { status, body: { name, id: "x", message, temporary: false, timeout: false, fault: false } };
}

/** @module Describes instances, their topology and the platform. */
import { defined, type JsonObject, mapped, textIn } from "../../model/json.ts";
import { restorePoints } from "../control/new-instance.ts";
import type { Core } from "../core.ts";
import { componentOfRecord, dialectParams, subscriptionOf } from "../dialect/dialect.ts";
import { type PlanResource, versionOf } from "../model/plans.ts";
import {
  firstUserOf,
  generatedPassword,
  type InstanceRecord,
  type NodeRecord,
  observerPassword,
} from "../model/records.ts";

/**
 * A described instance. With `echo`, result_params contains the request parameters as strings, the password in clear, as the
 * real service does. A generated password is always shown, since the client has no other way to know it.
 */
export function describeInstance(parts: Core, record: InstanceRecord): JsonObject {
  const { isVendors } = parts.dialect;
  return {
    id: record.id,
    status: record.status,
    cloud_provider: record.cloudProvider,
    region: record.region,
    network_type: record.networkType,
    ...networkOf(parts, record),
    created_at: record.createdAt,
    [isVendors ? "last_modified_at" : "last_modified"]: record.lastModified,
    result_params: dialectParams(parts.dialect, resultParams(parts, record)),
    ...(record.isAccount ? {} : { detailedNetworkTopology: topologyOf(parts, record) }),
    ...(parts.settings.echo || isVendors ? moreOf(parts, record) : {}),
    ...(isVendors
      ? { tierVersion: versionOf(record), active: true, highAvailability: record.nodes.length > 1 }
      : {}),
    ...(isVendors ? backupsOf(parts, record) : {}),
  };
}

function networkOf({ dialect, store }: Core, { customNetworkId }: InstanceRecord): JsonObject {
  if (customNetworkId === undefined) return {};
  if (!dialect.isVendors) return { custom_network: customNetworkId };
  const { name = "", cidr = "" } = store.networks.get(customNetworkId) ?? {};
  return { customNetworkDetail: { id: customNetworkId, name, cidr } };
}

function resultParams(parts: Core, record: InstanceRecord): JsonObject {
  const { echo } = parts.settings;
  const { host, port } = addressOf(record) ?? {};
  const { numReplicas: _, ...asked } = record.params;
  return {
    ...(echo || record.isAccount ? mapped(asked, String) : {}),
    ...(parts.dialect.isVendors ? {} : defined({ graphdbHostname: host, graphdbPort: port })),
    ...(host !== undefined && !Object.hasOwn(record.params, "graphdbPassword")
      ? { graphdbUser: firstUserOf(record), graphdbPassword: generatedPassword(record.id, parts.key) }
      : {}),
    ...defined({ cloud_provider_account_config_id: record.accountConfigId }),
  };
}

/** Host and port of the primary, once the database was started. */
function addressOf({ host, nodes }: InstanceRecord) {
  const primary = nodes.find((node) => node.role === "primary");
  return host === undefined || primary === undefined ? undefined : { host, port: primary.port };
}

function moreOf({ dialect }: Core, record: InstanceRecord): JsonObject {
  return {
    last_modified_at: record.lastModified,
    resourceID: componentOfRecord(dialect, record)?.resourceId ?? record.resourceId,
    subscriptionId: record.subscriptionId ?? subscriptionOf(record),
    customTags: record.customTags,
    resourceInstanceMetadata: { deletionProtection: record.deletionProtection },
    ...defined({ sourceSnapshotID: record.sourceSnapshotId }),
  };
}

/** The times that an instance can be restored to. The retention is 0 days: this platform never deletes snapshots on its own. */
function backupsOf(parts: Core, record: InstanceRecord): JsonObject {
  const points = restorePoints(parts, record);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return {};
  return {
    backupStatus: {
      backupPeriodInHours: Math.ceil(parts.settings.snapshotInterval / 3_600_000),
      backupRetentionInDays: 0,
      earliestRestoreTime: new Date(first.time).toISOString(),
      lastBackupTime: new Date(last.time).toISOString(),
    },
  };
}

type TopologyParts = Pick<Core, "dialect" | "key">;

/** Resources of an instance by id: the endpoint of the database, the node ids for failover, and the auxiliary services. */
export function topologyOf(parts: TopologyParts, record: InstanceRecord): JsonObject {
  const resources = componentOfRecord(parts.dialect, record)?.resources ?? [];
  return Object.fromEntries(
    resources.map((resource) => [resource.id, describeResource(parts, record, resource)]),
  );
}

function describeResource(parts: TopologyParts, record: InstanceRecord, resource: PlanResource): JsonObject {
  const isPublic = record.networkType === "PUBLIC" && resource.part !== "rebalance";
  const isDatabase = resource.part === "database";
  const { clusterEndpoint, clusterPorts } = endpointOf(parts, record, resource);
  return {
    resourceKey: resource.key,
    resourceName: resource.name,
    main: resource.main,
    hasCompute: resource.part !== "public",
    ...(resource.part === "rebalance" ? { isJob: true } : {}),
    networkingType: isPublic ? "PUBLIC" : "INTERNAL",
    publiclyAccessible: isPublic,
    clusterEndpoint,
    clusterPorts,
    ports: clusterPorts,
    nodeEndpoints:
      isDatabase && record.host !== undefined ? record.nodes.map(({ port }) => `${record.host}:${port}`) : [],
    allowedIPRanges: ["127.0.0.0/8"],
    ...(record.failure === undefined || !isDatabase
      ? {}
      : { recentDeploymentFailure: { failedAt: record.failure.at, failureReason: record.failure.reason } }),
    nodes: isDatabase ? record.nodes.map((node) => describeNode(parts, node, record)) : [],
  };
}

/** Hosts of auxiliary services end in `.invalid`, which never resolves. */
function endpointOf(parts: TopologyParts, record: InstanceRecord, { part, key }: PlanResource) {
  const address = addressOf(record);
  if (address === undefined || part === "public" || part === "rebalance")
    return { clusterEndpoint: "", clusterPorts: [] };
  if (part === "database") return { clusterEndpoint: address.host, clusterPorts: [address.port] };
  const host = `${key}.${record.id}.invalid`;
  return part === "sentinel"
    ? { clusterEndpoint: host, clusterPorts: [26_379] }
    : {
        clusterEndpoint: `observer:${observerPassword(record.id, parts.key)}@${host}:443`,
        clusterPorts: [443],
      };
}

function describeNode({ dialect }: TopologyParts, node: NodeRecord, record: InstanceRecord): JsonObject {
  // During an operation the nodes are not looked at; a repair shows which of them are down.
  const isUnderRepair = record.status === "RESTARTING" && record.operation === undefined;
  const isLooked = ["RUNNING", "BACKING_UP"].includes(record.status) || isUnderRepair;
  const isUp = isLooked && node.isDown !== true;
  return {
    id: node.id,
    endpoint: record.host ?? "",
    ports: [node.port],
    availabilityZone: `${record.region}${record.component === "multi-zone" && !node.id.endsWith("0") ? "b" : "a"}`,
    status: record.status,
    healthStatus: isUp ? "HEALTHY" : record.status === "STOPPED" ? "STOPPED" : "UNHEALTHY",
    ...(dialect.isVendors ? {} : { role: node.role }),
  };
}

/** Status of the platform, without parameters and secrets. */
export function platformStatus(core: Core): JsonObject {
  const { name, version, why } = core.databases.engine;
  return {
    engine: { name, version, why },
    dataDir: core.settings.dataDir,
    pid: process.pid,
    instances: core.store.instances.list().map((record) => {
      const address = addressOf(record);
      return {
        id: record.id,
        name: textIn(record.params["name"]) ?? "",
        status: record.status,
        operation: record.operation?.name ?? "",
        tier: record.tier,
        component: record.component,
        cloudProvider: record.cloudProvider,
        region: record.region,
        endpoint: address === undefined ? "" : `${address.host}:${address.port}`,
        nodes: record.nodes.map(({ id, port, role, isDown = false }) => ({ id, port, role, isDown })),
        createdAt: record.createdAt,
        lastModified: record.lastModified,
        failure: record.failure?.reason ?? "",
      };
    }),
    snapshots: core.store.snapshots.list().length,
    networks: core.store.networks.list().length,
    storage: core.trouble.report(),
    events: core.events
      .recent()
      .slice(0, 100)
      .map((event) => ({ ...event })),
  };
}

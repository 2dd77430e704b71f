/** @module Describes the resources of an instance with their endpoints and nodes. */
import { createHmac } from "node:crypto";
import type { JsonObject } from "../../../model/json.ts";
import { componentOfRecord, type Dialect } from "../../dialect/dialect.ts";
import type { PlanResource } from "../../model/plans.ts";
import type { InstanceRecord, NodeRecord } from "../../model/records.ts";

/** The parts of the platform that a topology is made from. */
export interface TopologyParts {
  readonly dialect: Dialect;
  /** The password of an instance's observability endpoint. */
  readonly observerPassword: (instanceId: string) => string;
}

/** Resources of an instance by id: the endpoint of the database, the node ids for failover, and the auxiliary services. */
export function topologyOf(parts: TopologyParts, record: InstanceRecord): JsonObject {
  const resources = componentOfRecord(parts.dialect, record)?.component.resources ?? [];
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

interface Endpoint {
  readonly clusterEndpoint: string;
  readonly clusterPorts: readonly number[];
}

/** Hosts of auxiliary services end in `.invalid`, which never resolves. */
function endpointOf(parts: TopologyParts, record: InstanceRecord, { part, key }: PlanResource): Endpoint {
  const primary = record.nodes.find((node) => node.role === "primary");
  const isUp = record.host !== undefined && primary !== undefined;
  if (part === "database")
    return { clusterEndpoint: record.host ?? "", clusterPorts: primary === undefined ? [] : [primary.port] };
  if (!isUp || part === "public" || part === "rebalance") return { clusterEndpoint: "", clusterPorts: [] };
  const host = `${key}.${record.id}.invalid`;
  return part === "sentinel"
    ? { clusterEndpoint: host, clusterPorts: [26_379] }
    : { clusterEndpoint: `observer:${parts.observerPassword(record.id)}@${host}:443`, clusterPorts: [443] };
}

function describeNode({ dialect }: TopologyParts, node: NodeRecord, record: InstanceRecord): JsonObject {
  // During an operation the nodes are not looked at; a repair shows which of them are down.
  const isLooked = ["RUNNING", "BACKING_UP"].includes(record.status) || isUnderRepair(record);
  const isUp = isLooked && node.isDown !== true;
  return {
    id: node.id,
    endpoint: record.host ?? "",
    ports: [node.port],
    availabilityZone: `${record.region}${record.component === "multi-zone" && !node.id.endsWith("0") ? "b" : "a"}`,
    status: record.status,
    healthStatus: isUp ? "HEALTHY" : record.status === "STOPPED" ? "STOPPED" : "UNHEALTHY",
    ...(dialect.describe.hasRoles ? { role: node.role } : {}),
  };
}

function isUnderRepair({ status, operation }: InstanceRecord): boolean {
  return status === "RESTARTING" && operation === undefined;
}

/** The password of an instance's observability endpoint: the same at every start with the same key. */
export function observerPassword(instanceId: string, key: Buffer): string {
  return createHmac("sha256", key).update(`observer of ${instanceId}`).digest("base64url");
}

import type { Json, JsonObject } from "../model/json.ts";
import { findPlan } from "./contract.ts";
import { firstUserOf } from "./first-user.ts";
import type { InstanceRecord, NodeRecord } from "./records.ts";

/** What describe needs besides the record. */
export interface DescribeParts {
  readonly settings: { readonly echo: boolean };
  /** The password of an instance that was created without one. */
  readonly generatedPassword: (instanceId: string) => string;
}

/**
 * An instance as describe shows it: specification 2.1, and the topology with the node ids that failover wants.
 * With `echo`, result_params repeats the request parameters as strings, the password in clear, as the real service does. A
 * password that nobody sent is shown in any case: nobody could know it otherwise.
 */
export function describeInstance(parts: DescribeParts, record: InstanceRecord): JsonObject {
  const { echo } = parts.settings;
  return {
    id: record.id,
    status: record.status,
    cloud_provider: record.cloudProvider,
    region: record.region,
    network_type: record.networkType,
    ...(record.customNetworkId === undefined ? {} : { custom_network: record.customNetworkId }),
    created_at: record.createdAt,
    last_modified: record.lastModified,
    result_params: resultParams(parts, record),
    ...(record.isAccount ? {} : { detailedNetworkTopology: topology(record) }),
    ...(echo ? moreOf(record) : {}),
  };
}

function resultParams(parts: DescribeParts, record: InstanceRecord): JsonObject {
  const { echo } = parts.settings;
  const primary = record.nodes.find((node) => node.role === "primary");
  const isReachable = record.host !== undefined && primary !== undefined;
  return {
    ...(echo || record.isAccount ? echoed(record.params) : {}),
    ...(isReachable
      ? { graphdbHostname: record.host ?? "", graphdbPort: primary.port, ...generated(parts, record) }
      : {}),
    ...(record.accountConfigId === undefined
      ? {}
      : { cloud_provider_account_config_id: record.accountConfigId }),
  };
}

/** Credentials that the platform made. */
function generated(parts: DescribeParts, record: InstanceRecord): JsonObject {
  if (Object.hasOwn(record.params, "graphdbPassword")) return {};
  return { graphdbUser: firstUserOf(record), graphdbPassword: parts.generatedPassword(record.id) };
}

function echoed(params: JsonObject): JsonObject {
  const shown = Object.entries(params).filter(([key]) => key !== "numReplicas");
  return Object.fromEntries(shown.map(([key, value]): [string, Json] => [key, String(value)]));
}

function topology(record: InstanceRecord): JsonObject {
  const component = findPlan(record.tier)?.components.find((each) => each.key === record.component);
  const primary = record.nodes.find((node) => node.role === "primary");
  return {
    [record.resourceId]: {
      resourceKey: record.component,
      resourceName: component?.name ?? record.component,
      main: true,
      hasCompute: true,
      networkingType: record.networkType,
      publiclyAccessible: record.networkType === "PUBLIC",
      clusterEndpoint: record.host ?? "",
      clusterPorts: primary === undefined ? [] : [primary.port],
      allowedIPRanges: ["127.0.0.0/8"],
      ...(record.failure === undefined
        ? {}
        : { recentDeploymentFailure: { failedAt: record.failure.at, failureReason: record.failure.reason } }),
      nodes: record.nodes.map((node) => describeNode(node, record)),
    },
  };
}

function describeNode(node: NodeRecord, record: InstanceRecord): JsonObject {
  const isUp = (record.status === "RUNNING" || record.status === "BACKING_UP") && node.isDown !== true;
  return {
    id: node.id,
    endpoint: record.host ?? "",
    ports: [node.port],
    availabilityZone: `${record.region}${record.component === "multi-zone" && !node.id.endsWith("0") ? "b" : "a"}`,
    status: record.status,
    healthStatus: isUp ? "HEALTHY" : record.status === "STOPPED" ? "STOPPED" : "UNHEALTHY",
    role: node.role,
  };
}

function moreOf(record: InstanceRecord): JsonObject {
  return {
    last_modified_at: record.lastModified,
    resourceID: record.resourceId,
    subscriptionId: record.subscriptionId ?? `sub-${record.tier}`,
    customTags: record.customTags,
    resourceInstanceMetadata: { deletionProtection: record.deletionProtection },
    ...(record.sourceSnapshotId === undefined ? {} : { sourceSnapshotID: record.sourceSnapshotId }),
  };
}

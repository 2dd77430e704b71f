/** @module Describes instances as the service does. */
import { defined, type Json, type JsonObject } from "../../../model/json.ts";
import { pointOf, restorePoints } from "../../control/restore-snapshot.ts";
import { componentOfRecord, subscriptionOf } from "../../dialect/dialect.ts";
import { dialectParams } from "../../dialect/params.ts";
import { versionOf } from "../../model/plans.ts";
import {
  firstUserOf,
  type InstanceRecord,
  type NetworkRecord,
  type SnapshotRecord,
} from "../../model/records.ts";
import { type TopologyParts, topologyOf } from "./topology.ts";

/** The parts of the platform that a description is made from. */
export interface DescribeParts extends TopologyParts {
  readonly store: {
    readonly networks: { get(id: string): NetworkRecord | undefined };
    readonly snapshots: { list(): readonly SnapshotRecord[] };
  };
  readonly settings: { readonly echo: boolean; readonly snapshotInterval: number };
  /** The generated password of an instance that was created without one. */
  readonly generatedPassword: (instanceId: string) => string;
}

/**
 * A described instance, with the topology that contains the node ids for failover. With `echo`, result_params contains the request
 * parameters as strings, the password in clear, as the real service does. A generated password is always shown, since the client has
 * no other way to know it.
 */
export function describeInstance(parts: DescribeParts, record: InstanceRecord): JsonObject {
  const { modifiedAt, isComplete } = parts.dialect.describe;
  return {
    id: record.id,
    status: record.status,
    cloud_provider: record.cloudProvider,
    region: record.region,
    network_type: record.networkType,
    ...networkOf(parts, record),
    created_at: record.createdAt,
    [modifiedAt]: record.lastModified,
    result_params: dialectParams(parts.dialect, resultParams(parts, record)),
    ...(record.isAccount ? {} : { detailedNetworkTopology: topologyOf(parts, record) }),
    ...(parts.settings.echo || isComplete ? moreOf(parts, record) : {}),
    ...(isComplete
      ? { tierVersion: versionOf(record), active: true, highAvailability: record.nodes.length > 1 }
      : {}),
    ...(isComplete ? backupsOf(parts, record) : {}),
  };
}

function networkOf({ dialect, store }: DescribeParts, { customNetworkId }: InstanceRecord): JsonObject {
  if (customNetworkId === undefined) return {};
  if (dialect.describe.network === "custom_network") return { custom_network: customNetworkId };
  const { name = "", cidr = "" } = store.networks.get(customNetworkId) ?? {};
  return { customNetworkDetail: { id: customNetworkId, name, cidr } };
}

function resultParams(parts: DescribeParts, record: InstanceRecord): JsonObject {
  const { echo } = parts.settings;
  const primary = record.nodes.find((node) => node.role === "primary");
  const isReachable = record.host !== undefined && primary !== undefined;
  return {
    ...(echo || record.isAccount ? echoed(record.params) : {}),
    ...(isReachable && parts.dialect.describe.hasEndpointInParams
      ? { graphdbHostname: record.host ?? "", graphdbPort: primary.port }
      : {}),
    ...(isReachable ? generated(parts, record) : {}),
    ...(record.accountConfigId === undefined
      ? {}
      : { cloud_provider_account_config_id: record.accountConfigId }),
  };
}

/** Credentials that the platform generated. */
function generated(parts: DescribeParts, record: InstanceRecord): JsonObject {
  if (Object.hasOwn(record.params, "graphdbPassword")) return {};
  return { graphdbUser: firstUserOf(record), graphdbPassword: parts.generatedPassword(record.id) };
}

function echoed(params: JsonObject): JsonObject {
  const shown = Object.entries(params).filter(([key]) => key !== "numReplicas");
  return Object.fromEntries(shown.map(([key, value]): [string, Json] => [key, String(value)]));
}

function moreOf({ dialect }: DescribeParts, record: InstanceRecord): JsonObject {
  return {
    last_modified_at: record.lastModified,
    resourceID: componentOfRecord(dialect, record)?.component.resourceId ?? record.resourceId,
    subscriptionId: record.subscriptionId ?? subscriptionOf(record),
    customTags: record.customTags,
    resourceInstanceMetadata: { deletionProtection: record.deletionProtection },
    ...defined({ sourceSnapshotID: record.sourceSnapshotId }),
  };
}

/** The times that an instance can be restored to. The retention is 0 days, since this platform deletes no snapshot by itself. */
function backupsOf(parts: DescribeParts, record: InstanceRecord): JsonObject {
  const points = restorePoints(parts, record);
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return {};
  return {
    backupStatus: {
      backupPeriodInHours: Math.ceil(parts.settings.snapshotInterval / 3_600_000),
      backupRetentionInDays: 0,
      earliestRestoreTime: new Date(pointOf(first)).toISOString(),
      lastBackupTime: new Date(pointOf(last)).toISOString(),
    },
  };
}

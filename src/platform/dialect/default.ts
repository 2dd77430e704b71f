/** @module Lists the keys, spellings and options of the default service profile. */
import { plans } from "../model/plans.ts";
import type { Dialect } from "./dialect.ts";

/** The dialect of the default profile. */
export const defaultDialect: Dialect = {
  name: "default",
  provider: "sp-default",
  service: "graphdb",
  cookies: { session: "svc_token", refresh: "svc_refresh_token" },
  hasRefreshTokens: true,
  plans,
  params: { fields: {}, absent: [], ignored: [], required: {}, defaults: {} },
  updateMethods: ["PUT", "PATCH"],
  failover: {
    node: ["failed_replica_id", "failedReplicaID", "failedReplicaId"],
    action: ["failed_replica_action", "failedReplicaAction"],
  },
  copy: { region: ["target_region", "targetRegion"], source: ["source_snapshot_id", "sourceSnapshotId"] },
  describe: {
    network: "custom_network",
    modifiedAt: "last_modified",
    hasEndpointInParams: true,
    hasRoles: true,
    isComplete: false,
  },
  snapshots: {
    hasBackup: true,
    statuses: {},
    copyAnswer: ["snapshot_id", "snapshotId"],
    omitsEmptyList: false,
  },
  hasPlanSubscriptions: false,
  hasSpecifiedPlanKeys: true,
  hasParameterSchema: false,
  settings: { echo: false, networks: "adopt-only", pageSize: Number.POSITIVE_INFINITY },
};

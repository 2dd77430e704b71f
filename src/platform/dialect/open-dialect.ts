/** @module Chooses the dialect of a data folder and remembers it there. */
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../files/atomic-write.ts";
import type { Store } from "../model/collection.ts";
import { readProfile } from "../model/instance-types.ts";
import { plans } from "../model/plans.ts";
import { type Dialect, type DialectName, dialectNames } from "./dialect.ts";
import { falkordbCloud } from "./falkordb-cloud.ts";

/**
 * The requested dialect, or the one that the folder's platform used before. Throws if the folder contains records of another
 * dialect: their paths differ, so every instance would seem to be gone.
 */
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
  else if (name !== written) {
    await mkdir(join(dataDir, "control"), { recursive: true, mode: 0o700 });
    await writeAtomically(file, `${name}\n`);
  }
  return name === "default" ? defaultDialect : falkordbCloud(await readProfile(name));
}

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

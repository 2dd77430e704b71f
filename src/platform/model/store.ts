/** @module Opens the records of the control plane, on disk under `<dataDir>/control`. */
import { join } from "node:path";
import { type Collection, openCollection } from "./collection.ts";
import {
  type AccountConfigRecord,
  type InstanceRecord,
  isAccountConfigRecord,
  isInstanceRecord,
  isNetworkRecord,
  isSnapshotRecord,
  type NetworkRecord,
  type SnapshotRecord,
} from "./records.ts";
import type { StorageTrouble } from "./service-error.ts";

/** The records of the control plane. */
export interface Store {
  readonly instances: Collection<InstanceRecord>;
  readonly snapshots: Collection<SnapshotRecord>;
  readonly networks: Collection<NetworkRecord>;
  readonly accountConfigs: Collection<AccountConfigRecord>;
}

/** Opens the store of a data folder. An acknowledged record survives `kill -9` at any moment. */
export async function openStore(dataDir: string, trouble?: StorageTrouble): Promise<Store> {
  const folder = join(dataDir, "control");
  return {
    instances: await openCollection(join(folder, "instances"), isInstanceRecord, trouble),
    snapshots: await openCollection(join(folder, "snapshots"), isSnapshotRecord, trouble),
    networks: await openCollection(join(folder, "networks"), isNetworkRecord, trouble),
    accountConfigs: await openCollection(join(folder, "account-configs"), isAccountConfigRecord, trouble),
  };
}

/** @module Creates database instances: new ones, and ones with the data of a snapshot or a time. */
import { defined } from "../../model/json.ts";
import type { Core } from "../core.ts";
import { componentOfRecord } from "../dialect/dialect.ts";
import { bodyRows } from "../model/field-rules.ts";
import { findPlan, versionOf } from "../model/plans.ts";
import {
  type InstanceRecord,
  newId,
  type SnapshotRecord,
  secretsOf,
  type UserRecord,
} from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import type { Fault } from "./faults.ts";
import type { OperationDetails } from "./lifecycle.ts";
import { completed } from "./snapshots.ts";
import { problemsIn, refuse } from "./validate.ts";

type Given = "tier" | "component" | "resourceId" | "cloudProvider" | "region" | "params" | "customTags";
type Origin = "subscriptionId" | "planVersion" | "sourceSnapshotId" | "customNetworkId";

export interface NewInstance extends Pick<InstanceRecord, Given | Origin> {
  readonly networkType: string | undefined;
  readonly users?: readonly UserRecord[];
}

/** Returns the id. Throws ServiceError for a network or account in another place (400) or one that is not ready (409). */
export async function createInstance(
  core: Core,
  wanted: NewInstance,
  fault: Fault,
  details?: OperationDetails,
): Promise<string> {
  const { cloud_provider_account_config_id: accountConfigId } = wanted.params;
  if (wanted.customNetworkId !== undefined) checkNetwork(core, wanted, wanted.customNetworkId);
  if (typeof accountConfigId === "string") checkAccount(core, wanted, accountConfigId);
  const { missingFromList: missing = false } = fault;
  const missingUntil = missing === true ? Number.MAX_SAFE_INTEGER : core.settings.now() + Number(missing);
  const now = core.timestamp();
  const record: InstanceRecord = {
    ...wanted,
    id: newId("instance"),
    isAccount: false,
    networkType: wanted.networkType ?? (wanted.customNetworkId === undefined ? "PUBLIC" : "INTERNAL"),
    status: "PENDING",
    createdAt: now,
    lastModified: now,
    power: "running",
    nodes: [],
    users: wanted.users ?? [],
    deletionProtection: false,
    missingUntil: missing === false ? undefined : missingUntil,
  };
  for (const secret of secretsOf(record, core.key)) core.secrets.add(secret);
  await core.lifecycle.create(record, fault, details);
  if (record.params["enableEnterpriseModule"] === true)
    core.events.add(
      record.id,
      "enableEnterpriseModule is recorded and loads nothing: there is no such module here",
    );
  return record.id;
}

function checkNetwork(core: Core, { cloudProvider, region }: NewInstance, id: string): void {
  const network = core.store.networks.get(id);
  if (network === undefined) throw new ServiceError(400, `custom network ${id} does not exist`);
  if (network.cloudProvider === cloudProvider && network.region === region) return;
  const place = `${network.cloudProvider} ${network.region}`;
  throw new ServiceError(400, `custom network ${id} is in ${place}, not in ${cloudProvider} ${region}`);
}

function checkAccount(core: Core, { cloudProvider }: NewInstance, id: string): void {
  const config = core.store.accountConfigs.get(id);
  const name = `cloud account configuration ${id}`;
  if (config === undefined) throw new ServiceError(400, `${name} does not exist`);
  if (config.cloudProvider !== cloudProvider)
    throw new ServiceError(400, `${name} is of ${config.cloudProvider}, not ${cloudProvider}`);
  if (config.isDisconnected === true)
    throw new ServiceError(409, `${name} is disconnected; connect it first`);
  if (config.status !== "READY")
    throw new ServiceError(409, `${name} is ${config.status}; its bootstrap must be run first`);
}

/**
 * Creates an instance with the parameters, users and network of a snapshot's source; returns its id. Refused (400) if that
 * network cannot be used and the request names no other.
 */
export async function restoreSnapshot(
  core: Core,
  snapshot: SnapshotRecord,
  wanted: Pick<NewInstance, "networkType" | "customNetworkId">,
  fault: Fault,
): Promise<string> {
  completed(snapshot, "restored");
  const { tier, component, subscriptionId, cloudProvider, region, params, users } = snapshot;
  const { networkType, customNetworkId } = wanted;
  const { instanceTypes } = core;
  const fields = defined({ network_type: networkType, custom_network_id: customNetworkId });
  refuse(problemsIn(fields, bodyRows, { place: { tier, component, instanceTypes } }));
  const found = componentOfRecord(core.dialect, snapshot);
  if (found === undefined) throw new ServiceError(409, `no service plan has ${tier}/${component}`);
  const network = customNetworkId ?? ownNetwork(core, snapshot, networkType);
  return createInstance(
    core,
    {
      ...{ tier, component, subscriptionId, cloudProvider, region, params, customTags: [] },
      resourceId: found.resourceId,
      networkType: networkType ?? (network === undefined ? snapshot.networkType : "INTERNAL"),
      customNetworkId: network,
      planVersion: versionOf(snapshot),
      sourceSnapshotId: snapshot.id,
      ...defined({ users }),
    },
    fault,
    { snapshotId: snapshot.id },
  );
}

function ownNetwork(
  core: Core,
  { customNetworkId, cloudProvider, region }: SnapshotRecord,
  networkType: string | undefined,
): string | undefined {
  if (customNetworkId === undefined || networkType === "PUBLIC") return undefined;
  const network = core.store.networks.get(customNetworkId);
  if (network?.cloudProvider === cloudProvider && network.region === region) return customNetworkId;
  const why = network === undefined ? "is gone" : `is in ${network.cloudProvider} ${network.region}`;
  throw new ServiceError(
    400,
    `the source was in custom network ${customNetworkId}, which ${why}; name a custom_network_id in ${cloudProvider} ${region}, or network_type PUBLIC`,
  );
}

/**
 * Creates an instance from the newest snapshot that was complete at a time (ms since the epoch): no later write is in it.
 * Refused: tiers without backups and times outside the kept snapshots (400), an instance without a snapshot (409).
 */
export async function restoreToTime(
  core: Core,
  record: InstanceRecord,
  time: number,
  networkType: string | undefined,
  fault: Fault,
): Promise<string> {
  const { id, tier, region } = record;
  if (findPlan(tier)?.hasBackups === false) throw new ServiceError(400, `backups are not offered by ${tier}`);
  const target = new Date(time).toISOString();
  if (time > Date.parse(core.timestamp()))
    throw new ServiceError(400, `targetRestoreTime ${target} is in the future`);
  const points = restorePoints(core, record);
  const [first] = points;
  if (first === undefined)
    throw new ServiceError(409, `instance ${id} has no completed snapshot in ${region} to restore from`);
  const source = points.findLast((point) => point.time <= time);
  if (source === undefined) {
    const earliest = new Date(first.time).toISOString();
    throw new ServiceError(
      400,
      `targetRestoreTime ${target} is before the earliest restore time of instance ${id}, ${earliest}`,
    );
  }
  const { snapshot } = source;
  const made = await restoreSnapshot(core, snapshot, { networkType, customNetworkId: undefined }, fault);
  core.events.add(
    made,
    `restored to ${target}: from snapshot ${snapshot.id}, complete at ${new Date(source.time).toISOString()}; later writes are not in it`,
  );
  return made;
}

/** Completed snapshots in the instance's own region, oldest first; no write after `time` (ms since the epoch) is in them. */
export function restorePoints(
  { store }: Core,
  { id, region }: Pick<InstanceRecord, "id" | "region">,
): readonly { readonly snapshot: SnapshotRecord; readonly time: number }[] {
  return store.snapshots
    .list()
    .filter((snapshot) => snapshot.sourceInstanceId === id && snapshot.status === "completed")
    .filter((snapshot) => snapshot.region === region && snapshot.copyOf === undefined)
    .map((snapshot) => ({ snapshot, time: Date.parse(snapshot.completedAt ?? "") }))
    .sort((one, other) => one.time - other.time);
}

/** @module Restores a snapshot as a new instance. */
import type { Core } from "../core.ts";
import { componentOfRecord } from "../dialect/dialect.ts";
import { versionOf } from "../model/plan-versions.ts";
import type { SnapshotRecord } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import type { Fault } from "./fault-rule.ts";
import { createInstance } from "./new-instance.ts";
import { refuseUnfinished } from "./snapshots.ts";
import { checkPlacement } from "./validate.ts";

/** Options of a restore. */
export interface RestoreRequest {
  readonly networkType: string | undefined;
  readonly customNetworkId: string | undefined;
}

/**
 * Creates an instance from a completed snapshot, with the parameters, users and network that the source had; returns its id. Refused
 * (400) where that network cannot be used and the request names no other.
 */
export async function restoreSnapshot(
  core: Core,
  snapshot: SnapshotRecord,
  wanted: RestoreRequest,
  fault: Fault,
): Promise<string> {
  refuseUnfinished(snapshot, "restored");
  const { tier, component } = snapshot;
  const { networkType, customNetworkId } = wanted;
  checkPlacement(
    {
      ...(networkType === undefined ? {} : { network_type: networkType }),
      ...(customNetworkId === undefined ? {} : { custom_network_id: customNetworkId }),
    },
    { tier, component, instanceTypes: core.instanceTypes },
  );
  const found = componentOfRecord(core.dialect, snapshot);
  if (found === undefined) throw new ServiceError(409, `no service plan has ${tier}/${component}`);
  const network = customNetworkId ?? ownNetwork(core, snapshot, networkType);
  return createInstance(
    core,
    {
      tier,
      component,
      resourceId: found.component.resourceId,
      subscriptionId: snapshot.subscriptionId,
      cloudProvider: snapshot.cloudProvider,
      region: snapshot.region,
      networkType: networkType ?? (network === undefined ? snapshot.networkType : "INTERNAL"),
      customNetworkId: network,
      params: snapshot.params,
      planVersion: versionOf(snapshot),
      customTags: [],
      sourceSnapshotId: snapshot.id,
      users: snapshot.users ?? [],
    },
    fault,
    { snapshotId: snapshot.id },
  );
}

/** The network of the source, for an instance that is not public. */
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

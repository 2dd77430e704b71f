/** @module Creates database instances. */
import type { JsonObject } from "../../model/json.ts";
import type { Core } from "../core.ts";
import { type InstanceRecord, newId, type UserRecord } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import type { Fault } from "./fault-rule.ts";
import type { OperationDetails } from "./lifecycle.ts";

/** Properties of a new instance. */
export interface NewInstance {
  readonly tier: string;
  readonly component: string;
  readonly resourceId: string;
  readonly subscriptionId: string | undefined;
  readonly cloudProvider: string;
  readonly region: string;
  readonly networkType: string | undefined;
  readonly customNetworkId: string | undefined;
  readonly params: JsonObject;
  readonly customTags: readonly JsonObject[];
  readonly planVersion: string;
  readonly sourceSnapshotId?: string;
  readonly users?: readonly UserRecord[];
}

/**
 * Returns the id of the new instance. Throws ServiceError for a network or account in another place (400) or one that is not ready
 * (409).
 */
export async function createInstance(
  core: Core,
  wanted: NewInstance,
  fault: Fault,
  details?: OperationDetails,
): Promise<string> {
  if (wanted.customNetworkId !== undefined) checkNetwork(core, wanted, wanted.customNetworkId);
  const accountConfigId = wanted.params["cloud_provider_account_config_id"];
  if (typeof accountConfigId === "string") checkAccount(core, wanted, accountConfigId);
  const password = wanted.params["graphdbPassword"];
  if (typeof password === "string") core.secrets.add(password);
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
    missingUntil: missingUntil(core, fault),
  };
  core.secrets.add(core.generatedPassword(record.id));
  core.secrets.add(core.observerPassword(record.id));
  await core.lifecycle.create(record, fault, details);
  if (record.params["enableEnterpriseModule"] === true)
    core.events.add(
      record.id,
      "enableEnterpriseModule is recorded and loads nothing: there is no such module here",
    );
  return record.id;
}

function missingUntil(core: Core, fault: Fault): number | undefined {
  const { missingFromList = false } = fault;
  if (missingFromList === false) return undefined;
  return missingFromList === true ? Number.MAX_SAFE_INTEGER : core.now() + missingFromList;
}

function checkNetwork(core: Core, wanted: NewInstance, id: string): void {
  const network = core.store.networks.get(id);
  if (network === undefined) throw new ServiceError(400, `custom network ${id} does not exist`);
  if (network.cloudProvider !== wanted.cloudProvider || network.region !== wanted.region) {
    throw new ServiceError(
      400,
      `custom network ${id} is in ${network.cloudProvider} ${network.region}, not in ${wanted.cloudProvider} ${wanted.region}`,
    );
  }
}

function checkAccount(core: Core, wanted: NewInstance, id: string): void {
  const config = core.store.accountConfigs.get(id);
  if (config === undefined) throw new ServiceError(400, `cloud account configuration ${id} does not exist`);
  if (config.cloudProvider !== wanted.cloudProvider) {
    throw new ServiceError(
      400,
      `cloud account configuration ${id} is of ${config.cloudProvider}, not ${wanted.cloudProvider}`,
    );
  }
  if (config.isDisconnected === true)
    throw new ServiceError(409, `cloud account configuration ${id} is disconnected; connect it first`);
  if (config.status !== "READY") {
    throw new ServiceError(
      409,
      `cloud account configuration ${id} is ${config.status}; its bootstrap must be run first`,
    );
  }
}

/** @module Creates, sets up and deletes cloud accounts. */
import type { JsonObject } from "../../model/json.ts";
import type { Core } from "../core.ts";
import { inTurn } from "../in-turn.ts";
import { type AccountConfigRecord, type InstanceRecord, newId } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import type { AccountRequest } from "./account-rules.ts";
import type { Fault } from "./fault-rule.ts";
import { untilWritten } from "./record-state.ts";

/** Plan, subscription and tags of a new cloud account. */
export interface AccountPlace {
  readonly tier: string;
  readonly component: string;
  readonly resourceId: string;
  readonly subscriptionId: string | undefined;
  readonly customTags?: readonly JsonObject[];
}

/** Instances of one account configuration. */
export function accountInstances(core: Core, configId: string): readonly InstanceRecord[] {
  return core.store.instances
    .list()
    .filter((record) => record.isAccount && record.accountConfigId === configId);
}

/** Status of the instances of a set-up account, once its connection is applied. */
export function settledStatus({ isDisconnected }: AccountConfigRecord): string {
  return isDisconnected === true ? "DISCONNECTED" : "READY";
}

/** Creates a cloud account and returns its id. It is PENDING until a person has run the bootstrap, unless the account is set up already. */
export async function addAccount(
  core: Core,
  place: AccountPlace,
  request: AccountRequest,
  fault: Fault,
): Promise<string> {
  // One at a time: a second instance of the same account joins the configuration of the first.
  const key = `account ${request.cloudProvider} ${request.account}`;
  return inTurn(`${core.settings.dataDir} ${key}`, () => addAccountNow(core, place, request, fault));
}

async function addAccountNow(
  core: Core,
  place: AccountPlace,
  request: AccountRequest,
  fault: Fault,
): Promise<string> {
  const { cloudProvider, account, params } = request;
  const known = core.store.accountConfigs
    .list()
    .find(
      (candidate) =>
        candidate.cloudProvider === cloudProvider && candidate.account === account && isUsed(core, candidate),
    );
  const now = core.timestamp();
  const config: AccountConfigRecord = known ?? {
    id: newId("ac"),
    cloudProvider,
    account,
    status: "PENDING",
    params,
    createdAt: now,
  };
  const record: InstanceRecord = {
    ...place,
    id: newId("instance"),
    isAccount: true,
    cloudProvider,
    region: "",
    networkType: "PUBLIC",
    params,
    status:
      fault.failed === undefined ? (config.status === "READY" ? settledStatus(config) : "PENDING") : "FAILED",
    createdAt: now,
    lastModified: now,
    power: "running",
    nodes: [],
    users: [],
    deletionProtection: false,
    customTags: place.customTags ?? [],
    accountConfigId: config.id,
  };
  if (known === undefined) await core.store.accountConfigs.add(config);
  await core.store.instances.add(record);
  core.events.add(record.id, `cloud account ${account} at ${cloudProvider}: ${record.status}`);
  if (core.settings.autoBootstrap && config.status === "PENDING" && fault.failed === undefined) {
    const { wait } = core.lifecycle;
    const person = wait(core.settings.delayOf("create"))
      .then(() => untilWritten(wait, () => bootstrap(core, config.id)))
      // Another request has run the bootstrap.
      .catch(() => undefined);
    core.lifecycle.background(
      record.id,
      person.then(() => undefined),
    );
  }
  return record.id;
}

/** False for a configuration without instances. */
function isUsed(core: Core, config: AccountConfigRecord): boolean {
  return accountInstances(core, config.id).length > 0;
}

/**
 * Records that a person has run the bootstrap: the configuration and its instances become READY. Refused (409) unless one of them is
 * PENDING; it may be repeated where only a part was written.
 */
export async function bootstrap(core: Core, id: string): Promise<AccountConfigRecord> {
  const configId = core.store.instances.get(id)?.accountConfigId ?? id;
  const waiting = (): readonly InstanceRecord[] =>
    accountInstances(core, configId).filter(({ status }) => status === "PENDING");
  const isHalf = core.store.accountConfigs.get(configId)?.status === "READY" && waiting().length > 0;
  const config = await advance(core, id, isHalf ? "READY" : "PENDING", "READY");
  // Includes an instance that was created while the configuration was written: no further bootstrap would be accepted for it.
  for (const record of waiting()) {
    await core.store.instances.update(record.id, (now) =>
      now.status === "PENDING" ? { ...now, status: "READY", lastModified: core.timestamp() } : now,
    );
    core.events.add(record.id, "bootstrap done: READY");
  }
  return config;
}

/** Finishes bootstraps that a restart of the platform interrupted, and runs the automatic ones. */
export function recoverAccounts(core: Core): void {
  for (const { id, status } of core.store.accountConfigs.list()) {
    const isWaiting = accountInstances(core, id).some((record) => record.status === "PENDING");
    if (!isWaiting || !(status === "READY" || (status === "PENDING" && core.settings.autoBootstrap)))
      continue;
    const done = untilWritten(core.lifecycle.wait, () => bootstrap(core, id)).then(() => undefined);
    core.lifecycle.background(id, done);
  }
}

/**
 * Records that a person has run the offboard; a second delete then removes the account. Refused (409) unless the account is
 * READY_TO_OFFBOARD.
 */
export async function offboard(core: Core, id: string): Promise<AccountConfigRecord> {
  return advance(core, id, "READY_TO_OFFBOARD", "OFFBOARDED");
}

/**
 * Deletes a cloud account. The last instance of a set-up account takes two steps: DELETING with READY_TO_OFFBOARD, and, once a
 * person has run the offboard, a second delete. Refused (409) while databases run in the account.
 */
export async function removeAccount(core: Core, record: InstanceRecord): Promise<void> {
  if (record.deletionProtection)
    throw new ServiceError(409, `instance ${record.id} has deletion protection; clear it first`);
  const config = core.store.accountConfigs.get(record.accountConfigId ?? "");
  const isLast = accountInstances(core, config?.id ?? "").length <= 1;
  if (config === undefined || !isLast) return removeInstance(core, record);
  const user = core.store.instances
    .list()
    .find((instance) => instance.params["cloud_provider_account_config_id"] === config.id);
  if (user !== undefined)
    throw new ServiceError(409, `instance ${user.id} still lives in this cloud account`);
  if (config.status === "READY_TO_OFFBOARD" && record.status === "DELETING") {
    throw new ServiceError(
      409,
      `instance ${record.id} is DELETING; the offboard must be run in the account first`,
    );
  }
  if (record.status !== "DELETING" && (config.status === "READY" || config.status === "READY_TO_OFFBOARD")) {
    const status = core.settings.autoBootstrap ? "OFFBOARDED" : "READY_TO_OFFBOARD";
    await core.store.accountConfigs.update(config.id, (now) => ({ ...now, status }));
    await core.store.instances.update(record.id, (now) => ({
      ...now,
      status: "DELETING",
      lastModified: core.timestamp(),
    }));
    core.events.add(record.id, "delete accepted: waiting for the offboard");
    return;
  }
  await removeInstance(core, record);
  await core.store.accountConfigs.remove(config.id);
}

async function removeInstance(core: Core, record: InstanceRecord): Promise<void> {
  await core.store.instances.remove(record.id);
  core.events.add(record.id, "cloud account deleted");
}

async function advance(
  core: Core,
  id: string,
  from: AccountConfigRecord["status"],
  to: AccountConfigRecord["status"],
): Promise<AccountConfigRecord> {
  const configId = core.store.instances.get(id)?.accountConfigId ?? id;
  const advanced = await core.store.accountConfigs.update(configId, (config) => {
    if (config.status !== from)
      throw new ServiceError(409, `cloud account ${id} is ${config.status}, not ${from}`);
    return { ...config, status: to };
  });
  if (advanced === undefined) throw new ServiceError(404, `cloud account ${id} not found`);
  return advanced;
}

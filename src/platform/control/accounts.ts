/** @module Creates, connects, sets up and deletes cloud accounts. */
import type { Core } from "../core.ts";
import { inTurn } from "../in-turn.ts";
import { type AccountConfigRecord, type InstanceRecord, newId } from "../model/records.ts";
import { found, ServiceError } from "../model/service-error.ts";
import type { Fault } from "./faults.ts";
import { noteState } from "./record-state.ts";
import type { AccountRequest } from "./validate.ts";

export function accountInstances({ store }: Core, configId: string): readonly InstanceRecord[] {
  return store.instances.list().filter((record) => record.isAccount && record.accountConfigId === configId);
}

function connectedStatus({ isDisconnected }: AccountConfigRecord): string {
  return isDisconnected === true ? "DISCONNECTED" : "READY";
}

/** Returns the id of a new cloud account, PENDING until its bootstrap. Instances of one account share its configuration. */
export function addAccount(
  core: Core,
  place: Pick<InstanceRecord, "tier" | "component" | "resourceId" | "subscriptionId" | "customTags">,
  { cloudProvider, account, params }: AccountRequest,
  fault: Fault,
): Promise<string> {
  const { store, settings, tasks } = core;
  return inTurn(`${settings.dataDir} account ${cloudProvider} ${account}`, async () => {
    const known = store.accountConfigs
      .list()
      .filter(({ id }) => accountInstances(core, id).length > 0)
      .find((candidate) => candidate.cloudProvider === cloudProvider && candidate.account === account);
    const now = core.timestamp();
    const config: AccountConfigRecord = known ?? {
      id: newId("ac"),
      cloudProvider,
      account,
      status: "PENDING",
      params,
      createdAt: now,
    };
    const status = config.status === "READY" ? connectedStatus(config) : "PENDING";
    const record: InstanceRecord = {
      ...place,
      id: newId("instance"),
      isAccount: true,
      cloudProvider,
      region: "",
      networkType: "PUBLIC",
      params,
      status: fault.failed === undefined ? status : "FAILED",
      createdAt: now,
      lastModified: now,
      power: "running",
      nodes: [],
      users: [],
      deletionProtection: false,
      accountConfigId: config.id,
    };
    if (known === undefined) await store.accountConfigs.add(config);
    await store.instances.add(record);
    core.events.add(record.id, `cloud account ${account} at ${cloudProvider}: ${record.status}`);
    if (settings.autoBootstrap && config.status === "PENDING" && fault.failed === undefined) {
      const person = tasks
        .wait(settings.delayOf("create"))
        .then(() => tasks.untilWritten(() => bootstrap(core, config.id)))
        // Another request has run the bootstrap.
        .catch(() => undefined);
      tasks.run(record.id, person);
    }
    return record.id;
  });
}

/** Records that a person has run the bootstrap, also one that was written in part. Refused (409) unless one is PENDING. */
export async function bootstrap(core: Core, id: string): Promise<AccountConfigRecord> {
  const { store } = core;
  const configId = store.instances.get(id)?.accountConfigId ?? id;
  const waiting = (): readonly InstanceRecord[] =>
    accountInstances(core, configId).filter(({ status }) => status === "PENDING");
  const isHalf = store.accountConfigs.get(configId)?.status === "READY" && waiting().length > 0;
  const config = await advance(core, id, isHalf ? "READY" : "PENDING", "READY");
  // Includes an instance that was created while the configuration was written: no further bootstrap would be accepted for it.
  for (const record of waiting()) {
    await store.instances.update(record.id, (now) =>
      now.status === "PENDING" ? { ...now, status: "READY", lastModified: core.timestamp() } : now,
    );
    core.events.add(record.id, "bootstrap done: READY");
  }
  return config;
}

/** Finishes bootstraps and changes of connections that a restart of the platform interrupted; runs the automatic bootstraps. */
export function recoverAccounts(core: Core): void {
  const { store, settings, tasks } = core;
  for (const config of store.accountConfigs.list()) {
    const { id, status } = config;
    const isWaiting = accountInstances(core, id).some((record) => record.status === "PENDING");
    if (isWaiting && (status === "READY" || (status === "PENDING" && settings.autoBootstrap)))
      tasks.run(
        id,
        tasks.untilWritten(() => bootstrap(core, id)),
      );
    const [behind] = instancesToMove(core, config);
    if (behind !== undefined) tasks.run(behind.id, applyConnection(core, config));
  }
}

/** Records that a person has run the offboard: a second delete then removes the account. Refused (409) in any other status. */
export function offboard(core: Core, id: string): Promise<AccountConfigRecord> {
  return advance(core, id, "READY_TO_OFFBOARD", "OFFBOARDED");
}

async function advance(
  { store }: Core,
  id: string,
  from: AccountConfigRecord["status"],
  to: AccountConfigRecord["status"],
): Promise<AccountConfigRecord> {
  const configId = store.instances.get(id)?.accountConfigId ?? id;
  const advanced = await store.accountConfigs.update(configId, (config) => {
    if (config.status !== from)
      throw new ServiceError(409, `cloud account ${id} is ${config.status}, not ${from}`);
    return { ...config, status: to };
  });
  return found(advanced, `cloud account ${id}`);
}

/**
 * Deletes a cloud account; refused (409) while databases run in it. The last instance of a set-up account is DELETING until a
 * person has run the offboard, and then needs a second delete.
 */
export async function removeAccount(core: Core, record: InstanceRecord): Promise<void> {
  const { store } = core;
  const { id, status } = record;
  if (record.deletionProtection)
    throw new ServiceError(409, `instance ${id} has deletion protection; clear it first`);
  const config = store.accountConfigs.get(record.accountConfigId ?? "");
  const isLast = config !== undefined && accountInstances(core, config.id).length <= 1;
  if (isLast) {
    const user = store.instances
      .list()
      .find((instance) => instance.params["cloud_provider_account_config_id"] === config.id);
    if (user !== undefined)
      throw new ServiceError(409, `instance ${user.id} still lives in this cloud account`);
    if (config.status === "READY_TO_OFFBOARD" && status === "DELETING")
      throw new ServiceError(
        409,
        `instance ${id} is DELETING; the offboard must be run in the account first`,
      );
    if (status !== "DELETING" && (config.status === "READY" || config.status === "READY_TO_OFFBOARD")) {
      const next = core.settings.autoBootstrap ? "OFFBOARDED" : "READY_TO_OFFBOARD";
      await store.accountConfigs.update(config.id, (now) => ({ ...now, status: next }));
      const lastModified = core.timestamp();
      await store.instances.update(id, (now) => ({ ...now, status: "DELETING", lastModified }));
      core.events.add(id, "delete accepted: waiting for the offboard");
      return;
    }
  }
  await store.instances.remove(id);
  core.events.add(id, "cloud account deleted");
  if (isLast) await store.accountConfigs.remove(config.id);
}

/** Disconnects or connects all instances of an account, in the background. Refused (409) in any other status. */
export async function connectAccount(core: Core, record: InstanceRecord, isWanted: boolean): Promise<void> {
  const { id, accountConfigId = "" } = record;
  const needed = isWanted ? "DISCONNECTED" : "READY";
  const config = await core.store.accountConfigs.update(accountConfigId, (now) => {
    const { status = "" } = core.store.instances.get(id) ?? {};
    if (status !== needed || connectedStatus(now) !== needed)
      throw new ServiceError(409, `cloud account ${id} is ${status}; this needs ${needed}`);
    return { ...now, isDisconnected: !isWanted };
  });
  core.tasks.run(id, applyConnection(core, found(config, `cloud account ${id}`)));
}

const connectionStatuses = ["READY", "DISCONNECTING", "DISCONNECTED", "CONNECTING"];

/** Instances of a configuration whose status does not show its connection yet. */
function instancesToMove(core: Core, config: AccountConfigRecord): readonly InstanceRecord[] {
  if (config.status !== "READY") return [];
  return accountInstances(core, config.id).filter(
    ({ status }) => connectionStatuses.includes(status) && status !== connectedStatus(config),
  );
}

async function applyConnection(core: Core, config: AccountConfigRecord): Promise<void> {
  const through = config.isDisconnected === true ? "DISCONNECTING" : "CONNECTING";
  showStatus(core, config, through);
  await core.tasks.wait(core.settings.delayOf("update"));
  showStatus(core, config, connectedStatus(config));
}

function showStatus(core: Core, config: AccountConfigRecord, status: string): void {
  for (const { id } of instancesToMove(core, config)) {
    noteState(core, id, { status }, (now) => !connectionStatuses.includes(now.status));
    core.events.add(id, `cloud account: ${status}`);
  }
}

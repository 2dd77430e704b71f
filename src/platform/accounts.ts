import type { JsonObject } from "../model/json.ts";
import type { AccountRequest } from "./account-rules.ts";
import type { Core } from "./core.ts";
import type { Fault } from "./fault-rule.ts";
import { newId } from "./new-id.ts";
import type { AccountConfigRecord, InstanceRecord } from "./records.ts";
import { ServiceError } from "./service-error.ts";

/** Where a cloud account is created, and for whom. */
export interface AccountPlace {
  readonly tier: string;
  readonly component: string;
  readonly resourceId: string;
  readonly subscriptionId: string | undefined;
  readonly customTags?: readonly JsonObject[];
}

/** Instances of one account configuration. */
export function accountInstances(core: Core, configId: string): readonly InstanceRecord[] {
  return core.store.instances.list().filter((each) => each.isAccount && each.accountConfigId === configId);
}

/** Registers a cloud account; it waits (PENDING) until a person has run the bootstrap, unless the account is known. */
export async function addAccount(
  core: Core,
  place: AccountPlace,
  request: AccountRequest,
  fault: Fault,
): Promise<string> {
  const { cloudProvider, account, params } = request;
  const known = core.store.accountConfigs
    .list()
    .find((each) => each.cloudProvider === cloudProvider && each.account === account);
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
    status: fault.failed === undefined ? (config.status === "READY" ? "READY" : "PENDING") : "FAILED",
    createdAt: now,
    lastModified: now,
    power: "running",
    nodes: [],
    users: [],
    deletionProtection: false,
    customTags: place.customTags ?? [],
    accountConfigId: config.id,
  };
  await Promise.all([core.store.accountConfigs.save(config), core.store.instances.save(record)]);
  core.events.add(record.id, `cloud account ${account} at ${cloudProvider}: ${record.status}`);
  if (core.settings.autoBootstrap && config.status === "PENDING" && fault.failed === undefined) {
    setTimeout(
      () => void bootstrap(core, config.id).catch(() => undefined),
      core.settings.delayOf("create"),
    ).unref();
  }
  return record.id;
}

/** A person runs the bootstrap: the configuration and its instances become READY. 409 unless it waits for that. */
export async function bootstrap(core: Core, id: string): Promise<AccountConfigRecord> {
  const config = await advance(core, id, "PENDING", "READY");
  for (const record of accountInstances(core, config.id)) {
    if (record.status !== "PENDING") continue;
    await core.store.instances.save({ ...record, status: "READY", lastModified: core.timestamp() });
    core.events.add(record.id, "bootstrap done: READY");
  }
  return config;
}

/** A person runs the offboard; the second delete then finishes. 409 unless the account waits for that. */
export async function offboard(core: Core, id: string): Promise<AccountConfigRecord> {
  return advance(core, id, "READY_TO_OFFBOARD", "OFFBOARDED");
}

/**
 * Deletes a cloud account. The last one of a bootstrapped account goes in two steps: DELETING and READY_TO_OFFBOARD,
 * then, once a person has run the offboard, a second delete takes it away. Refused (409) while databases live in it.
 */
export async function removeAccount(core: Core, record: InstanceRecord): Promise<void> {
  const config = core.store.accountConfigs.get(record.accountConfigId ?? "");
  const isLast = accountInstances(core, config?.id ?? "").length <= 1;
  if (config === undefined || !isLast) return forget(core, record);
  const user = core.store.instances
    .list()
    .find((each) => each.params["cloud_provider_account_config_id"] === config.id);
  if (user !== undefined)
    throw new ServiceError(409, `instance ${user.id} still lives in this cloud account`);
  if (record.deletionProtection)
    throw new ServiceError(409, `instance ${record.id} has deletion protection; clear it first`);
  if (config.status === "READY_TO_OFFBOARD") {
    throw new ServiceError(
      409,
      `instance ${record.id} is DELETING; the offboard must be run in the account first`,
    );
  }
  if (config.status === "READY") {
    const status = core.settings.autoBootstrap ? "OFFBOARDED" : "READY_TO_OFFBOARD";
    await core.store.accountConfigs.save({ ...config, status });
    await core.store.instances.save({ ...record, status: "DELETING", lastModified: core.timestamp() });
    core.events.add(record.id, "delete accepted: waiting for the offboard");
    return;
  }
  await forget(core, record);
  await core.store.accountConfigs.remove(config.id);
}

async function forget(core: Core, record: InstanceRecord): Promise<void> {
  await core.store.instances.remove(record.id);
  core.events.add(record.id, "cloud account deleted");
}

async function advance(
  core: Core,
  id: string,
  from: AccountConfigRecord["status"],
  to: AccountConfigRecord["status"],
): Promise<AccountConfigRecord> {
  const config = core.store.accountConfigs.get(core.store.instances.get(id)?.accountConfigId ?? id);
  if (config === undefined) throw new ServiceError(404, `cloud account ${id} not found`);
  if (config.status !== from)
    throw new ServiceError(409, `cloud account ${id} is ${config.status}, not ${from}`);
  const advanced = { ...config, status: to };
  await core.store.accountConfigs.save(advanced);
  return advanced;
}

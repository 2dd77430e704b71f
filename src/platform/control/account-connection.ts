/** @module Connects and disconnects cloud accounts. */
import type { Core } from "../core.ts";
import type { AccountConfigRecord, InstanceRecord } from "../model/records.ts";
import { ServiceError } from "../model/service-error.ts";
import { accountInstances, settledStatus } from "./accounts.ts";
import { noteState } from "./record-state.ts";

/**
 * Disconnects a cloud account from the service or connects it again, for all instances of its configuration. Accepted at once, done
 * in the background. Refused (409) unless the account is READY, or DISCONNECTED for a new connection.
 */
export async function connectAccount(core: Core, record: InstanceRecord, isWanted: boolean): Promise<void> {
  const { id, accountConfigId = "" } = record;
  const needed = isWanted ? "DISCONNECTED" : "READY";
  const config = await core.store.accountConfigs.update(accountConfigId, (now) => {
    const { status = "" } = core.store.instances.get(id) ?? {};
    if (status !== needed || settledStatus(now) !== needed)
      throw new ServiceError(409, `cloud account ${id} is ${status}; this needs ${needed}`);
    return { ...now, isDisconnected: !isWanted };
  });
  if (config === undefined) throw new ServiceError(404, `cloud account ${id} not found`);
  core.lifecycle.background(id, applyConnection(core, config));
}

/** Continues connections and disconnections that a restart of the platform interrupted. */
export function recoverConnections(core: Core): void {
  for (const config of core.store.accountConfigs.list()) {
    const [behind] = instancesToMove(core, config);
    if (behind !== undefined) core.lifecycle.background(behind.id, applyConnection(core, config));
  }
}

const connectionStatuses = ["READY", "DISCONNECTING", "DISCONNECTED", "CONNECTING"];

/** Instances of a configuration whose status does not show its connection yet. */
function instancesToMove(core: Core, config: AccountConfigRecord): readonly InstanceRecord[] {
  if (config.status !== "READY") return [];
  return accountInstances(core, config.id).filter(
    ({ status }) => connectionStatuses.includes(status) && status !== settledStatus(config),
  );
}

/** Brings the instances of a configuration to the status of its connection. */
async function applyConnection(core: Core, config: AccountConfigRecord): Promise<void> {
  const through = config.isDisconnected === true ? "DISCONNECTING" : "CONNECTING";
  showStatus(core, config, through);
  await core.lifecycle.wait(core.settings.delayOf("update"));
  showStatus(core, config, settledStatus(config));
}

function showStatus(core: Core, config: AccountConfigRecord, status: string): void {
  for (const { id } of instancesToMove(core, config)) {
    noteState(core, id, { status }, (now) => !connectionStatuses.includes(now.status));
    core.events.add(id, `cloud account: ${status}`);
  }
}

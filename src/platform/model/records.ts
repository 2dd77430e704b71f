/** @module Defines the records that the control plane keeps, the check of each file, and the store of all of them. */
import { createHmac, randomInt } from "node:crypto";
import { join } from "node:path";
import { isObject, type JsonObject, textIn } from "../../model/json.ts";
import { type Collection, openCollection } from "./collection.ts";
import type { StorageTrouble } from "./service-error.ts";

export const operationNames = [
  "create",
  "update",
  "delete",
  "start",
  "stop",
  "restart",
  "failover",
  "backup",
  "upgrade",
] as const;

export type OperationName = (typeof operationNames)[number];

/** An accepted operation that has not ended, stored so that a restarted platform can finish it. */
export interface OperationRecord {
  readonly name: OperationName;
  readonly id: string;
  readonly startedAt: string;
  readonly params?: JsonObject | undefined;
  readonly networkType?: string | undefined;
  readonly customTags?: readonly JsonObject[] | undefined;
  /** The snapshot that the operation writes (backup) or restores (create). */
  readonly snapshotId?: string | undefined;
  readonly failedNode?: string | undefined;
  readonly failoverAction?: string | undefined;
  readonly planVersion?: string | undefined;
  /** A fault keeps it from ending. */
  readonly stuck?: boolean | undefined;
}

/** A database user. The password is stored as SHA-256 in hex. */
export interface UserRecord {
  readonly username: string;
  readonly passwordHash: string;
  readonly acl: string;
}

export interface NodeRecord {
  readonly id: string;
  readonly port: number;
  readonly role: "primary" | "replica";
  /** The node's process does not run or does not answer, or the node is a replica that is not in sync. */
  readonly isDown?: boolean | undefined;
}

export interface FailureRecord {
  readonly at: string;
  readonly reason: string;
  readonly of?: OperationName | "database" | undefined;
  /** A fault caused it: the platform does not repair it. */
  readonly byFault?: boolean | undefined;
}

/** An instance as the control plane stores it; a cloud account is an instance, too. */
export interface InstanceRecord {
  readonly id: string;
  readonly isAccount: boolean;
  readonly tier: string;
  readonly component: string;
  readonly resourceId: string;
  readonly subscriptionId?: string | undefined;
  readonly cloudProvider: string;
  readonly region: string;
  readonly networkType: string;
  readonly customNetworkId?: string | undefined;
  /** requestParams of the create with all updates. Contains the password in clear: files are 0600. */
  readonly params: JsonObject;
  readonly status: string;
  readonly createdAt: string;
  readonly lastModified: string;
  readonly operation?: OperationRecord | undefined;
  readonly failure?: FailureRecord | undefined;
  /** The wanted state of the database while no operation runs. */
  readonly power: "running" | "stopped";
  readonly host?: string | undefined;
  readonly nodes: readonly NodeRecord[];
  readonly users: readonly UserRecord[];
  readonly deletionProtection: boolean;
  readonly customTags: readonly JsonObject[];
  readonly sourceSnapshotId?: string | undefined;
  /** The plan version; absent in records of earlier platforms. */
  readonly planVersion?: string | undefined;
  /** Lists omit the instance until this time, in ms since the epoch (a fault). */
  readonly missingUntil?: number | undefined;
  readonly accountConfigId?: string | undefined;
}

/** A snapshot, with everything that a restore needs after its instance is deleted. */
export interface SnapshotRecord
  extends Pick<InstanceRecord, "tier" | "component" | "cloudProvider" | "region" | "networkType">,
    Pick<InstanceRecord, "subscriptionId" | "params" | "planVersion" | "customNetworkId"> {
  readonly id: string;
  readonly sourceInstanceId: string;
  readonly type: "ManualSnapshot" | "AutomatedSnapshot";
  readonly status: "pending" | "completed" | "FAILED";
  readonly failure?: string | undefined;
  readonly progress: number;
  readonly createdAt: string;
  readonly completedAt?: string | undefined;
  /** Users of the source instance; absent in snapshots of earlier platforms. */
  readonly users?: readonly UserRecord[] | undefined;
  /** A copy that a fault keeps from completing. */
  readonly stuck?: boolean | undefined;
  readonly copyOf?: string | undefined;
}

export interface NetworkRecord
  extends Pick<InstanceRecord, "id" | "cloudProvider" | "region" | "createdAt" | "lastModified"> {
  readonly name: string;
  readonly cidr: string;
}

/** A custom network that exists when the platform starts. */
export type NetworkSeed = Pick<NetworkRecord, "id" | "name" | "cloudProvider" | "region"> &
  Partial<Pick<NetworkRecord, "cidr">>;

export interface AccountConfigRecord
  extends Pick<InstanceRecord, "id" | "cloudProvider" | "params" | "createdAt"> {
  /** The provider's id of the account: account id, project id, subscription id or tenancy id. */
  readonly account: string;
  readonly status: "PENDING" | "READY" | "READY_TO_OFFBOARD" | "OFFBOARDED";
  readonly isDisconnected?: boolean | undefined;
}

type Guard<T> = (value: unknown) => value is T;

/** A check of the fields without which a record cannot be used; those of later versions may be missing. */
function recordWith<T>(
  texts: readonly string[],
  others: { readonly [key: string]: (value: unknown) => boolean },
): Guard<T> {
  return (value): value is T =>
    isObject(value) &&
    texts.every((key) => typeof value[key] === "string") &&
    Object.entries(others).every(([key, isRight]) => isRight(value[key]));
}

const params = isObject;
const isInstanceRecord: Guard<InstanceRecord> = recordWith(
  ["id", "tier", "component", "cloudProvider", "status", "createdAt"],
  { params, nodes: Array.isArray, users: Array.isArray },
);
const isSnapshotRecord: Guard<SnapshotRecord> = recordWith(
  ["id", "sourceInstanceId", "type", "status", "region", "tier"],
  { params },
);
const isNetworkRecord: Guard<NetworkRecord> = recordWith(
  ["id", "name", "cloudProvider", "region", "cidr"],
  {},
);
const isAccountConfigRecord: Guard<AccountConfigRecord> = recordWith(
  ["id", "cloudProvider", "account", "status"],
  { params },
);

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

/** The requested user name, or `default`, the database's built-in user. */
export function firstUserOf(record: InstanceRecord): string {
  return textIn(record.params["graphdbUser"]) ?? "default";
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

export function newId(prefix: string): string {
  return `${prefix}-${Array.from({ length: 9 }, () => letters[randomInt(letters.length)]).join("")}`;
}

/** The same password at every start with the same key. */
export function generatedPassword(instanceId: string, key: Buffer): string {
  return createHmac("sha256", key).update(instanceId).digest("base64url");
}

/** The passwords of an instance: the requested one, and those that the platform gives it. */
export function secretsOf({ id, params: asked }: InstanceRecord, key: Buffer): readonly string[] {
  return [
    generatedPassword(id, key),
    observerPassword(id, key),
    textIn(asked["graphdbPassword"]) ?? [],
  ].flat();
}

/** The password of an instance's observability endpoint: the same at every start with the same key. */
export function observerPassword(instanceId: string, key: Buffer): string {
  return createHmac("sha256", key).update(`observer of ${instanceId}`).digest("base64url");
}

import type { JsonObject } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";

/** Everything that changes an instance; one at a time. */
export type OperationName =
  | "create"
  | "update"
  | "delete"
  | "start"
  | "stop"
  | "restart"
  | "failover"
  | "backup"
  | "upgrade";

/** An accepted operation that has not ended, written down so that a restart of the platform can finish it. */
export interface OperationRecord {
  readonly name: OperationName;
  readonly id: string;
  readonly startedAt: string;
  /** Parameters that hold once the operation is done (update). */
  readonly params?: JsonObject | undefined;
  readonly networkType?: string | undefined;
  readonly customTags?: readonly JsonObject[] | undefined;
  /** The snapshot that the operation takes (backup) or boots from (create). */
  readonly snapshotId?: string | undefined;
  /** The node that failed, and what to do with it (failover). */
  readonly failedNode?: string | undefined;
  readonly failoverAction?: string | undefined;
  /** The version of the plan that holds once the operation is done (upgrade). */
  readonly planVersion?: string | undefined;
  /** Made to hang by a fault: never finishes. */
  readonly stuck?: boolean | undefined;
}

/** A database user of specification 2.7. The password is kept as its SHA-256 in hex. */
export interface UserRecord {
  readonly username: string;
  readonly passwordHash: string;
  readonly acl: string;
}

export interface NodeRecord {
  readonly id: string;
  readonly port: number;
  readonly role: "primary" | "replica";
  /** Its process does not run. */
  readonly isDown?: boolean | undefined;
}

/** What went wrong last, with an operation or with the database by itself. */
export interface FailureRecord {
  readonly at: string;
  readonly reason: string;
  readonly of?: OperationName | "database" | undefined;
  /** It failed on request: nobody tries to put it right. */
  readonly byFault?: boolean | undefined;
}

/** A resource instance (specification 2.1) as the control plane remembers it; a cloud account is one, too. */
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
  /** requestParams as sent, updates merged in. Holds the password in clear: files are 0600. */
  readonly params: JsonObject;
  readonly status: string;
  readonly createdAt: string;
  readonly lastModified: string;
  readonly operation?: OperationRecord | undefined;
  readonly failure?: FailureRecord | undefined;
  /** Whether the database should run once nothing is in progress. */
  readonly power: "running" | "stopped";
  readonly host?: string | undefined;
  readonly nodes: readonly NodeRecord[];
  readonly users: readonly UserRecord[];
  readonly deletionProtection: boolean;
  readonly customTags: readonly JsonObject[];
  readonly sourceSnapshotId?: string | undefined;
  /** The version of its plan; absent in records of earlier versions. */
  readonly planVersion?: string | undefined;
  /** Milliseconds since the epoch until which lists leave it out (a fault). */
  readonly missingUntil?: number | undefined;
  /** Of a cloud account: its account configuration. */
  readonly accountConfigId?: string | undefined;
}

/** A snapshot (specification 2.3), with what a restore needs after its instance is gone. */
export interface SnapshotRecord {
  readonly id: string;
  readonly sourceInstanceId: string;
  readonly type: "ManualSnapshot" | "AutomatedSnapshot";
  readonly status: "pending" | "completed" | "FAILED";
  /** Why it failed. */
  readonly failure?: string | undefined;
  readonly progress: number;
  readonly cloudProvider: string;
  readonly region: string;
  readonly createdAt: string;
  readonly completedAt?: string | undefined;
  readonly tier: string;
  readonly component: string;
  readonly subscriptionId?: string | undefined;
  readonly params: JsonObject;
  /** The version of the plan that its instance had. */
  readonly planVersion?: string | undefined;
  readonly networkType: string;
  readonly customNetworkId?: string | undefined;
  /** The users that its instance had; absent in snapshots of earlier versions. */
  readonly users?: readonly UserRecord[] | undefined;
  /** Of a copy: made by a fault to never complete. */
  readonly stuck?: boolean | undefined;
  /** Of a copy: the snapshot it is made from. */
  readonly copyOf?: string | undefined;
}

/** A custom network (specification 2.4). */
export interface NetworkRecord {
  readonly id: string;
  readonly name: string;
  readonly cloudProvider: string;
  readonly region: string;
  readonly cidr: string;
  readonly createdAt: string;
  readonly lastModified: string;
}

/** An account configuration: one account of a customer at a cloud provider. */
export interface AccountConfigRecord {
  readonly id: string;
  readonly cloudProvider: string;
  /** The provider's own name of the account: account id, project id, subscription id or tenancy id. */
  readonly account: string;
  readonly status: "PENDING" | "READY" | "READY_TO_OFFBOARD" | "OFFBOARDED";
  readonly params: JsonObject;
  readonly createdAt: string;
  /** Its owner has taken the access to it away, for a while. */
  readonly isDisconnected?: boolean | undefined;
}

/** True for what a file of the instances' folder holds. */
export function isInstanceRecord(value: unknown): value is InstanceRecord {
  return (
    hasTexts(value, ["id", "tier", "component", "cloudProvider", "status", "createdAt"]) &&
    isObject(value["params"]) &&
    Array.isArray(value["nodes"]) &&
    Array.isArray(value["users"])
  );
}

/** True for what a file of the snapshots' folder holds. */
export function isSnapshotRecord(value: unknown): value is SnapshotRecord {
  return (
    hasTexts(value, ["id", "sourceInstanceId", "type", "status", "region", "tier"]) &&
    isObject(value["params"])
  );
}

/** True for what a file of the networks' folder holds. */
export function isNetworkRecord(value: unknown): value is NetworkRecord {
  return hasTexts(value, ["id", "name", "cloudProvider", "region", "cidr"]);
}

/** True for what a file of the account configurations' folder holds. */
export function isAccountConfigRecord(value: unknown): value is AccountConfigRecord {
  return hasTexts(value, ["id", "cloudProvider", "account", "status"]) && isObject(value["params"]);
}

function hasTexts(value: unknown, keys: readonly string[]): value is JsonObject {
  return isObject(value) && keys.every((key) => typeof value[key] === "string");
}

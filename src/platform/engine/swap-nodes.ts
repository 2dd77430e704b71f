/** @module Swaps the roles of a database's nodes together with its record. */
import { openFolder, saveRecord, withDataState, withPrimary } from "./database-record.ts";
import { swapRoles } from "./failover.ts";
import type { LiveNode } from "./live-node.ts";
import { removeData } from "./node-data.ts";
import type { LoginOf } from "./node-health.ts";

/** Swaps primary and replica and records the new primary. Rejects as `swapRoles` does. */
export async function swapNodes(
  dir: string,
  nodes: readonly [LiveNode, LiveNode],
  loginOf: LoginOf,
): Promise<void> {
  const [primary, replica] = nodes;
  const recordPrimary = async (isReplica: boolean): Promise<void> => {
    const { record } = await openFolder(dir, nodes.length);
    await saveRecord(dir, withPrimary(record, isReplica ? replica.index : primary.index));
  };
  await swapRoles(loginOf(primary), loginOf(replica), recordPrimary);
}

/** Records that a stopped replica has no data, and deletes its data. */
export async function emptyNode(dir: string, nodes: number, { index, files }: LiveNode): Promise<void> {
  const { record } = await openFolder(dir, nodes);
  await saveRecord(dir, withDataState(record, index, "none"));
  await removeData(files);
}

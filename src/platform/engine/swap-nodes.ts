import { openFolder, saveRecord, withDataState, withPrimary } from "./database-record.ts";
import { swapRoles } from "./failover.ts";
import type { LiveNode } from "./live-node.ts";
import { removeData } from "./node-data.ts";
import type { LoginOf } from "./node-health.ts";

/** Swaps the roles of a database's two nodes, and writes it down on the way; as `swapRoles`. */
export async function swapNodes(
  dir: string,
  nodes: readonly [LiveNode, LiveNode],
  loginOf: LoginOf,
): Promise<void> {
  const [primary, replica] = nodes;
  const decide = async (isReplica: boolean): Promise<void> => {
    const { record } = await openFolder(dir, nodes.length);
    await saveRecord(dir, withPrimary(record, isReplica ? replica.index : primary.index));
  };
  await swapRoles(loginOf(primary), loginOf(replica), decide);
}

/** Lets a replica that does not run begin with nothing: it is written down that it has no data, and they are removed. */
export async function emptyNode(dir: string, nodes: number, { index, files }: LiveNode): Promise<void> {
  const { record } = await openFolder(dir, nodes);
  await saveRecord(dir, withDataState(record, index, "none"));
  await removeData(files);
}

/** @module Makes every node of a database run as its spec says. */
import { type BringUpTask, filesOf, loginOf } from "./bring-up-node.ts";
import { bringUpPrimary, type RunningNodes } from "./bring-up-primary.ts";
import { keepDataOf, replicaInSync } from "./bring-up-replica.ts";
import {
  type DatabaseRecord,
  openFolder,
  saveRecord,
  withDataState,
  withPrimary,
} from "./database-record.ts";
import { EngineError } from "./engine-error.ts";
import { findRunning } from "./find-running.ts";
import type { LiveNode } from "./live-node.ts";
import { isDataGone, markData } from "./node-data.ts";
import { configuredPort } from "./node-files.ts";
import { isFollowing, replicationOf } from "./replication.ts";
import { endNode } from "./shut-down.ts";
import { forbidWrites, permitWrites } from "./write-permission.ts";

/** The nodes of a database after its start. */
export interface BroughtUp {
  /** Primary first. */
  readonly nodes: readonly LiveNode[];
  /** Reason why a replica does not run or is not in sync; the primary serves all the same. */
  readonly trouble: Error | undefined;
  /** True where another node became primary in place of the recorded one, which now runs again with its own data, in sync. */
  readonly isBack: boolean;
}

/**
 * Takes over processes that run as the spec says and restarts all others. Finds out which node has the data, records it as primary,
 * and only then permits it to take writes; the other nodes replicate it. A `failed` node is started as well, since its files may
 * have acknowledged writes that no other node has; only where that fails, another node becomes primary with the data that it has.
 * Rejects as `Engine.start` does and ends the processes that it started.
 */
export async function bringUp(task: BringUpTask): Promise<BroughtUp> {
  const { failed, folder, notify, signal } = task;
  if (failed === undefined) return bringUpNodes(task);
  try {
    return { ...(await bringUpNodes({ ...task, failed: undefined })), isBack: false };
  } catch (error) {
    signal?.throwIfAborted();
    const reason = error instanceof Error ? error.message : error;
    notify(`the database cannot be started with node-${failed} (${reason}): it is started without it`);
    return bringUpNodes({ ...task, folder: await openFolder(folder.dir, folder.nodes.length) });
  }
}

async function bringUpNodes(task: BringUpTask): Promise<BroughtUp> {
  const { folder, spec, signal } = task;
  const running = await Promise.all(
    folder.nodes.map((files) => findRunning(files, folder.record.secret, spec, signal)),
  );
  const started: LiveNode[] = [];
  const track = (node: LiveNode): LiveNode => {
    if (running[node.index]?.server.pid !== node.server?.identity.pid) started.push(node);
    return node;
  };
  try {
    // Only the recorded primary may take writes.
    for (const [index, node] of running.entries())
      if (node?.takesWrites === true && (index !== folder.record.primary || index === task.failed))
        await forbidWrites(loginOf(task, node.port));
    const primary = track(await bringUpPrimary(task, running));
    const record = await recordPrimary(task, primary, running);
    await permitWrites(loginOf(task, primary.port));
    return await bringUpReplicas(task, primary, record, running, track);
  } catch (error) {
    await Promise.all(started.map(({ files }) => endNode(files.folder, 5000)));
    throw error;
  }
}

/** Records the primary, and that nodes which do not replicate it yet miss its next writes. */
async function recordPrimary(
  { folder, spec, ...task }: BringUpTask,
  primary: LiveNode,
  running: RunningNodes,
): Promise<DatabaseRecord> {
  const { dir, record: before } = folder;
  let record = withDataState(withPrimary(before, primary.index), primary.index, "whole");
  for (const index of folder.nodes.keys()) {
    if (index === primary.index || record.nodes[index] !== "whole") continue;
    const other = running[index];
    const login = other === undefined ? undefined : loginOf({ folder, spec, ...task }, other.port);
    const seen = login === undefined ? undefined : await replicationOf(login).catch(() => undefined);
    const follows =
      seen !== undefined && isFollowing(seen, primary.port) && seen.get("master_link_status") === "up";
    if (!follows) record = withDataState(record, index, "behind");
  }
  if (JSON.stringify(record) !== JSON.stringify(before)) await saveRecord(dir, record);
  await markData(primary.files, spec.aof !== undefined, record.epoch);
  return record;
}

async function bringUpReplicas(
  task: BringUpTask,
  primary: LiveNode,
  recorded: DatabaseRecord,
  running: RunningNodes,
  track: (node: LiveNode) => LiveNode,
): Promise<BroughtUp> {
  const { folder, spec, signal } = task;
  const former = folder.record.primary;
  const nodes = [primary];
  let isBack = false;
  let record = recorded;
  let trouble: Error | undefined;
  for (const index of folder.nodes.keys()) {
    if (index === primary.index) continue;
    const files = filesOf(task, index);
    const launched: LiveNode[] = [];
    try {
      const hadData = former === index && task.failed !== index && !(await isDataGone(files));
      if (former === index && task.failed === index) await keepDataOf(task, index, running[index]);
      nodes.push(
        await replicaInSync(task, index, running[index], primary, (node) => {
          launched.push(node);
          return track(node);
        }),
      );
      isBack ||= hadData && !(await isDataGone(files));
      await markData(files, spec.aof !== undefined);
      if (record.nodes[index] === "whole") continue;
      record = withDataState(record, index, "whole");
      await saveRecord(folder.dir, record);
    } catch (error) {
      signal?.throwIfAborted();
      trouble = new EngineError(
        "engine-start",
        `replica ${files.id}: ${error instanceof Error ? error.message : error}`,
        error,
      );
      const port = spec.ports?.[index] ?? (await configuredPort(files)) ?? 0;
      if (!nodes.some((node) => node.index === index))
        nodes.push(launched.at(-1) ?? { index, role: "replica", port, files });
    }
  }
  return { nodes, trouble, isBack };
}

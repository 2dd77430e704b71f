/** @module Makes every node of a database run as its spec says. */
import { adoptNode, type BringUpTask, filesOf, isAsWanted, launchNode, loginOf } from "./bring-up-node.ts";
import { bringUpPrimary, type RunningNodes } from "./bring-up-primary.ts";
import {
  type DatabaseRecord,
  openFolder,
  saveRecord,
  withDataState,
  withPrimary,
} from "./database-record.ts";
import {
  endNode,
  findRunning,
  isResponsive,
  type LiveNode,
  type Running,
  stillRunning,
} from "./live-node.ts";
import { configuredPort } from "./node-config.ts";
import { isDataGone, markData, moveDataAway } from "./node-data.ts";
import { follow, forbidWrites, isFollowing, type Peer, permitWrites, replicationOf } from "./replication.ts";
import { EngineError, isAboutData } from "./spec.ts";

export interface BroughtUp {
  /** Primary first. */
  readonly nodes: readonly LiveNode[];
  readonly trouble: Error | undefined;
  /** True if another node became primary in place of the recorded one, which now runs again with its own data, in sync. */
  readonly isBack: boolean;
}

/**
 * Takes over processes that run as the spec says and restarts all others. Finds out which node has the data, records it as primary,
 * and only then permits it to take writes; the other nodes replicate it. A `failed` node is started as well, since its files may
 * have acknowledged writes that no other node has; only if that fails, another node becomes primary with the data that it has.
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
    notify(
      `the database cannot be started with ${filesOf(task, failed).id} (${reason}): it is started without it`,
    );
    const ids = folder.nodes.map(({ id }) => id);
    return bringUpNodes({ ...task, folder: await openFolder(folder.dir, ids) });
  }
}

async function bringUpNodes(task: BringUpTask): Promise<BroughtUp> {
  const { folder, spec, signal } = task;
  const running = await Promise.all(
    folder.nodes.map((files) => findRunning(files, folder.record.secret, spec, signal)),
  );
  try {
    // Only the recorded primary may take writes.
    for (const [index, node] of running.entries())
      if (node?.takesWrites === true && (index !== folder.record.primary || index === task.failed))
        await forbidWrites(loginOf(task, node.port));
    const primary = await bringUpPrimary(task, running);
    const record = await recordPrimary(task, primary, running);
    await permitWrites(loginOf(task, primary.port));
    return await bringUpReplicas(task, primary, record, running);
  } catch (error) {
    const started = folder.nodes.filter((_, index) => stillRunning(running[index]) === undefined);
    await Promise.all(started.map((files) => endNode(files.folder, 5000)));
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
    let node: LiveNode | undefined;
    const launched = (live: LiveNode): void => {
      node = live;
    };
    try {
      const hadData = former === index && task.failed !== index && !(await isDataGone(files));
      if (former === index && task.failed === index) await keepDataOf(task, index, running[index]);
      await replicaInSync(task, index, running[index], primary, launched);
      isBack ||= hadData && !(await isDataGone(files));
      await markData(files, spec.aof !== undefined);
      if (record.nodes[index] !== "whole") {
        record = withDataState(record, index, "whole");
        await saveRecord(folder.dir, record);
      }
    } catch (error) {
      signal?.throwIfAborted();
      const message = `replica ${files.id}: ${error instanceof Error ? error.message : error}`;
      trouble = new EngineError("engine-start", message, error);
    }
    const port = spec.ports?.[index] ?? (await configuredPort(files)) ?? 0;
    nodes.push(node ?? { index, role: "replica", port, files });
  }
  return { nodes, trouble, isBack };
}

/** Attempts to start a replica that hangs. */
const attempts = 3;

/**
 * Starts a replica and waits until it is in sync. One that hangs is started again: if the server forks right after a full copy,
 * the graph module can leave a graph locked, and the next replicated write blocks the server for ever.
 */
async function replicaInSync(
  task: BringUpTask,
  index: number,
  running: Running | undefined,
  primary: LiveNode,
  launched: (node: LiveNode) => void,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const before = attempt === 1 ? running : undefined;
    const node = await bringUpReplica(task, index, before, primary.port);
    launched(node);
    const end = await follow(peerOf(task, node), peerOf(task, primary), task.signal);
    if (end === "in sync") return;
    if (attempt === attempts) throw new EngineError("engine-start", `it hung ${attempts} times`);
    task.notify(`${node.files.id} hangs after a full copy; it is started again`);
    await endNode(node.files.folder, 0);
  }
}

/** Starts a replica. Data that it cannot start with is moved away: it gets a full copy from its primary. */
async function bringUpReplica(
  task: BringUpTask,
  index: number,
  running: Running | undefined,
  primaryPort: number,
): Promise<LiveNode> {
  const files = filesOf(task, index);
  const still = stillRunning(running);
  if (still !== undefined && (await isAsWanted(task, index, still)))
    return adoptNode(task, index, still, { primaryPort });
  await still?.end();
  try {
    return await launchNode(task, index, { primaryPort });
  } catch (error) {
    if (!isAboutData(error)) throw error;
    task.notify(
      `${files.id} cannot start with its data and copies it again from the primary; the old data is kept in ${files.data}.aside`,
    );
    await moveDataAway(files);
    return launchNode(task, index, { primaryPort });
  }
}

/** Ends a failed primary and moves its data away: they may have writes that the new primary lacks. */
async function keepDataOf(task: BringUpTask, index: number, running: Running | undefined): Promise<void> {
  const files = filesOf(task, index);
  await stillRunning(running)?.end();
  if (await moveDataAway(files))
    task.notify(
      `${files.id} copies the data of the new primary; what it had is kept in ${files.data}.aside, also writes that the new primary lacks`,
    );
}

function peerOf(task: BringUpTask, node: LiveNode): Peer {
  const login = loginOf(task, node.port);
  const isAlive = (): boolean => node.server?.isAlive() ?? false;
  return { login, isAlive, responds: () => isResponsive(node, login) };
}

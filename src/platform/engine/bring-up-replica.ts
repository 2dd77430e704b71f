/** @module Starts a replica and brings it in sync with its primary. */
import { adoptNode, type BringUpTask, filesOf, isAsWanted, launchNode, loginOf } from "./bring-up-node.ts";
import { EngineError, isAboutData } from "./engine-error.ts";
import { type Running, stillRunning } from "./find-running.ts";
import type { LiveNode } from "./live-node.ts";
import { setDataAside } from "./node-data.ts";
import { isResponsive } from "./node-health.ts";
import { follow, type Peer } from "./replication.ts";
import { endNode } from "./shut-down.ts";

/** Attempts to start a replica that hangs. */
const attempts = 3;

/**
 * Starts a replica and waits until it is in sync. One that hangs is ended and started again: the graph module can leave a graph
 * locked when the server forks right after a full copy, and then the next replicated write blocks the server for ever.
 */
export async function replicaInSync(
  task: BringUpTask,
  index: number,
  running: Running | undefined,
  primary: LiveNode,
  track: (node: LiveNode) => LiveNode,
): Promise<LiveNode> {
  for (let attempt = 1; ; attempt += 1) {
    const before = attempt === 1 ? running : undefined;
    const node = track(await bringUpReplica(task, index, before, primary.port));
    const end = await follow(peerOf(task, node), peerOf(task, primary), task.signal);
    if (end === "in sync") return node;
    if (attempt === attempts) throw new EngineError("engine-start", `it hung ${attempts} times`);
    task.notify(`${node.files.id} hangs after a full copy; it is started again`);
    await endNode(node.files.folder, 0);
  }
}

/** Starts a replica. Data that it cannot start with is moved aside: it gets a full copy from its primary. */
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
    await setDataAside(files);
    return launchNode(task, index, { primaryPort });
  }
}

/** Ends a failed primary and moves its data aside: they may have writes that the new primary lacks. */
export async function keepDataOf(
  task: BringUpTask,
  index: number,
  running: Running | undefined,
): Promise<void> {
  const files = filesOf(task, index);
  await stillRunning(running)?.end();
  if (await setDataAside(files))
    task.notify(
      `${files.id} copies the data of the new primary; what it had is kept in ${files.data}.aside, also writes that the new primary lacks`,
    );
}

function peerOf(task: BringUpTask, node: LiveNode): Peer {
  const login = loginOf(task, node.port);
  const isAlive = (): boolean => node.server?.isAlive() ?? false;
  return { login, isAlive, responds: () => isResponsive(node, login) };
}

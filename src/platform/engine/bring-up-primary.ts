/** @module Chooses the node that has the data and makes it primary. */
import { setTimeout as sleep } from "node:timers/promises";
import { adoptNode, type BringUpTask, filesOf, isAsWanted, launchNode, loginOf } from "./bring-up-node.ts";
import { type Login, talk } from "./connection.ts";
import type { DatabaseRecord } from "./database-record.ts";
import { endNode, type LiveNode, type Running, stillRunning } from "./live-node.ts";
import { configuredPort, type NodeFiles } from "./node-config.ts";
import { historyOf, isDataGone, lastWriteOf, prepareData } from "./node-data.ts";
import { forbidWrites, isFollowing, replicationOf, setPrimary } from "./replication.ts";
import { EngineError, isAboutData } from "./spec.ts";

export type RunningNodes = readonly (Running | undefined)[];

/**
 * Starts the first of `primaryCandidates` that has its data; it takes no writes yet. Until then no node replicates another one
 * that may be empty. Rejects with the first error if no node can be primary.
 */
export async function bringUpPrimary(task: BringUpTask, running: RunningNodes): Promise<LiveNode> {
  const candidates = await candidatesOf(task, running);
  let failure: unknown;
  let empty: number | undefined;
  for (const loadsTruncated of [false, true]) {
    for (const index of candidates) {
      try {
        const node = await startAsPrimary(task, index, running, loadsTruncated);
        const others = candidates.filter((other) => other !== index);
        if (running[index]?.takesWrites === true) return node;
        if (!(await cameBackEmpty(task, node, others, running, empty))) return node;
        task.notify(`${node.files.id} started without the keys that it had; another node is tried`);
        await endNode(node.files.folder, 5000);
        empty ??= index;
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        failure ??= error;
        task.notify(`${filesOf(task, index).id} cannot be primary: ${error.message}`);
        // Only damaged data let a node take its place that may lack acknowledged writes: all else may pass.
        if (index === task.folder.record.primary && !isAboutData(error)) throw error;
      }
    }
    if (empty !== undefined) return startAsPrimary(task, empty, [], false);
    // A truncated append-only file is used only if no node has a complete one.
    if (!isAboutData(failure)) break;
  }
  throw failure;
}

async function candidatesOf(task: BringUpTask, running: RunningNodes): Promise<readonly number[]> {
  const { record, nodes } = task.folder;
  const gone = await Promise.all(nodes.map((files, at) => record.nodes[at] !== "none" && isDataGone(files)));
  const proven = await Promise.all(nodes.map((_, at) => hasAllWrites(task, at, running)));
  const known = nodes.map(({ id }, at) => ({
    id,
    runs: running[at] !== undefined,
    isGone: gone[at] ?? false,
    hasAllWrites: proven[at] ?? false,
  }));
  const found = primaryCandidates(record, known, task.failed);
  if (!found.includes(record.primary) && task.failed === undefined)
    task.notify(
      `${nodes[record.primary]?.id} has lost its data; ${nodes[found[0] ?? 0]?.id} becomes primary with the data that it has`,
    );
  return found;
}

/** True if a node's memory has every acknowledged write. With `appendfsync always`, the recorded primary's files have them. */
async function hasAllWrites(task: BringUpTask, index: number, running: RunningNodes): Promise<boolean> {
  const node = running[index];
  const { primary } = task.folder.record;
  if (node === undefined || index === task.failed) return false;
  if (index === primary) return true;
  if (task.spec.aof === "always" || running[primary] !== undefined) return false;
  return heardItsPrimaryToTheEnd(loginOf(task, node.port), filesOf(task, primary));
}

async function startAsPrimary(
  task: BringUpTask,
  index: number,
  running: RunningNodes,
  loadsTruncated: boolean,
): Promise<LiveNode> {
  const files = filesOf(task, index);
  const own = stillRunning(running[index]);
  if (own !== undefined && (await isAsWanted(task, index, own))) {
    if (own.role === "replica") await setPrimary(loginOf(task, own.port), undefined);
    return adoptNode(task, index, own, {});
  }
  await detachOthers(task, index, running);
  await own?.end();
  await prepareData(task.spec, files);
  const node = await launchNode(task, index, { loadsTruncated });
  if (loadsTruncated)
    task.notify(`the append-only file of ${files.id} was cut short; what was there is served`);
  return node;
}

/** Stops the other nodes from replicating and from taking writes, before a node starts as primary. */
async function detachOthers(task: BringUpTask, index: number, running: RunningNodes): Promise<void> {
  for (const [at, node] of running.entries()) {
    const other = stillRunning(node);
    if (at === index || other === undefined) continue;
    const login = loginOf(task, other.port);
    await forbidWrites(login).catch(() => undefined);
    if (other.role === "replica") await setPrimary(login, undefined).catch(() => undefined);
  }
}

/**
 * True if a node has no key and another one has keys, or may have: its files were emptied, not the database (`empty` is a node
 * already found empty). A database that its clients emptied has that in its append-only file.
 */
async function cameBackEmpty(
  task: BringUpTask,
  node: LiveNode,
  others: readonly number[],
  running: RunningNodes,
  empty: number | undefined,
): Promise<boolean> {
  if (others.length === 0 || (await keysOf(task, node.port)) > 0) return false;
  if (empty !== undefined) return true;
  const own = await historyOf(node.files);
  for (const index of others) {
    const port = running[index]?.port;
    const hasMore = (await historyOf(filesOf(task, index))) > own || task.spec.aof === undefined;
    if (hasMore && (port === undefined || (await keysOf(task, port).catch(() => 0)) > 0)) return true;
  }
  return false;
}

async function keysOf(task: BringUpTask, port: number): Promise<number> {
  return Number(await talk(loginOf(task, port), (ask) => ask("DBSIZE")));
}

/** Time for a replica to read what its ended primary still sent, without progress, in ms. */
const drainTimeout = 5000;

/**
 * True if a running replica of an ended primary has read all that it was sent, and its link held until the primary's last write
 * to its files. A replica whose link broke earlier, or that copies the data again, lacks later writes.
 */
async function heardItsPrimaryToTheEnd(replica: Login, primary: NodeFiles): Promise<boolean> {
  const port = await configuredPort(primary);
  let offset: string | undefined;
  for (let moved = performance.now(); performance.now() - moved < drainTimeout; await sleep(10)) {
    const seen = await replicationOf(replica).catch(() => new Map<string, string>());
    if (port === undefined || !isFollowing(seen, port) || seen.get("master_sync_in_progress") === "1")
      return false;
    // The link of an ended primary breaks once all of it is read.
    if (seen.get("master_link_status") !== "up") return heldUntilLastWrite(seen, await lastWriteOf(primary));
    if (seen.get("slave_repl_offset") !== offset) moved = performance.now();
    offset = seen.get("slave_repl_offset");
  }
  return false;
}

/** True if the link broke after the primary's last write, as exactly as the server's whole seconds show it. */
function heldUntilLastWrite(replica: ReadonlyMap<string, string>, lastWrite: number): boolean {
  const down = Number(replica.get("master_link_down_since_seconds") ?? -1);
  return down >= 0 && lastWrite < (Math.floor(Date.now() / 1000) - down + 1) * 1000;
}

export interface CandidateNode {
  readonly id: string;
  readonly runs: boolean;
  /** The node had the data, and its folder has lost it. */
  readonly isGone: boolean;
  /** The memory of the running node provably has every write that was acknowledged. */
  readonly hasAllWrites: boolean;
}

/**
 * Indexes of possible primaries, best first, by evidence: a node whose memory has every acknowledged write, then the recorded
 * primary with what is in its files, then others that were in sync with it. Those are meant for a primary whose data are damaged;
 * the asynchronous replication may not have brought them the last writes. With a `failed` node, one that is behind is also possible.
 * An empty folder is never served in place of data: throws EngineError if all nodes have lost the data, or only a node is left
 * that misses writes.
 */
export function primaryCandidates(
  record: DatabaseRecord,
  nodes: readonly CandidateNode[],
  failed?: number,
): readonly number[] {
  const inOrder = [record.primary, ...nodes.keys()].filter(
    (index, at) => at === 0 || index !== record.primary,
  );
  const isNew = record.nodes.every((dataState) => dataState === "none");
  if (isNew && failed === undefined) return inOrder.slice(0, 1);
  const hasData = (index: number): boolean => {
    const node = nodes[index];
    return node !== undefined && record.nodes[index] !== "none" && (node.runs || !node.isGone);
  };
  const left = inOrder.filter((index) => index !== failed && hasData(index));
  const whole = left.filter((index) => index === record.primary || record.nodes[index] === "whole");
  const provenFirst = (a: number, b: number): number =>
    Number(nodes[b]?.hasAllWrites === true) - Number(nodes[a]?.hasAllWrites === true);
  if (whole.length > 0) return whole.toSorted(provenFirst);
  if (failed !== undefined && left.length > 0) return left;
  const idOf = (index: number): string => nodes[index]?.id ?? "";
  const [behind] = left;
  if (behind !== undefined) {
    throw new EngineError(
      "engine-start",
      `the data of ${idOf(record.primary)} are gone, and ${idOf(behind)} lacks the latest writes: put the data back, ` +
        `or go on with what ${idOf(behind)} has by a failover of ${idOf(record.primary)}`,
    );
  }
  const names = [...nodes.keys()].filter((index) => index !== failed && record.nodes[index] !== "none");
  throw new EngineError(
    "engine-start",
    names.length === 0
      ? "no other node has the data"
      : `the data of ${names.map(idOf).join(" and ")} are gone: put them back and restart it, or ` +
          "restore a snapshot",
  );
}

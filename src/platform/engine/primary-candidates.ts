/** @module Decides which nodes may become primary. */
import type { DatabaseRecord } from "./database-record.ts";
import { EngineError } from "./engine-error.ts";

/** Facts about one node. */
export interface CandidateNode {
  /** The node runs and answers. */
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
 * An empty folder is never served in place of data: throws EngineError where all nodes have lost the data, or only a node is left
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
  const [behind] = left;
  if (behind !== undefined) {
    throw new EngineError(
      "engine-start",
      `the data of node-${record.primary} are gone, and node-${behind} lacks the latest writes: put the data back, ` +
        `or go on with what node-${behind} has by a failover of node-${record.primary}`,
    );
  }
  const names = [...nodes.keys()].filter((index) => index !== failed && record.nodes[index] !== "none");
  throw new EngineError(
    "engine-start",
    names.length === 0
      ? "no other node has the data"
      : `the data of ${names.map((index) => `node-${index}`).join(" and ")} are gone: put them back and restart it, or ` +
          "restore a snapshot",
  );
}

import type { DatabaseRecord } from "./database-record.ts";
import { EngineError } from "./engine-error.ts";

/** What is known of one node before it is decided who is primary. */
export interface CandidateNode {
  /** It runs and answers. */
  readonly runs: boolean;
  /** It had the data, and they are no longer in its folder. */
  readonly isGone: boolean;
}

/**
 * Indexes of the nodes that may become primary, best first: the recorded one, then others that have all of the data. `failed` is a
 * node that must not: then one that is behind may. Nobody's empty folder is served in the place of data: throws EngineError where
 * the data of all nodes are gone, and where only a node is left that the primary had taken writes without.
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
  if (whole.length > 0) return whole;
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

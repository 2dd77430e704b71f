import { describe, expect, it } from "vitest";
import { type CandidateNode, primaryCandidates } from "../../../src/platform/engine/bring-up-primary.ts";
import type { DatabaseRecord, DataState } from "../../../src/platform/engine/database-record.ts";

const record = (primary: number, ...nodes: readonly DataState[]): DatabaseRecord => ({
  secret: "s",
  primary,
  epoch: 3,
  nodes,
});
type Facts = Omit<CandidateNode, "id">;
const up: Facts = { runs: true, isGone: false, hasAllWrites: false };
const down: Facts = { runs: false, isGone: false, hasAllWrites: false };
const proven: Facts = { runs: true, isGone: false, hasAllWrites: true };
const gone: Facts = { runs: false, isGone: true, hasAllWrites: false };
/** It runs on, and its folder was removed under it: what it has in memory counts. */
const homeless: Facts = { runs: true, isGone: true, hasAllWrites: true };

const named = (nodes: readonly Facts[]): readonly CandidateNode[] =>
  nodes.map((node, at) => ({ ...node, id: `node-${at}` }));

describe("who may become primary", () => {
  it.each<readonly [string, DatabaseRecord, readonly Facts[], number | undefined, readonly number[]]>([
    ["the first node of a new database", record(0, "none", "none"), [down, down], undefined, [0]],
    ["the only node", record(0, "whole"), [down], undefined, [0]],
    ["the recorded one first", record(1, "whole", "whole"), [up, up], undefined, [1, 0]],
    ["not one that lacks writes", record(0, "whole", "behind"), [down, up], undefined, [0]],
    ["not one that never had the data", record(0, "whole", "none"), [down, up], undefined, [0]],
    ["the other one where the data are gone", record(0, "whole", "whole"), [gone, down], undefined, [1]],
    ["one whose data are gone while it runs", record(0, "whole"), [homeless], undefined, [0]],
    [
      "a replica that has every write before a primary's files",
      record(0, "whole", "whole"),
      [down, proven],
      undefined,
      [1, 0],
    ],
    [
      "the primary's files before a replica that may lack writes",
      record(0, "whole", "whole"),
      [down, up],
      undefined,
      [0, 1],
    ],
    ["anybody but the failed one", record(0, "whole", "whole"), [up, up], 0, [1]],
    ["in the place of a failed one also what is behind", record(0, "whole", "behind"), [gone, down], 0, [1]],
  ])("%s", (_why, known, nodes, failed, expected) => {
    expect(primaryCandidates(known, named(nodes), failed)).toEqual(expected);
  });

  it.each<readonly [string, DatabaseRecord, readonly Facts[], number | undefined, RegExp]>([
    ["the only node has lost its data", record(0, "whole"), [gone], undefined, /data of node-0 are gone/],
    ["both have", record(0, "whole", "whole"), [gone, gone], undefined, /data of node-0 and node-1 are gone/],
    [
      "only one is left that lacks writes",
      record(0, "whole", "behind"),
      [gone, up],
      undefined,
      /failover of node-0/,
    ],
    [
      "the failed one is the only one with data",
      record(0, "whole", "none"),
      [up, up],
      0,
      /no other node has/,
    ],
    ["it is new and its node failed", record(0, "none"), [down], 0, /no other node has/],
  ])("nobody, where %s", (_why, known, nodes, failed, message) => {
    expect(() => primaryCandidates(known, named(nodes), failed)).toThrow(message);
  });
});

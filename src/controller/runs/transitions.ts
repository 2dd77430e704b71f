/** @module The states of a run, the ways between them, and the events of its log. */
import type { ApplyEvent } from "../../index.ts";

/** Each state with those that may follow it; a state without followers is an end. */
const table = {
  pending: ["planning", "superseded", "canceled", "errored"],
  planning: ["planned", "pending", "superseded", "canceled", "errored"],
  planned: ["policy_checked", "planned_and_finished", "blocked"],
  policy_checked: ["approved", "needs_approval"],
  needs_approval: ["approved", "discarded", "superseded"],
  approved: ["applying", "discarded", "superseded", "canceled", "errored"],
  // `approved` again: the run was put back before it began, or its worker was told to stop.
  applying: ["applied", "converging", "approved", "needs_approval", "stale", "canceled", "errored"],
  converging: ["applying", "approved", "stale", "canceled", "errored"],
  applied: [],
  planned_and_finished: [],
  blocked: [],
  discarded: [],
  superseded: [],
  canceled: [],
  stale: [],
  errored: [],
} as const;

export type RunStatus = keyof typeof table;

const transitions: { readonly [state in RunStatus]: readonly RunStatus[] } = table;

export type Way = {
  [S in RunStatus]: {
    [T in (typeof table)[S][number]]: { readonly from: S; readonly to: T; readonly why?: string };
  }[(typeof table)[S][number]];
}[RunStatus];

/** True if the second state may follow the first. */
export function isWay(way: {
  readonly from: RunStatus;
  readonly to: RunStatus;
  readonly why?: string;
}): way is Way {
  return transitions[way.from].includes(way.to);
}

/** States in which objects are made or changed; those in which a run is at work, of which a manifest has one at a time. */
export const making: readonly RunStatus[] = ["applying", "converging"];
export const atWork: readonly RunStatus[] = ["planning", ...making];

export const statuses = Object.keys(transitions) as readonly RunStatus[];

export function isEnd(status: RunStatus): boolean {
  return transitions[status].length === 0;
}

export function mayEndErrored(status: RunStatus): status is Extract<Way, { readonly to: "errored" }>["from"] {
  return transitions[status].includes("errored");
}

/** safe: creates within the quota, changes in place without disruption, runtime parameters set back. risky: anything else. */
export type Verdict = "safe" | "risky";

export interface Counts {
  readonly [action: string]: number;
}

/** An event of a run: a new state, something that its apply reported, or a sentence about the run itself. No secrets. */
export type RunEvent =
  | { readonly type: "status"; readonly from?: RunStatus; readonly to: RunStatus; readonly why?: string }
  | { readonly type: "note"; readonly message: string }
  | { readonly type: "apply"; readonly event: ApplyEvent };

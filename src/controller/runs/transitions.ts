/** @module The states of a run and the ways between them. */

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
  converging: ["applying", "approved", "canceled", "errored"],
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

/** The table, for all states alike. */
const transitions: { readonly [state in RunStatus]: readonly RunStatus[] } = table;

/** The states that may follow a state. */
export type Follower<S extends RunStatus> = (typeof table)[S][number];

/** All states. */
export const statuses = Object.keys(transitions) as readonly RunStatus[];

/** True for a state that a run never leaves. */
export function isEnd(status: RunStatus): boolean {
  return transitions[status].length === 0;
}

/** safe: creates within the quota, changes in place without disruption, runtime parameters set back. risky: anything else. */
export type Verdict = "safe" | "risky";

/** Numbers of changes by action. */
export interface Counts {
  readonly [action: string]: number;
}

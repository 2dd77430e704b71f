import type { OperationName } from "../model/records.ts";

/** From where an operation may start, and the status it shows on its way. */
export interface Transition {
  /** Statuses it is allowed from; undefined: any. */
  readonly from: readonly string[] | undefined;
  readonly through: string;
}

const settled = ["RUNNING", "FAILED", "COMPLETE"];

/** The table of transitions; where each operation ends is the lifecycle's business. */
export const transitions: { readonly [name in OperationName]: Transition } = {
  create: { from: [], through: "DEPLOYING" },
  update: { from: settled, through: "DEPLOYING" },
  stop: { from: ["RUNNING"], through: "STOPPING" },
  start: { from: ["STOPPED"], through: "STARTING" },
  restart: { from: settled, through: "RESTARTING" },
  // Also for a database whose primary cannot be brought back.
  failover: { from: ["RUNNING", "FAILED", "RESTARTING"], through: "DEPLOYING" },
  backup: { from: ["RUNNING"], through: "BACKING_UP" },
  upgrade: { from: ["RUNNING", "STOPPED"], through: "DEPLOYING" },
  delete: { from: undefined, through: "DELETING" },
};

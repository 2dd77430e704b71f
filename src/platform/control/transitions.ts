/** @module Lists from which statuses each operation may start, and the status it shows. */
import type { OperationName } from "../model/records.ts";

/** Statuses around an operation. */
export interface Transition {
  /** Statuses in which it is accepted; undefined: any. */
  readonly from: readonly string[] | undefined;
  readonly through: string;
}

const settled = ["RUNNING", "FAILED", "COMPLETE"];

/** Transitions by operation; `execute` records the final status. */
export const transitions: { readonly [name in OperationName]: Transition } = {
  create: { from: [], through: "DEPLOYING" },
  update: { from: settled, through: "DEPLOYING" },
  stop: { from: ["RUNNING"], through: "STOPPING" },
  start: { from: ["STOPPED"], through: "STARTING" },
  restart: { from: settled, through: "RESTARTING" },
  // Failover is also the way out for a database whose primary cannot be restarted.
  failover: { from: ["RUNNING", "FAILED", "RESTARTING"], through: "DEPLOYING" },
  backup: { from: ["RUNNING"], through: "BACKING_UP" },
  upgrade: { from: ["RUNNING", "STOPPED"], through: "DEPLOYING" },
  delete: { from: undefined, through: "DELETING" },
};

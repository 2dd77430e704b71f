import type { Outcome, StepOutcome } from "../../src/model/outcome.ts";
import { field } from "./plan-parts.ts";

export function ended(address: string, rest: Partial<StepOutcome>): StepOutcome {
  const kind = address.split(".")[0] ?? "";
  return { key: address, address, kind, operation: "create", result: "done", elapsed: 12_000, ...rest };
}

export function outcome(rest: Partial<Outcome>): Outcome {
  return {
    steps: [],
    added: 0,
    changed: 0,
    destroyed: 0,
    outputs: {},
    certificate: [],
    warnings: [],
    exitCode: 0,
    ...rest,
  };
}

/** An apply in which everything that can happen happened. */
export const roughOutcome: Outcome = outcome({
  steps: [
    ended("instances.cache", { id: "instance-1" }),
    ended("instances.jobs", {
      operation: "update",
      id: "instance-2",
      result: "failed",
      message: "instance-2 failed: FAILED: out of capacity",
      hint: "the next plan offers to try it again in place; --replace instances.jobs asks for a new one",
    }),
    ended("instances.vault", {
      id: "instance-3",
      result: "converging",
      message: "instance-3 is still DEPLOYING after the time that was allowed",
    }),
    ended("instances.orders", {
      key: "instances.orders#delete",
      result: "blocked",
      message: "protected",
      hint: "--allow-destroy instances.orders",
    }),
    ended("instances.orders", {
      result: "blocked",
      message: "protected",
      hint: "--allow-destroy instances.orders",
    }),
    ended("users.reader", { result: "skipped", message: "not started: instances.orders is not done" }),
    ended("cloudAccounts.prod", {
      result: "waiting-for-person",
      message: "acc-1 waits for a person: PENDING",
    }),
    ended("instances.stale", {
      operation: "update",
      result: "stale",
      message: "instance-9 is no longer as it was when the plan was made: config.maxMemory",
    }),
    ended("instances.late", { result: "interrupted", message: "not started" }),
  ],
  added: 1,
  outputs: {
    endpoint: { value: "orders.example.net:6379", sensitive: false },
    password: { value: { $secret: "hmac-5b1f0c77" }, sensitive: true },
    port: { value: 6379, sensitive: false },
  },
  certificate: [
    {
      address: "instances.cache",
      kind: "instances",
      reason: "1 field differs",
      field: field("config.maxMemory", { before: "4GB", after: "6GB" }),
    },
  ],
  warnings: ["instance-1: the endpoint does not answer from here"],
  exitCode: 1,
});

/** @module Builds the parts that all steps have in common. */
import { defined } from "../model/json.ts";
import { notesOn } from "../model/last-applied.ts";
import type { Observed } from "../model/observed.ts";
import type { Change, Step } from "../model/plan.ts";
import type { PlanInput, Subject } from "./subjects.ts";

type Shared = Pick<Step, "address" | "kind" | "place" | "blocked"> & Partial<Step>;

export function existing(
  key: string,
  operation: Step["operation"],
  change: Change,
  subject: Subject,
  input: PlanInput,
): Step {
  const checks = change.fields.map((field) => field.path);
  const id = subject.observed?.id ?? subject.bound?.id;
  const { timeouts = {} } = subject.desired ?? {};
  return {
    ...shared(change, subject, input, subject.observed, checks),
    key,
    operation,
    place: subject.observed?.place ?? subject.bound?.place ?? {},
    ...defined({ id, spec: change.after, timeout: timeouts[operation === "delete" ? "delete" : "update"] }),
  };
}

/** The fields that all steps of a change share. `checks` are the paths of `observed` that the decision used. */
export function shared(
  change: Change,
  subject: Subject,
  input: PlanInput,
  observed: Observed | undefined,
  checks: readonly string[],
): Shared & Pick<Step, "precondition" | "checks" | "after"> {
  const seen = { kind: change.kind, place: observed?.place ?? {}, checks };
  return {
    address: change.address,
    kind: change.kind,
    place: {},
    blocked: [],
    after: [],
    ...notesOn(observed, seen, input),
    ...defined({ refs: subject.desired?.refs }),
  };
}

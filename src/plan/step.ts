/** @module Builds the parts that all steps have in common. */
import { fieldRows } from "../model/field-schema.ts";
import { defined } from "../model/json.ts";
import type { Observed } from "../model/observed.ts";
import type { Change, Step } from "../model/plan.ts";
import { lastApplied, preconditionText } from "../model/precondition.ts";
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
  const { desired } = subject;
  const rows = fieldRows(input.kinds.named(change.kind).schema);
  const probed = checks.filter((path) => observed?.spec[path]?.source === "probed");
  const applied = observed === undefined ? {} : lastApplied(input.state, change.kind, observed);
  return {
    address: change.address,
    kind: change.kind,
    place: {},
    blocked: [],
    after: [],
    checks,
    ...(probed.length === 0 ? {} : { probed }),
    precondition: input.digest(preconditionText(observed, checks, applied, rows)),
    ...defined({ refs: desired?.refs }),
  };
}

/** @module Defines the events and the outcome of an apply. */
import type { Address } from "./address.ts";
import type { ExitCode } from "./errors.ts";
import type { Json } from "./json.ts";
import type { Change, FieldChange, Step } from "./plan.ts";
import type { RecordedOutput } from "./state.ts";

/** The step that an event or an outcome is about. */
export type NamedStep = Pick<Step, "key" | "address" | "kind" | "operation" | "verb">;

export interface StepOutcome extends NamedStep {
  readonly id?: string;
  readonly result:
    | "done"
    | "failed"
    | "blocked"
    | "skipped"
    | "converging"
    | "waiting-for-person"
    | "stale"
    | "interrupted";
  /** One line for people: why it failed, what it waits for. */
  readonly message?: string;
  readonly hint?: string;
  /** Done without any request: it was as wanted already. It counts as no change. */
  readonly unsent?: true;
  /** Ms from the request to convergence. */
  readonly elapsed: number;
}

/** A difference that the second plan still finds and nothing excuses: a field, or the reason. */
export interface Unsettled<Value = Json> extends Pick<Change, "address" | "kind" | "reason"> {
  /** The field that differs; absent if the resource as a whole does. */
  readonly field?: FieldChange<Value>;
}

/** Reports get one whose values may be shown. */
export interface Outcome<Value = Json> {
  readonly steps: readonly StepOutcome[];
  readonly added: number;
  readonly changed: number;
  readonly destroyed: number;
  /** Creates that an earlier run had sent, and whose objects this run has found. Absent if there were none. */
  readonly resumed?: number;
  readonly outputs: { readonly [name: string]: RecordedOutput<Value> };
  readonly certificate: readonly Unsettled<Value>[];
  readonly warnings: readonly string[];
  readonly exitCode: ExitCode;
  /** Ms from the approval of the plan to the end of the second look. Absent if no plan was carried out. */
  readonly elapsed?: number;
}

/** Event of a running apply; reporters write it as text or JSON lines. */
export type ApplyEvent =
  | (NamedStep & { readonly type: "step-start"; readonly id?: string })
  | (NamedStep & { readonly type: "step-progress"; readonly elapsed: number; readonly detail: string })
  | { readonly type: "step-end"; readonly outcome: StepOutcome }
  | { readonly type: "warning"; readonly address?: Address; readonly message: string };

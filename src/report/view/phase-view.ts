/** @module Describes the phase of a resource that is not at rest. */
import type { Change } from "../../model/plan.ts";

/** A resource that is not at rest, in words. */
export interface PhaseView {
  readonly is: "failed" | "pending" | "waiting-for-person";
  /** A part of a sentence: `still DEPLOYING`, `the service says FAILED`. */
  readonly text: string;
}

/** The phase of a changed resource; undefined where it is at rest, or where the reason says it already. */
export function phaseOf({ phase, reason }: Pick<Change<unknown>, "phase" | "reason">): PhaseView | undefined {
  const found = phaseNote(phase);
  if (found === undefined || phase === undefined) return undefined;
  return phase.detail !== "" && reason.includes(phase.detail) ? undefined : found;
}

/** The phase of a resource; undefined where it is at rest. */
export function phaseNote(phase: Change<unknown>["phase"]): PhaseView | undefined {
  if (phase === undefined) return undefined;
  const { is, detail } = phase;
  if (is === "failed") return { is, text: `the service says ${detail}` };
  if (is === "pending") return { is, text: `still ${detail}` };
  return is === "waiting-for-person" ? { is, text: `waits for a person: ${detail}` } : undefined;
}

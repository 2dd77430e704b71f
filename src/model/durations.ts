/** @module Expects how long a step takes: as learned from earlier runs, else as the profile says. */
import { own } from "./own.ts";
import type { Step } from "./plan.ts";
import type { Profile } from "./profile.ts";
import type { Durations } from "./state.ts";

/** The key of an operation of a kind; `operation` is the verb of a lifecycle operation. */
export function durationKey(kind: string, operation: string): string {
  return `${kind}.${operation}`;
}

/** Expected ms of a step; 0 where nobody knows, and for steps that only write the state. */
export function expectedTime(
  { kind, operation, verb }: Pick<Step, "kind" | "operation" | "verb">,
  { timing }: Pick<Profile, "timing">,
  learned: Durations = {},
): number {
  if (operation === "bind" || operation === "forget" || operation === "move") return 0;
  const name = verb ?? operation;
  return own(learned, durationKey(kind, name)) ?? own(timing.expect, name) ?? 0;
}

/** @module Decides what came of a write on an existing object whose answer was an error or never arrived. Pure. */
import { type Delays, isSettled } from "../../model/consistency.ts";
import type { ServiceFailure } from "../../model/errors.ts";
import { type JsonObject, stableJson } from "../../model/json.ts";
import type { Live } from "../../model/observed.ts";

/** The attempts of a write so far. */
export interface Attempts {
  /** Whether any of them may have worked. */
  readonly mayHaveWorked: boolean;
  /** When the last one ended, in ms since 1970. */
  readonly endedAt: number;
  /** How the last one failed. */
  readonly failure: ServiceFailure;
}

/**
 * What a look says: the write has worked; it did nothing and may be sent again; something is in progress and it may be
 * sent again; nothing that is shown can tell; or it is too early to say.
 */
export type Evidence<Value = void> =
  | { readonly is: "accepted"; readonly value: Value }
  | { readonly is: "repeat" | "in-progress" | "unproven" | "wait" };

/** How much of what a write was to bring about is shown: all, all but what is never shown, or something else. */
export type Shown = "all" | "shown" | "no";

/** What is known of a change besides the attempts. */
export interface ChangeLook {
  readonly live: Live | undefined;
  /** How the object looked before the first attempt. */
  readonly baseline: Live;
  readonly shows: Shown;
  /** What was shown before the first attempt. */
  readonly shownAtBaseline: Shown;
  /** The status tells where the operation led: it starts or stops. */
  readonly isPower: boolean;
  /** The status is the one that the operation leads to. */
  readonly hasArrived: boolean;
  /** None of the changed fields is ever shown. */
  readonly isHidden: boolean;
}

const accepted: Evidence = { is: "accepted", value: undefined };

/** Classifies an update or a lifecycle operation that is not confirmed. */
export function classifyUnconfirmedChange(
  look: ChangeLook,
  { mayHaveWorked, endedAt }: Attempts,
  now: number,
  delays: Delays,
): Evidence {
  const { live, baseline, shows, shownAtBaseline, isPower, hasArrived, isHidden } = look;
  const isInProgress = live?.phase.is === "pending";
  if (hasArrived || (mayHaveWorked && isInProgress)) return accepted;
  if (live === undefined) return { is: "repeat" };
  if (isInProgress) return { is: "in-progress" };
  if (!mayHaveWorked) return { is: "repeat" };
  const isNew = shows === "all" || (shows === "shown" && shownAtBaseline === "no");
  if (isNew && live.phase.is !== "failed") return accepted;
  // Where a field or the status would show it, it was not done; else the modification time tells.
  const isSilent = shows === "shown" || (isHidden && !isPower);
  if (isSilent && wasTouched(live, baseline)) return accepted;
  if (!isSettled(endedAt, now, delays)) return { is: "wait" };
  return { is: isSilent ? "unproven" : "repeat" };
}

/** Classifies a deletion that is not confirmed. `mayBeHidden`: the object is too young for its absence to prove anything. */
export function classifyUnconfirmedDeletion(
  live: Live | undefined,
  mayBeHidden: boolean,
  { mayHaveWorked, endedAt }: Attempts,
  now: number,
  delays: Delays,
): Evidence {
  if (!mayHaveWorked) return { is: live?.phase.is === "pending" ? "in-progress" : "repeat" };
  if (live === undefined) return mayBeHidden ? { is: "wait" } : accepted;
  if (live.phase.is === "gone") return accepted;
  if (live.phase.is === "pending" || !isSettled(endedAt, now, delays)) return { is: "wait" };
  return { is: "repeat" };
}

/** True where only the modification time has moved: something was done, and nothing that would be somebody else's. */
function wasTouched(live: Live, baseline: Live): boolean {
  const { modifiedAt } = live;
  if (modifiedAt === undefined || baseline.modifiedAt === undefined || modifiedAt === baseline.modifiedAt)
    return false;
  const isSamePhase = live.phase.is === baseline.phase.is || baseline.phase.is === "failed";
  return isSamePhase && stableJson(shownBy(live)) === stableJson(shownBy(baseline));
}

function shownBy({ spec }: Live): JsonObject {
  return Object.fromEntries(Object.entries(spec).map(([path, seen]) => [path, seen.value]));
}

/** @module Decides what came of a write on an existing object whose answer was an error or never arrived. Pure. */
import { sameJson } from "../../model/compare.ts";
import { type Delays, isSettled } from "../../model/consistency.ts";
import type { ServiceFailure } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Live } from "../../model/observed.ts";

export interface Attempts {
  /** True if any of them may have worked. */
  readonly mayHaveWorked: boolean;
  /** End of the last one, in ms since 1970. */
  readonly endedAt: number;
  /** Failure of the last one. */
  readonly failure: ServiceFailure;
}

/**
 * The evidence of one look. `accepted`: the write has worked. `repeat`: it did nothing and may be sent again.
 * `in-progress`: another operation runs, and it may be sent again. `unproven`: the look cannot show it. `wait`: too early.
 */
export type Evidence<Value = void> =
  | { readonly is: "accepted"; readonly value: Value }
  | { readonly is: "repeat" | "in-progress" | "unproven" | "wait" };

/** The part of a write's values that a look shows: all; every value that is ever shown; or another value. */
export type Shown = "all" | "shown" | "no";

export interface ChangeLook {
  readonly live: Live | undefined;
  /** The look before the first attempt. */
  readonly baseline: Live;
  readonly shows: Shown;
  /** The part that was shown before the first attempt. */
  readonly shownAtBaseline: Shown;
  /** True for operations whose end is a status: start and stop. */
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
  // If a field or the status would show the effect, it was not done; otherwise the modification time decides.
  const isSilent = shows === "shown" || (isHidden && !isPower);
  if (isSilent && wasTouched(live, baseline)) return accepted;
  if (!isSettled(endedAt, now, delays)) return { is: "wait" };
  return { is: isSilent ? "unproven" : "repeat" };
}

/** Classifies a deletion that is not confirmed: a refused one did nothing, and any other one has worked once the object is proved absent. */
export function classifyUnconfirmedDeletion(
  seen: { readonly is: "shown"; readonly live: Live } | { readonly is: "absent" | "hidden" },
  { mayHaveWorked, endedAt }: Attempts,
  now: number,
  delays: Delays,
): Evidence {
  const phase = seen.is === "shown" ? seen.live.phase.is : undefined;
  if (!mayHaveWorked) return { is: phase === "pending" ? "in-progress" : "repeat" };
  if (seen.is === "absent" || phase === "gone") return accepted;
  if (seen.is === "hidden" || phase === "pending" || !isSettled(endedAt, now, delays)) return { is: "wait" };
  return { is: "repeat" };
}

/** True if the modification time has moved and nothing else: a write has worked, and no field shows another writer. */
function wasTouched(live: Live, baseline: Live): boolean {
  const { modifiedAt } = live;
  if (modifiedAt === undefined || baseline.modifiedAt === undefined || modifiedAt === baseline.modifiedAt)
    return false;
  const isSamePhase = live.phase.is === baseline.phase.is || baseline.phase.is === "failed";
  return isSamePhase && sameJson(shownBy(live), shownBy(baseline));
}

function shownBy({ spec }: Live): JsonObject {
  return Object.fromEntries(Object.entries(spec).map(([path, seen]) => [path, seen.value]));
}

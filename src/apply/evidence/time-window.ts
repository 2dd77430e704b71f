/** @module Decides by the service's own times whether an object was made by a request of ours. Pure. */
import { serviceTime } from "../../model/clock.ts";
import type { Timing } from "../../model/service.ts";

/** Times of the service's answers around a request, in ms since 1970. Undefined if the service shows none. */
export interface TimeWindow {
  /** The newest time before the request was announced. */
  readonly since: number | undefined;
  /** The first time at which the request can no longer have worked. */
  readonly until: number | undefined;
}

/** `unknown`: one of the times is missing. */
export type Timeliness = "ages-before" | "long-before" | "before" | "within" | "after" | "unknown";

/** An object that is older than a request by so many ms is not its object, even if the clocks of the service differ. */
const longBefore = 15 * 60_000;

/** No zone is so far from another: an object that is older by so many ms is older even if the service writes local times. */
const agesBefore = 27 * 3_600_000;

/** Compares the creation time that an object shows with the window of a request. `clock`: the tolerance at both ends, in ms. */
export function timeliness(
  createdAt: string | undefined,
  { since, until }: TimeWindow,
  { clock }: Pick<Timing, "clock">,
): Timeliness {
  const created = serviceTime(createdAt);
  if (created === undefined || since === undefined) return "unknown";
  if (created < since - Math.max(agesBefore, clock)) return "ages-before";
  if (created < since - Math.max(longBefore, clock)) return "long-before";
  if (created < since - clock) return "before";
  if (until === undefined) return "unknown";
  return created > until + clock ? "after" : "within";
}

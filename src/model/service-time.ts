/** @module Parses times as services write them. */
/**
 * A time as a service writes it, in ms since 1970. A time without a zone is UTC: the zone of this machine has nothing to
 * do with it. Undefined where it says nothing: no time at all, or one that stands for none (`0001-01-01T00:00:00Z`).
 */
export function serviceTime(text: string | undefined): number | undefined {
  const bare = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)$/.exec(text ?? "");
  const time = Date.parse(bare === null ? (text ?? "") : `${bare[1]}T${bare[2]}Z`);
  return Number.isNaN(time) || time < earliest ? undefined : time;
}

/** No object of a hosting service is older. */
const earliest = Date.UTC(2000, 0);

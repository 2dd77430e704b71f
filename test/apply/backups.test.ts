import { describe, expect, it } from "vitest";
import { type BackupRequest, leastComplete, madeBy } from "../../src/apply/evidence/backups.ts";
import type { Backup } from "../../src/model/kind.ts";

const noon = Date.UTC(2026, 0, 1, 12);

/** A backup that was made so many seconds after the request; undefined: it does not say when. */
function backup(id: string, second: number | undefined, over: Partial<Backup> = {}): Backup {
  const time = second === undefined ? {} : { createdAt: new Date(noon + 1000 * second).toISOString() };
  return { id, is: "completed", detail: "COMPLETE", isAutomatic: false, ...time, ...over };
}

const request: BackupRequest = {
  known: new Set(["known"]),
  id: undefined,
  window: { since: noon, until: noon + 5000 },
  showsTimes: true,
};
const untimed = { ...request, showsTimes: false };
const none = { ...request, window: { since: undefined, until: undefined } };

describe("the backup that was asked for", () => {
  it.each<[string, readonly Backup[], BackupRequest, string, string]>([
    ["is not listed yet", [], request, "", ""],
    ["was made since the request", [backup("b", 2)], request, "b", ""],
    ["was made in the second before, by another clock", [backup("b", -1)], request, "b", ""],
    ["was made in the second after, by another clock", [backup("b", 6)], request, "b", ""],
    ["is not one that was listed before", [backup("known", 2)], request, "", ""],
    ["is not the service's own", [backup("b", 2, { isAutomatic: true })], request, "", ""],
    ["is not an old one that lists show late", [backup("old", -2), backup("b", 2)], request, "b", ""],
    ["is not an old one, though nothing else is listed", [backup("old", -86_400)], request, "", ""],
    [
      "is not a later one of somebody's where it is listed itself",
      [backup("b", 2), backup("c", 60)],
      request,
      "b",
      "c",
    ],
    ["may be a later one where nothing else is listed", [backup("c", 60)], request, "", "c"],
    ["may be one that does not say when it was made", [backup("b", undefined)], request, "", "b"],
    ["is that one where the service shows no times", [backup("b", undefined)], untimed, "b", ""],
    ["may be any where the service sends no Date", [backup("b", 2)], none, "", "b"],
    [
      "is the one that the answer names, whatever its time",
      [backup("a", 2), backup("b", 60)],
      { ...request, id: "b" },
      "b",
      "",
    ],
    [
      "is not one that was listed before, though the answer names it",
      [backup("known", 2)],
      { ...request, id: "known" },
      "",
      "",
    ],
    [
      "goes by its time where the answer names something else",
      [backup("b", 2)],
      { ...request, id: "work-7" },
      "b",
      "",
    ],
  ])("%s", (_, listed, given, certain, unclear) => {
    const made = madeBy(listed, given, { clock: 1000 });
    const ids = (found: readonly Backup[]): string => found.map(({ id }) => id).join(" ");
    expect([ids(made.certain), ids(made.unclear)]).toEqual([certain, unclear]);
  });

  it.each<[readonly Backup["is"][], Backup["is"] | undefined]>([
    [[], undefined],
    [["completed"], "completed"],
    [["completed", "failed"], "failed"],
    [["failed", "completed", "pending"], "pending"],
  ])("of %j the least complete one decides", (all, expected) => {
    expect(leastComplete(all.map((is) => ({ is })))?.is).toBe(expected);
  });
});

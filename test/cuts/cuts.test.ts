import { describe, expect, inject, it } from "vitest";
import type { Phase } from "./manifests.ts";
import { placesIn, rowFrom } from "./places.ts";
import type { ProfileName } from "./services.ts";
import { extentOf, tryCuts } from "./trial.ts";

/**
 * How many places of each profile and phase. `npm run cut` tries every one there is, and `test/apply/crash.test.ts` every one of an apply
 * in one process.
 */
const shares: readonly (readonly [ProfileName, Phase, number])[] = [
  ["default", "create", 1],
  ["default", "update", 2],
  ["full", "update", 1],
  ["falkordb-cloud", "create", 1],
];

describe.each(shares)("an apply that is killed: %s, %s", (profile, phase, share) => {
  const subject = { profile, phase, packaged: inject("packaged") };

  it("is made good by the next one, wherever it was, and where that is killed, too", {
    timeout: 240_000,
  }, async () => {
    const extent = await extentOf(subject);
    expect(extent.requests).toBeGreaterThan(80);
    expect(extent.writes).toBeGreaterThan(40);
    // Of every sort, and spread over the whole of it.
    const places = placesIn(extent, 1);
    let reached = 0;
    for (let nth = 0; nth < share; nth += 1) {
      const first = places[Math.floor(((nth + 0.4) / share) * places.length)];
      if (first === undefined) throw new Error("there are no places");
      const cuts = rowFrom(first, (nth + share) % 2, extent, 1);
      const { kills, wrong } = await tryCuts(cuts, subject);
      reached += kills > 0 ? 1 : 0;
      expect({ cuts, wrong }).toEqual({ cuts, wrong: [] });
    }
    // How much is written depends on what falls together: the last places of all are not always reached.
    expect(reached).toBeGreaterThanOrEqual(share / 2);
  });
});

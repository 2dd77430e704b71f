import { beforeAll, describe, expect, inject, it } from "vitest";
import type { Phase } from "./manifests.ts";
import { type Cut, type Extent, extentOf, tryCut } from "./trial.ts";

/** Cut points of each sort; `npm run cut` tries every one there is. */
const shares: { readonly [phase in Phase]: number } = { create: 4, update: 2 };

const sorts: readonly (readonly [Cut["at"], Cut["moment"]])[] = [
  ["request", "before"],
  ["request", "after"],
  ["request", "answered"],
  ["write", "before"],
  ["write", "after"],
];

describe.each<Phase>(["create", "update"])("an apply that is killed: %s", (phase) => {
  const packaged = inject("packaged");
  const share = shares[phase];
  let extent: Extent;

  beforeAll(async () => {
    extent = await extentOf(phase, packaged);
    expect(extent.requests).toBeGreaterThan(80);
    expect(extent.writes).toBeGreaterThan(60);
  });

  it.each(sorts)("at a %s (%s) is made good by the next one", { timeout: 120_000 }, async (at, moment) => {
    const all = at === "request" ? extent.requests : extent.writes;
    // Spread over the whole of it, and not at the same places for every sort.
    const offset = sorts.findIndex(([name, when]) => name === at && when === moment) / sorts.length;
    let killed = 0;
    for (let nth = 0; nth < share; nth += 1) {
      const n = 1 + Math.floor(((nth + offset) / share) * all * 0.95);
      const cut: Cut =
        at === "request" ? { at, n, moment } : { at, n, moment: moment === "before" ? moment : "after" };
      const { isKilled, wrong } = await tryCut(phase, cut, packaged);
      killed += isKilled ? 1 : 0;
      expect({ cut, wrong }).toEqual({ cut, wrong: [] });
    }
    expect(killed).toBeGreaterThanOrEqual(share / 2);
  });
});

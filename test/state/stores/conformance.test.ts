import { describe, expect, it } from "vitest";
import { stores } from "./benches.ts";
import { usualCases } from "./cases.ts";
import { casesOfTrouble } from "./cases-of-trouble.ts";

const cases = [...usualCases, ...casesOfTrouble];

describe.each(stores)("a state in a store: $name", ({ start, instead }) => {
  let played = 0;
  const reasons: string[] = [];

  it.each(cases)("%s", async (name, play) => {
    const otherwise: string[] = [];
    await play(await start(), (reason) => otherwise.push(`${name}: ${reason}`));
    played += 1;
    reasons.push(...otherwise);
  });

  it("has played every case, and said which ones it cannot", () => {
    expect(played).toBe(cases.length);
    expect(reasons).toHaveLength(instead);
  });
});

import { describe, expect, inject, it } from "vitest";
import { generate } from "./generate.ts";
import { hunt } from "./hunt.ts";
import { shrink } from "./shrink.ts";
import { textOf } from "./text-of.ts";

/** `npm run simulate` plays any number. */
const schedules = inject("whole") ? 1500 : 250;
const share = 250;
const first = 1;

describe(`${schedules} schedules keep every promise`, () => {
  const seeds = Array.from({ length: schedules / share }, (_, at) => first + share * at);

  it.each(seeds)(`${share} seeds from %i on`, { timeout: 300_000 }, async (seed) => {
    const haul = await hunt({ seed, schedules: share });
    expect(await story(haul.found[0])).toBe("");
    expect(haul.schedules).toBe(share);
    // Cases that do nothing would keep every promise too.
    expect(haul.runs / share).toBeGreaterThan(3);
    expect(haul.events / share).toBeGreaterThan(60);
  });

  it("plays the same case twice in the same way", async () => {
    for (const seed of [7, 77, 777]) {
      expect(await hunt({ seed, schedules: 20 })).toEqual(await hunt({ seed, schedules: 20 }));
    }
  });
});

/** A broken promise with its shrunken case, ready for regressions.ts. */
async function story(found: Awaited<ReturnType<typeof hunt>>["found"][number] | undefined): Promise<string> {
  if (found === undefined) return "";
  const { seed, violation } = found;
  const smallest = await shrink(generate(seed), violation.promise);
  return `seed ${seed}: ${violation.promise}: ${violation.detail}\n${textOf(smallest)}`;
}

import { describe, expect, it } from "vitest";
import { type MigrationPhase, migrationPhases } from "../../src/model/migration.ts";
import { isInterrupted, isSwitched, phaseBefore, phases, rowOf } from "../../src/replace/phases.ts";

const held = { heldUntil: "2026-01-01T00:00:00Z" };

describe("the phases of a migration", () => {
  it("are each described once, in their order", () => expect(Object.keys(phases)).toEqual(migrationPhases));

  it.each<[MigrationPhase, { readonly heldUntil?: string }, MigrationPhase]>([
    ["quiesce", {}, "await-cutover"],
    ["durable", {}, "await-cutover"],
    // A `replace undo` that was killed while it brought the new database to rest: the switch stays.
    ["quiesce", held, "hold"],
  ])("interrupted in %s of %j, it goes back to %s", (phase, before, expected) => {
    expect(isInterrupted({ phase, cap: 0 })).toBe(true);
    expect(phaseBefore(before)).toBe(expected);
    expect(isSwitched(before)).toBe(expected === "hold");
  });

  it("of a way back say that the database which has the address is closed, and how it is opened again", () => {
    expect(rowOf({ phase: "fence" })).toEqual(phases.fence);
    expect(rowOf({ phase: "fence", ...held })).toMatchObject({
      does: expect.stringMatching(/^goes back: .* the database that has the address/),
      afterKill: expect.stringContaining("`replace undo` starts it again"),
    });
    expect(rowOf({ phase: "hold", ...held })).toEqual(phases.hold);
  });
});

import { describe, expect, it } from "vitest";
import { type MigrationPhase, migrationPhases } from "../../src/model/migration.ts";
import { isInterrupted, isSwitched, phaseBefore, phases } from "../../src/replace/phases.ts";

describe("the phases of a migration", () => {
  it("are each described once, in their order", () => expect(Object.keys(phases)).toEqual(migrationPhases));

  it.each<[MigrationPhase, MigrationPhase]>([
    ["quiesce", "await-cutover"],
    ["durable", "await-cutover"],
    // A `replace undo` that was killed while it brought the new database to rest: the switch stays.
    ["hold", "hold"],
  ])("interrupted in %s with a cap of queries, it goes back to %s", (phase, expected) => {
    expect(isInterrupted({ phase, cap: 0 })).toBe(true);
    const held = isSwitched({ phase }) ? { heldUntil: "2026-01-01T00:00:00Z" } : {};
    expect(phaseBefore(held)).toBe(expected);
    expect(isSwitched({ phase: phaseBefore(held) })).toBe(isSwitched({ phase }));
  });
});

import { describe, expect, it } from "vitest";
import { backupOutcome } from "../../src/apply/evidence/backups.ts";
import type { Backup } from "../../src/model/kind.ts";

function backup(id: string, is: Backup["is"], over: Partial<Backup> = {}): Backup {
  return { id, is, detail: is.toUpperCase(), isAutomatic: false, ...over };
}

const at = (hour: number): Pick<Backup, "createdAt"> => ({
  createdAt: new Date(Date.UTC(2026, 0, 1, hour)).toISOString(),
});

describe("the backup that was asked for", () => {
  it.each<[string, readonly Backup[], readonly Backup[], string]>([
    ["is not listed yet", [], [], "pending"],
    ["is listed and not complete", [backup("b", "pending")], [], "pending b"],
    ["is complete", [backup("b", "completed")], [], "completed b"],
    ["has failed", [backup("b", "failed")], [], "failed b"],
    ["is not one that was listed before", [backup("a", "completed")], [backup("a", "completed")], "pending"],
    ["is not one that was pending before", [backup("a", "completed")], [backup("a", "pending")], "pending"],
    ["is not the service's own", [backup("b", "completed", { isAutomatic: true })], [], "pending"],
    [
      "is not an older one that lists show late",
      [backup("old", "completed", at(1))],
      [backup("a", "completed", at(2))],
      "pending",
    ],
    [
      "is newer than all that were there",
      [backup("b", "completed", at(3))],
      [backup("a", "completed", at(2))],
      "completed b",
    ],
    [
      "is the newest of several",
      [backup("b", "failed", at(3)), backup("c", "completed", at(4))],
      [],
      "completed c",
    ],
    [
      "is not an older one that was shown late, also where that is newer than all that were shown",
      [backup("old", "completed", at(3)), backup("b", "pending", at(4))],
      [backup("a", "completed", at(2))],
      "pending b",
    ],
    [
      "may be either of two of one moment",
      [backup("b", "completed", at(3)), backup("c", "failed", at(3))],
      [],
      "failed c",
    ],
    [
      "may be any where no times are shown",
      [backup("b", "completed"), backup("c", "pending")],
      [],
      "pending c",
    ],
  ])("%s", (_, listed, known, expected) => {
    const { is, backup: which } = backupOutcome(listed, known);
    expect([is, which?.id].filter((part) => part !== undefined).join(" ")).toBe(expected);
  });
});

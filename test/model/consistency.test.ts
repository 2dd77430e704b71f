import { describe, expect, it } from "vitest";
import { absence, type Baseline, isCurrent, isSettled } from "../../src/model/consistency.ts";
import type { Live } from "../../src/model/observed.ts";

const delays = { listLag: 30_000, settle: 5000 };

describe("absence", () => {
  it.each<[string, number, number, ReturnType<typeof absence>]>([
    ["proves nothing right after the create", 0, 0, { recheckAt: 30_000 }],
    ["proves nothing as long as lists may lag", 0, 29_999, { recheckAt: 30_000 }],
    ["is conclusive once the object must be shown", 0, 30_000, "conclusive"],
    ["is conclusive of what was made long ago", 0, 86_400_000, "conclusive"],
    ["is conclusive where nobody knows when it was made", Number.NaN, 0, "conclusive"],
    ["proves nothing where our clock was put back", 60_000, 0, { recheckAt: 90_000 }],
  ])("%s", (_, createdAt, now, expected) => {
    expect(absence(createdAt, now, delays)).toEqual(expected);
  });
});

describe("a status", () => {
  const shown = (is: Live["phase"]["is"], modifiedAt?: string): NonNullable<Baseline> => ({
    phase: { is, detail: "" },
    ...(modifiedAt === undefined ? {} : { modifiedAt }),
  });

  it.each<[string, Baseline, NonNullable<Baseline>, number, boolean]>([
    ["of what was not there before is the new one", undefined, shown("ready"), 0, true],
    ["that is another one is the new one", shown("ready"), shown("stopped"), 0, true],
    ["that is the same may be the old one", shown("ready"), shown("ready"), 4999, false],
    ["that is the same is believed in the end", shown("ready"), shown("ready"), 5000, true],
    ["with a newer modification time is the new one", shown("ready", "1"), shown("ready", "2"), 0, true],
    ["with the same modification time may be old", shown("ready", "1"), shown("ready", "1"), 0, false],
    ["that has come to show a modification time is new", shown("ready"), shown("ready", "2"), 0, true],
    ["that no longer shows one tells nothing", shown("ready", "1"), shown("ready"), 0, false],
  ])("%s", (_, before, live, now, expected) => {
    expect(isCurrent(before, live, 0, now, delays)).toBe(expected);
  });

  it("is settled once the old one can no longer show", () => {
    expect([isSettled(0, 4999, delays), isSettled(0, 5000, delays)]).toEqual([false, true]);
    expect(isSettled(Number.NaN, 0, delays)).toBe(true);
  });
});

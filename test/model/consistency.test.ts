import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Absence,
  type Answers,
  absence,
  type Baseline,
  gracePeriod,
  isCurrent,
  isSettleOver,
  isWhole,
  type Look,
  type Sight,
} from "../../src/model/consistency.ts";
import { defined } from "../../src/model/json.ts";
import type { Live } from "../../src/model/observed.ts";
import { runs } from "../support/runs.ts";

const delays = { listLag: 30_000, settle: 5000 };
const longAgo = Number.NaN;

describe("the creation grace period", () => {
  it.each<[string, number, number, ReturnType<typeof gracePeriod>]>([
    ["begins with the create", 0, 0, { recheckAt: 30_000 }],
    ["lasts as long as lists may lag", 0, 29_999, { recheckAt: 30_000 }],
    ["is over once the object must be shown", 0, 30_000, "over"],
    ["is over for an object that was made long ago", 0, 86_400_000, "over"],
    ["is over if nothing says when the object was made", longAgo, 0, "over"],
    ["lasts if our clock was put back", 60_000, 0, { recheckAt: 90_000 }],
  ])("%s", (_, createdAt, now, expected) => {
    expect(gracePeriod(createdAt, now, delays)).toEqual(expected);
  });
});

/** Answers of a look at `at`, which takes no time. */
function answers(
  at: number,
  listed: readonly string[] | undefined,
  described: Record<string, Sight> = {},
): Answers {
  return {
    from: at,
    until: at,
    listed: listed === undefined ? undefined : new Set(listed),
    isPartial: false,
    described: new Map(Object.entries(described)),
  };
}

describe("a list", () => {
  const old = new Map([
    ["a", longAgo],
    ["b", longAgo],
  ]);
  it.each<[string, Answers, ReadonlyMap<string, number>, boolean]>([
    ["that has every witness is whole", answers(0, ["a", "b"]), old, true],
    ["without any witness is whole: nothing contradicts it", answers(0, []), new Map(), true],
    ["that lacks what describe shows is not whole", answers(0, ["a"], { b: "shown" }), old, false],
    ["that lacks what describe does not show is whole", answers(0, ["a"], { b: "missing" }), old, true],
    ["that lacks what is being deleted is whole", answers(0, ["a"], { b: "leaving" }), old, true],
    ["that lacks what was not described is not known to be whole", answers(0, ["a"]), old, false],
    ["that could not be read is not whole", answers(0, undefined), new Map(), false],
    ["that says that it is not all is not whole", { ...answers(0, ["a", "b"]), isPartial: true }, old, false],
    ["that lacks a young object is whole", answers(29_999, [], { a: "shown" }), new Map([["a", 0]]), true],
    ["that lacks it later is not", answers(30_000, [], { a: "shown" }), new Map([["a", 0]]), false],
  ])("%s", (_, given, witnesses, expected) => {
    expect(isWhole(given, witnesses, delays)).toBe(expected);
  });
});

/** A service that is wrong for a moment, and the looks at it. Times are in ms. */
interface WrongForAMoment {
  readonly wrongFrom: number;
  readonly wrongFor: number;
  readonly pauses: readonly number[];
  readonly lengths: readonly number[];
  readonly answered: readonly number[];
}

describe("absence", () => {
  const look = (at: number, listed: readonly string[] | undefined, seen?: Sight, whole = true): Look => ({
    ...answers(at, listed, seen === undefined ? {} : { x: seen }),
    isWhole: whole && listed !== undefined,
  });
  const gone = (at: number): Look => look(at, [], "missing");
  const hidden = (at: number): Look => look(at, ["x"], "missing");

  it.each<[string, readonly Look[], Absence]>([
    ["is not concluded from one look", [gone(0)], "undecided"],
    ["is not concluded from looks of one moment", [gone(0), gone(4999)], "undecided"],
    ["is concluded from two looks that are settle apart", [gone(0), gone(5000)], "absent"],
    ["counts from the end of the first look", [{ ...gone(0), until: 1000 }, gone(5999)], "undecided"],
    ["is refuted by describe", [gone(0), look(5000, [], "shown")], "shown"],
    ["is refuted by an object that is being deleted", [gone(0), look(5000, [], "leaving")], "shown"],
    ["begins again after a list that has it", [gone(0), hidden(2000), gone(5000), gone(6000)], "undecided"],
    [
      "is concluded in the end after such a list",
      [gone(0), hidden(2000), gone(5000), gone(10_000)],
      "absent",
    ],
    [
      "begins again after a describe that shows it",
      [gone(0), look(2000, [], "shown"), gone(5000)],
      "undecided",
    ],
    ["needs whole lists", [gone(0), look(5000, [], "missing", false)], "undecided"],
    ["needs lists that were read", [gone(0), look(5000, undefined, "missing")], "undecided"],
    ["needs a describe that answers", [gone(0), look(5000, [])], "undecided"],
    ["survives a look that says nothing", [gone(0), look(2000, undefined), gone(5000)], "absent"],
    ["is concluded from lists that go on showing it", [hidden(0), hidden(15_000), hidden(30_000)], "absent"],
    [
      "is not, if describe shows it between",
      [hidden(0), look(9000, ["x"], "shown"), hidden(30_000)],
      "undecided",
    ],
    [
      "ends in doubt without whole lists",
      [look(0, [], "missing", false), look(40_000, [], "missing", false)],
      "in-doubt",
    ],
    ["ends in doubt without any answer", [look(0, undefined), look(40_000, undefined)], "in-doubt"],
    ["is not in doubt before that", [look(0, undefined), look(39_999, undefined)], "undecided"],
    ["says nothing without a look", [], "undecided"],
  ])("%s", (_, looks, expected) => {
    expect(absence("x", longAgo, looks, delays)).toBe(expected);
  });

  it.each<[string, readonly Look[], Absence]>([
    ["is not concluded within listLag of the create", [gone(0), gone(29_999)], "undecided"],
    ["does not count a look within that time", [gone(25_000), gone(30_000)], "undecided"],
    ["is concluded after it", [gone(30_000), gone(35_000)], "absent"],
    [
      "is not concluded from a list that has shown it for listLag since the create",
      [hidden(2000), hidden(32_000)],
      "undecided",
    ],
    ["is concluded from one that goes on for another listLag", [hidden(30_000), hidden(60_000)], "absent"],
  ])("of a young object %s", (_, looks, expected) => {
    expect(absence("x", 0, looks, delays)).toBe(expected);
  });

  const world: fc.Arbitrary<WrongForAMoment> = fc.record({
    wrongFrom: fc.integer({ min: -5000, max: 60_000 }),
    wrongFor: fc.integer({ min: 0, max: 4999 }),
    pauses: fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 40 }),
    lengths: fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 40, maxLength: 40 }),
    answered: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 40, maxLength: 40 }),
  });

  function looksAt(
    { wrongFrom, wrongFor, pauses, lengths, answered }: WrongForAMoment,
    show: (isWrong: boolean) => Pick<Answers, "listed" | "described">,
  ): readonly Look[] {
    let at = 0;
    return pauses.map((pause, index) => {
      const from = at;
      const until = from + (lengths[index] ?? 0);
      const listedAt = from + (until - from) * (answered[index] ?? 0);
      at = until + pause;
      const isWrong = listedAt >= wrongFrom && listedAt <= wrongFrom + wrongFor;
      const given = { from, until, isPartial: false, ...show(isWrong) };
      return {
        ...given,
        isWhole: isWhole(
          given,
          new Map([
            ["x", longAgo],
            ["y", longAgo],
          ]),
          delays,
        ),
      };
    });
  }

  it("is never concluded of an object that exists, at a service that is wrong for less than settle", () => {
    fc.assert(
      fc.property(world, (given) => {
        const looks = looksAt(given, (isWrong) => ({
          listed: new Set(isWrong ? [] : ["x", "y"]),
          described: new Map<string, Sight>([
            ["x", isWrong ? "missing" : "shown"],
            ["y", isWrong ? "missing" : "shown"],
          ]),
        }));
        const verdicts = looks.map((_, at) => absence("x", longAgo, looks.slice(0, at + 1), delays));
        expect(verdicts).not.toContain("absent");
      }),
      { numRuns: runs(1000) },
    );
  });

  it("is never concluded from lists that lack what describe shows", () => {
    fc.assert(
      fc.property(world, (given) => {
        const looks = looksAt(given, () => ({
          listed: new Set<string>(),
          described: new Map<string, Sight>([
            ["x", "missing"],
            ["y", "shown"],
          ]),
        }));
        expect(absence("x", longAgo, looks, delays)).not.toBe("absent");
      }),
    );
  });

  it("is decided within listLag and twice settle of a service that tells the truth in the end", () => {
    fc.assert(
      fc.property(world, fc.boolean(), (given, isGone) => {
        const looks = looksAt(given, (isWrong) => ({
          listed: new Set(isGone === isWrong ? ["x"] : []),
          described: new Map<string, Sight>([
            ["x", isGone ? "missing" : "shown"],
            ["y", "missing"],
          ]),
        }));
        const last = looks.at(-1);
        const first = looks[0];
        if (first === undefined || last === undefined || last.from < first.until + 40_000) return;
        const verdicts = looks.map((_, at) => absence("x", longAgo, looks.slice(0, at + 1), delays));
        expect(verdicts.find((verdict) => verdict !== "undecided")).toBe(isGone ? "absent" : "shown");
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe("a status", () => {
  const shown = (is: Live["phase"]["is"], modifiedAt?: string): NonNullable<Baseline> => ({
    phase: { is, detail: "" },
    ...defined({ modifiedAt }),
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
    expect([isSettleOver(0, 4999, delays), isSettleOver(0, 5000, delays)]).toEqual([false, true]);
    expect(isSettleOver(Number.NaN, 0, delays)).toBe(true);
  });
});

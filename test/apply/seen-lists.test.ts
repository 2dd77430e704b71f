import { describe, expect, it } from "vitest";
import { seenLists } from "../../src/apply/seen-lists.ts";

/** made: id at a time; listed: what a list shows that was asked for at a time. */
type Event =
  | { readonly made: string; readonly at: number; readonly kind?: string }
  | { readonly listed: readonly string[]; readonly at: number; readonly where?: string };

const rows: readonly (readonly [string, number, readonly Event[]])[] = [
  ["nothing was made", 0, [{ listed: ["old"], at: 0 }]],
  ["nothing was listed since", 0, [{ made: "a", at: 0 }]],
  [
    "what was made is listed",
    1,
    [
      { made: "a", at: 0 },
      { listed: ["a"], at: 10 },
    ],
  ],
  [
    "three were made, and all are listed",
    3,
    [
      { made: "a", at: 0 },
      { listed: ["a"], at: 10 },
      { made: "b", at: 20 },
      { made: "c", at: 25 },
      { listed: ["a", "b", "c"], at: 30 },
    ],
  ],
  [
    "what was made is missing",
    0,
    [
      { made: "a", at: 0 },
      { listed: [], at: 10 },
    ],
  ],
  [
    "one of two is missing",
    0,
    [
      { made: "a", at: 0 },
      { made: "b", at: 5 },
      { listed: ["a"], at: 10 },
    ],
  ],
  [
    "one was missing, and others are not",
    0,
    [
      { made: "a", at: 0 },
      { listed: [], at: 10 },
      { made: "b", at: 20 },
      { listed: ["a", "b"], at: 30 },
    ],
  ],
  [
    "the list was asked for before",
    0,
    [
      { made: "a", at: 10 },
      { listed: [], at: 5 },
    ],
  ],
  [
    "the list was asked for before, and the next one shows it",
    1,
    [
      { made: "a", at: 10 },
      { listed: [], at: 5 },
      { listed: ["a"], at: 20 },
    ],
  ],
  [
    "it was listed too late to tell",
    0,
    [
      { made: "a", at: 0 },
      { listed: ["a"], at: 5001 },
    ],
  ],
  [
    "another place was listed",
    0,
    [
      { made: "a", at: 0 },
      { listed: ["a"], at: 10, where: "elsewhere" },
    ],
  ],
  [
    "another kind was made",
    0,
    [
      { made: "a", at: 0, kind: "hats" },
      { listed: ["a"], at: 10 },
    ],
  ],
];

describe("lists have been prompt", () => {
  it.each(rows)("%s: %s", (_, expected, events) => {
    let now = 0;
    const lists = seenLists(() => now, 5000);
    for (const event of events) {
      if ("made" in event) {
        now = event.at;
        lists.made(event.kind ?? "toys", { home: "here" }, event.made);
      } else lists.listed("toys", { home: event.where ?? "here" }, event.listed, event.at);
    }
    expect(lists.prompt("toys")).toBe(expected);
  });
});

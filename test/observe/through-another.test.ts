import { describe, expect, it } from "vitest";
import { kindRegistry, type Reader } from "../../src/model/kind.ts";
import type { Live } from "../../src/model/observed.ts";
import type { Bound } from "../../src/model/state.ts";
import { observe } from "../../src/observe/observe.ts";
import { kindLike, planInput } from "../support/plan-input.ts";
import { toyProfile } from "../support/toy-kind.ts";
import { jumpingClock } from "../support/virtual-clock.ts";

const house = {
  type: "string",
  "x-place": true,
  "x-reference": { section: "houses", output: "id" },
} as const;
const guests = kindLike("guests", {
  schema: { type: "object", properties: { house } },
  place: (spec) => ({ house: spec["house"] ?? "" }),
});
const houses = kindLike("houses");
const now = Date.UTC(2026, 0, 1);
const minute = 60_000;

function bound(kind: string, id: string, age: number, place = {}): Bound {
  const createdAt = new Date(now - age).toISOString();
  return { kind, id, place, recorded: {}, protect: false, onDelete: "delete", refs: [], createdAt };
}

/** A house and its guest, as they are described and listed. */
interface Shown {
  readonly described: boolean;
  readonly listed: boolean;
  readonly phase?: Live["phase"]["is"];
}

async function look(shown: Shown, age: number): Promise<{ readonly [address: string]: string }> {
  const asked: string[] = [];
  const live = (id: string): Live => ({
    id,
    phase: { is: shown.phase ?? "ready", detail: "" },
    spec: {},
    outputs: { id },
  });
  const reader = (kind: string): Reader => ({
    list: async () => (shown.listed ? [kind === "houses" ? "h-1" : "g-1"] : []),
    get: async ({ id }) => {
      asked.push(id);
      return shown.described ? live(id) : undefined;
    },
  });
  const { state } = planInput({});
  const resources = {
    "guests.g": bound("guests", "g-1", age, { house: "h-1" }),
    "houses.h": bound("houses", "h-1", age),
  };
  const { observed } = await observe([], {
    kinds: kindRegistry([guests, houses]),
    readers: new Map([
      ["guests", reader("guests")],
      ["houses", reader("houses")],
    ]),
    state: { ...state, resources },
    clock: jumpingClock(now),
    profile: { ...toyProfile, timing: { ...toyProfile.timing, listLag: minute } },
    signal: new AbortController().signal,
  });
  expect(asked.includes("g-1")).toBe(shown.described && shown.phase !== "gone");
  return Object.fromEntries([...observed].map(([address, { phase }]) => [address, phase.is]).sort());
}

describe("what is found through another object is there as that one is", () => {
  it.each<[string, Shown, number, object]>([
    [
      "both are shown",
      { described: true, listed: true },
      9 * minute,
      { "guests.g": "ready", "houses.h": "ready" },
    ],
    [
      "the other is gone, and old enough to be shown: both are gone",
      { described: false, listed: false },
      9 * minute,
      {},
    ],
    [
      "the other goes on being listed and is not described: both are gone",
      { described: false, listed: true },
      9 * minute,
      {},
    ],
    [
      "the other is too young to be shown: both are there",
      { described: false, listed: false },
      1000,
      { "guests.g": "pending", "houses.h": "pending" },
    ],
    [
      "the other says that it is gone: both are gone",
      { described: true, listed: true, phase: "gone" },
      9 * minute,
      {},
    ],
  ])("%s", async (_reason, shown, age, expected) => {
    expect(await look(shown, age)).toEqual(expected);
  });
});

describe("a stranger", () => {
  it.each([
    [["keeper"], "keeper came with the house", 0],
    [["keeper", "lodger"], "lodger did not", 1],
    [[], "nobody is there", 0],
  ])(
    "is what nobody declares, but for what comes with something of ours: %j, since %s",
    async (there, _, count) => {
      const { state } = planInput({});
      const resources = {
        "houses.h": bound("houses", "h-1", minute),
        "guests.g": bound("guests", "h-1/g", minute, { house: "h-1" }),
      };
      const keeper = { value: "keeper", source: "described" } as const;
      const home = kindLike("houses", {
        implicitChildren: (id, spec) => [{ kind: "guests", id: `${id}/${String(spec["keeper"]?.value)}` }],
      });
      const shows = (id: string): Live => ({
        id,
        phase: { is: "ready", detail: "" },
        spec: { keeper },
        outputs: { id },
      });
      const { unmanaged } = await observe([], {
        kinds: kindRegistry([guests, home]),
        readers: new Map([
          [
            "guests",
            {
              list: async () => ["h-1/g", ...there.map((name) => `h-1/${name}`)],
              get: async ({ id }) => shows(id),
            },
          ],
          ["houses", { list: async () => ["h-1"], get: async ({ id }) => shows(id) }],
        ]),
        state: { ...state, resources },
        clock: jumpingClock(now),
        profile: toyProfile,
        signal: new AbortController().signal,
      });
      expect(unmanaged).toHaveLength(count);
    },
  );
});

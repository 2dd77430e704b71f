import { describe, expect, it } from "vitest";
import { kindRegistry, type Reader } from "../../src/model/kind.ts";
import type { KnownObject, Live } from "../../src/model/observed.ts";
import type { Bound } from "../../src/model/state.ts";
import { type BoundLives, readBound } from "../../src/observe/read-bound.ts";
import { kindLike, planInput } from "../support/plan-input.ts";
import { toyProfile } from "../support/toy-kind.ts";
import { jumpingClock } from "../support/virtual-clock.ts";

const house = {
  type: "string",
  "x-place": true,
  "x-reference": { section: "houses", output: "id" },
} as const;
const guests = kindLike("guests", { schema: { type: "object", properties: { house } } });
const houses = kindLike("houses");

function known(kind: string, id: string, place = {}): KnownObject {
  return { address: `${kind}.${id}`, kind, ref: { id, place } };
}

/** Guests and houses that describe shows, or that it does when it is asked for the nth time; lists show what describe does. */
interface Shown {
  readonly there: readonly string[];
  readonly fromAsk?: { readonly [id: string]: number };
  /** Ids that the list lacks although describe shows them. */
  readonly unlisted?: readonly string[];
}

interface Found extends BoundLives {
  readonly asked: readonly string[];
  readonly lists: readonly string[];
  readonly waited: number;
}

async function lookAt(
  entries: readonly KnownObject[],
  { there, fromAsk = {}, unlisted = [] }: Shown,
): Promise<Found> {
  const asked: string[] = [];
  const lists: string[] = [];
  const isShown = (id: string): boolean =>
    there.includes(id) && asked.filter((other) => other === id).length >= (fromAsk[id] ?? 0);
  const reader = (kind: string): Reader => ({
    list: async () => {
      lists.push(kind);
      return there.filter((id) => isShown(id) && !unlisted.includes(id));
    },
    get: async ({ id, place }): Promise<Live | undefined> => {
      if (place["house"] === "h-gone") throw new Error("the service answers 500 for whoever lives nowhere");
      asked.push(id);
      return isShown(id) ? { id, phase: { is: "ready", detail: "" }, spec: {}, outputs: { id } } : undefined;
    },
  });
  const resources = Object.fromEntries(
    entries.map(({ address, kind, ref }): [string, Bound] => [
      address,
      {
        kind,
        ...ref,
        recorded: {},
        protect: false,
        onDelete: "delete",
        refs: [],
        createdAt: "2025-01-01T00:00:00Z",
      },
    ]),
  );
  const clock = jumpingClock(Date.UTC(2026, 0, 1));
  const begun = clock.now();
  const found = await readBound(entries, {
    kinds: kindRegistry([guests, houses]),
    readers: new Map([
      ["guests", reader("guests")],
      ["houses", reader("houses")],
    ]),
    state: { ...planInput({}).state, resources },
    clock,
    profile: toyProfile,
    signal: new AbortController().signal,
  });
  return { ...found, asked, lists, waited: clock.now() - begun };
}

const h1 = known("houses", "h-1");
const gone = known("houses", "h-gone");
const g1 = known("guests", "g-1", { house: "h-1" });
const g2 = known("guests", "g-2", { house: "h-gone" });
const g3 = known("guests", "g-3", { house: "h-elsewhere" });
const verdicts = ({ missing }: BoundLives): object =>
  Object.fromEntries([...missing].map(([{ ref }, verdict]) => [ref.id, verdict.is]));

describe("bound objects", () => {
  it("cost one describe each and no wait, if all of them are shown", async () => {
    const found = await lookAt([g1, h1], { there: ["g-1", "h-1"] });
    expect(found.asked).toEqual(["h-1", "g-1"]);
    expect([found.lists, found.waited]).toEqual([[], 0]);
  });

  it("that are found through another one are looked at after it, and go with it", async () => {
    const found = await lookAt([g1, g2, g3, gone, h1], { there: ["g-1", "g-3", "h-1"] });
    expect([...found.lives.keys()]).toEqual([h1, g1, g3]);
    expect(verdicts(found)).toEqual({ "h-gone": "gone", "g-2": "gone" });
    expect([...found.unreachable]).toEqual([g2]);
    expect(found.asked).not.toContain("g-2");
  });

  it("are looked for again if describe does not show them, and found", async () => {
    const found = await lookAt([h1], { there: ["h-1"], fromAsk: { "h-1": 3 } });
    expect([...found.lives.keys()]).toEqual([h1]);
    expect(found.waited).toBeLessThan(toyProfile.timing.settle);
  });

  it("are gone after two looks that are settle apart", async () => {
    const found = await lookAt([h1, gone], { there: ["h-1"] });
    expect(verdicts(found)).toEqual({ "h-gone": "gone" });
    expect(found.waited).toBeGreaterThanOrEqual(toyProfile.timing.settle);
  });

  it("are in doubt if their list lacks what describe shows; what is found through them is not asked for", async () => {
    const found = await lookAt([h1, gone, g2], { there: ["h-1"], unlisted: ["h-1"] });
    expect([...found.missing]).toEqual([
      [gone, { is: "in-doubt", because: "the list of its place lacks h-1 too, which is there" }],
      [g2, { is: "in-doubt", because: "houses.h-gone, which it belongs to, is in doubt" }],
    ]);
    expect(found.asked).not.toContain("g-2");
  });
});

import { describe, expect, it } from "vitest";
import type { Reader } from "../../src/model/kind.ts";
import { kindRegistry } from "../../src/model/kind-registry.ts";
import type { Live } from "../../src/model/observed.ts";
import type { Known } from "../../src/observe/context.ts";
import { lookAtBound } from "../../src/observe/look-at-bound.ts";
import { kindLike, planInput } from "../support/plan-input.ts";
import { toyProfile } from "../support/toy-kind.ts";

const house = {
  type: "string",
  "x-place": true,
  "x-reference": { section: "houses", output: "id" },
} as const;
const guests = kindLike("guests", { schema: { type: "object", properties: { house } } });
const houses = kindLike("houses");

function known(kind: string, id: string, place = {}): Known {
  return { address: `${kind}.${id}`, kind, ref: { id, place } };
}

describe("what is found through another object", () => {
  it("is looked at after it, and not at all where that one is gone", async () => {
    const asked: string[] = [];
    const reader = (kind: string, there: readonly string[]): Reader => ({
      list: () => Promise.reject(new Error("nothing is to be listed here")),
      get: async ({ id, place }): Promise<Live | undefined> => {
        asked.push(`${kind} ${id}`);
        if (place["house"] === "h-gone") throw new Error("the service answers 500 for whoever lives nowhere");
        return there.includes(id)
          ? { id, phase: { is: "ready", detail: "" }, spec: {}, outputs: { id } }
          : undefined;
      },
    });
    const bound = [
      known("guests", "g-1", { house: "h-1" }),
      known("guests", "g-2", { house: "h-gone" }),
      known("guests", "g-3", { house: "h-elsewhere" }),
      known("houses", "h-gone"),
      known("houses", "h-1"),
    ];
    const { lives, lost } = await lookAtBound(bound, {
      kinds: kindRegistry([guests, houses]),
      readers: new Map([
        ["guests", reader("guests", ["g-1", "g-3"])],
        ["houses", reader("houses", ["h-1"])],
      ]),
      state: planInput({}).state,
      now: 0,
      profile: toyProfile,
      delays: { listLag: 0, settle: 0 },
      signal: new AbortController().signal,
    });
    expect(lives.map((live) => live?.id)).toEqual(["g-1", undefined, "g-3", undefined, "h-1"]);
    expect([...lost].map(([guest, host]) => [guest.address, host?.address])).toEqual([
      ["guests.g-2", "houses.h-gone"],
    ]);
    expect(asked).toEqual(["houses h-gone", "houses h-1", "guests g-1", "guests g-3"]);
  });
});

import { describe, expect, it } from "vitest";
import { GraphformError, ServiceError } from "../../src/model/errors.ts";
import { type Driver, kindRegistry } from "../../src/model/kind.ts";
import type { Live, Ref } from "../../src/model/observed.ts";
import type { ObserveContext } from "../../src/observe/observe-context.ts";
import { describeTenants, listElsewhere } from "../../src/observe/unmanaged.ts";
import { kindLike, planInput } from "../support/plan-input.ts";
import { toyProfile, toySchema } from "../support/toy-kind.ts";
import { jumpingClock } from "../support/virtual-clock.ts";

const at = { kind: "houses", place: {} };

describe("a list of what nothing declared or bound names", () => {
  it.each<[what: string, answer: readonly string[] | Error, expected: object]>([
    ["is taken", ["h-1"], { at, ids: ["h-1"] }],
    [
      "is empty if the account lacks the component",
      new ServiceError("not-found", "list", "no"),
      { at, ids: [] },
    ],
    ["is empty if the profile lacks the kind", new GraphformError("not-offered", "no"), { at, ids: [] }],
    ["is refused if it is forbidden", new ServiceError("forbidden", "list", "no"), { at }],
    [
      "is refused if it is not clear whose it is",
      new GraphformError("subscription-ambiguous", "two"),
      { at },
    ],
  ])("%s", async (_, answer, expected) => {
    expect(await listed(answer)).toEqual([expected]);
  });

  it("passes on what is no refusal", async () => {
    await expect(listed(new TypeError("a mistake of ours"))).rejects.toThrow("a mistake of ours");
  });
});

describe("what may stand on what is deleted", () => {
  const home = {
    ...toySchema.properties["home"],
    "x-create-only": true,
    "x-reference": { section: "houses", output: "id" },
  };
  const toys = kindLike("toys", { schema: { ...toySchema, properties: { ...toySchema.properties, home } } });
  const kinds = kindRegistry([kindLike("houses"), toys]);
  const live = (id: string, house: string): Live => {
    const phase = { is: "ready", detail: "" } as const;
    return { id, phase, spec: { home: { value: house, source: "described" } }, outputs: { id } };
  };
  const found = async (section: string, reader: Partial<Driver> = {}, state = context.state) => {
    const readers = new Map([
      ["toys", { list: async () => ["t-1", "t-2"], get: async ({ id }: Ref) => live(id, "h-1"), ...reader }],
    ]);
    const outputs = new Map([["houses.a", { id: "h-1" }]]);
    const others = await describeTenants(new Set([section]), outputs, { ...context, kinds, readers, state });
    return others?.map((other) => [other.id, other.live?.spec["home"]?.value]);
  };
  const refused = async () => Promise.reject(new ServiceError("forbidden", "get", "no"));

  it("is described if it is not bound, and shows the names of what it stands on", async () => {
    expect(await found("houses")).toEqual([
      ["t-1", "a"],
      ["t-2", "a"],
    ]);
    const { state } = planInput({ cat: { has: {}, id: "t-1" } });
    expect(await found("houses", {}, state)).toEqual([["t-2", "a"]]);
  });

  it("is nothing if no kind is built on what is deleted, or if reads are refused", async () => {
    expect(await found("toys")).toEqual([]);
    expect(await found("houses", { list: refused })).toEqual([]);
    expect(await found("houses", { get: refused })).toEqual([]);
    const mistake = async () => Promise.reject(new TypeError("a mistake of ours"));
    await expect(found("houses", { get: mistake })).rejects.toThrow("a mistake of ours");
  });
});

const context: ObserveContext = {
  kinds: kindRegistry([kindLike("houses")]),
  readers: new Map(),
  state: planInput({}).state,
  clock: jumpingClock(0),
  profile: toyProfile,
  signal: new AbortController().signal,
};

function listed(answer: readonly string[] | Error): ReturnType<typeof listElsewhere> {
  return listElsewhere(
    [],
    [],
    async () => {
      if (answer instanceof Error) throw answer;
      return answer;
    },
    context,
  );
}

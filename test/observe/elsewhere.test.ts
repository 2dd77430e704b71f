import { describe, expect, it } from "vitest";
import { GraphformError, ServiceError } from "../../src/model/errors.ts";
import { kindRegistry } from "../../src/model/kind.ts";
import { listElsewhere } from "../../src/observe/unmanaged.ts";
import { kindLike, planInput } from "../support/plan-input.ts";
import { toyProfile } from "../support/toy-kind.ts";
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

function listed(answer: readonly string[] | Error): ReturnType<typeof listElsewhere> {
  return listElsewhere(
    [],
    [],
    async () => {
      if (answer instanceof Error) throw answer;
      return answer;
    },
    {
      kinds: kindRegistry([kindLike("houses")]),
      readers: new Map(),
      state: planInput({}).state,
      clock: jumpingClock(0),
      profile: toyProfile,
      signal: new AbortController().signal,
    },
  );
}

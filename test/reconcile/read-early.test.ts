import { expect, it } from "vitest";
import { ServiceError } from "../../src/model/errors.ts";
import { kindRegistry, type Reader } from "../../src/model/kind.ts";
import type { Live, PhaseName } from "../../src/model/observed.ts";
import type { Reads } from "../../src/model/service.ts";
import type { Bound, StateDocument } from "../../src/model/state.ts";
import { readEarly } from "../../src/reconcile/plan-for.ts";
import { planInput } from "../support/plan-input.ts";
import { toyKind, toyProfile } from "../support/toy-kind.ts";

const { signal } = new AbortController();
const ref = { id: "id-a", place: {} };

/** Reads one bound toy early, and looks at it once `later`; says how often the service was asked for it. */
async function looks(
  answers: readonly (PhaseName | "missing" | "failing")[],
  {
    bound = {},
    state = {},
    later = 0,
  }: { bound?: Partial<Bound>; state?: Partial<StateDocument>; later?: number } = {},
): Promise<{ readonly asked: number; readonly shown: readonly (PhaseName | undefined)[] }> {
  let [asked, now] = [0, 1000];
  const get = async (): Promise<Live | undefined> => {
    const is = answers[asked] ?? "ready";
    asked += 1;
    if (is === "failing") throw new ServiceError("unavailable", "get", "get: refused");
    return is === "missing" ? undefined : { id: "id-a", phase: { is, detail: "" }, spec: {}, outputs: {} };
  };
  const reader: Reader = { list: async () => ["id-a"], get };
  const { state: stored } = planInput({ a: { wants: {}, recorded: {} } });
  const [[address, first]] = Object.entries(stored.resources) as [[string, Bound]];
  const document = { ...stored, ...state, resources: { [address]: { ...first, ...bound } } };
  const world = {
    kinds: kindRegistry([toyKind(undefined, { reader: () => reader })]),
    service: { profile: toyProfile } as unknown as Reads,
    clock: { now: () => now, sleep: async () => undefined, random: () => 0 },
  };
  const early = readEarly(document, world, signal)("toys", reader);
  await new Promise((resolve) => setImmediate(resolve));
  now += later;
  const shown = [await early.get(ref, signal), await early.get(ref, signal)].map((live) => live?.phase.is);
  return { asked, shown };
}

it("serves the first look at an object at rest, and the second look asks again", async () => {
  expect(await looks(["ready", "failed"])).toEqual({ asked: 2, shown: ["ready", "failed"] });
  expect(await looks(["stopped", "ready"])).toEqual({ asked: 2, shown: ["stopped", "ready"] });
});

it.each(["pending", "failed", "gone", "missing", "failing"] as const)(
  "proves nothing if it is %s: the first look asks again",
  async (is) => {
    expect(await looks([is, "ready", "ready"])).toEqual({ asked: 3, shown: ["ready", "ready"] });
  },
);

it("serves no look that begins later than the service may show what was before", async () => {
  const { settle } = toyProfile.timing;
  expect((await looks([], { later: settle })).asked).toBe(2);
  expect((await looks([], { later: settle + 1 })).asked).toBe(3);
});

it("is not begun while an operation, a create or a migration is under way", async () => {
  const since = "2026-01-01T00:00:00.000Z";
  const converging = { operation: "update", since, record: {} };
  expect((await looks(["failed", "failed"], { bound: { converging } })).shown).toEqual(["failed", "failed"]);
  const intent = { round: "r", startedAt: since } as unknown as StateDocument["intents"][string];
  expect((await looks([], { state: { intents: { "toys.b": intent } } })).asked).toBe(2);
});

import { describe, expect, it } from "vitest";
import { couldBe, unclaimed } from "../../src/apply/evidence/candidates.ts";
import { type TimeWindow, timeliness } from "../../src/apply/evidence/time-window.ts";
import type { KindSchema } from "../../src/model/field-schema.ts";
import type { Json } from "../../src/model/json.ts";
import type { Live, PhaseName } from "../../src/model/observed.ts";
import type { Intent } from "../../src/model/state.ts";
import { planInput } from "../support/plan-input.ts";
import { toySchema } from "../support/toy-kind.ts";

const startedAt = "2026-01-01T12:00:00.000Z";
const schema: KindSchema = {
  ...toySchema,
  properties: { ...toySchema.properties, label: { type: "string", "x-compare": "memory-label" } },
};

function intent(recorded: { readonly [path: string]: Json }): Intent {
  return {
    round: "toys",
    digest: "",
    startedAt,
    recorded,
    protect: true,
    onDelete: "delete",
    refs: [],
  };
}

function shows(spec: { readonly [path: string]: Json }, over: Partial<Live> = {}): Live {
  const seen = Object.entries(spec).map(([path, value]) => [path, { value, source: "described" as const }]);
  return {
    id: "toy-1",
    phase: { is: "pending", detail: "" },
    spec: Object.fromEntries(seen),
    outputs: {},
    ...over,
  };
}

const phase = (is: PhaseName): Partial<Live> => ({ phase: { is, detail: "" } });

const rows: readonly [string, Live, { readonly [path: string]: Json }, boolean][] = [
  ["shows nothing", shows({}), { colour: "red" }, true],
  ["shows what was asked for", shows({ colour: "red", size: 2 }), { colour: "red", size: 2 }, true],
  ["shows something else", shows({ colour: "blue" }), { colour: "red" }, false],
  ["shows a number as text", shows({ size: "2" }), { size: 2 }, true],
  ["shows another case", shows({ colour: "RED" }), { colour: "red" }, true],
  ["shows a size in another unit", shows({ memory: "6144MB" }), { memory: "6GB" }, true],
  ["shows another size", shows({ memory: "6G" }), { memory: "6GB" }, false],
  ["shows another spelling that only planning knows", shows({ label: "1200M" }), { label: "1GB" }, true],
  ["shows an id for a name", shows({ home: "toy-7" }), { home: "house" }, true],
  ["runs, and is to be stopped yet", shows({ power: "running" }), { power: "stopped" }, true],
  ["shows another default than was assumed", shows({ size: 5 }), { size: 1 }, true],
  ["shows what nobody asked for", shows({ memory: "1GB" }), {}, true],
  ["does not show the secret", shows({}), { token: { $secret: "1" } }, true],
  ["failed", shows({ colour: "red" }, phase("failed")), { colour: "red" }, true],
];

describe("an object may be the one that was asked for", () => {
  it.each(rows)("%s", (_, live, recorded, expected) => {
    expect(couldBe(live, intent(recorded), schema)).toBe(expected);
  });
});

const since = Date.parse("2026-01-01T12:00:00.000Z");
const until = Date.parse("2026-01-01T12:01:00.000Z");
const window: TimeWindow = { since, until };

describe("the time at which an object was made", () => {
  it.each<[string, string | undefined, TimeWindow, ReturnType<typeof timeliness>]>([
    ["is not said", undefined, window, "unknown"],
    ["cannot be read", "yesterday", window, "unknown"],
    ["stands for none", "0001-01-01T00:00:00Z", window, "unknown"],
    ["is that of the announcement", "2026-01-01T12:00:00.000Z", window, "within"],
    ["is a second before, by another clock", "2026-01-01T11:59:59.000Z", window, "within"],
    ["is more than a second before", "2026-01-01T11:59:58.999Z", window, "before"],
    ["is a second after, by another clock", "2026-01-01T12:01:01.000Z", window, "within"],
    ["is more than a second after", "2026-01-01T12:01:01.001Z", window, "after"],
    ["is written in another zone", "2026-01-01T20:00:00+09:00", window, "long-before"],
    ["is written in another zone, and fits", "2026-01-01T17:30:30+05:30", window, "within"],
    ["is fifteen minutes before", "2026-01-01T11:45:00.000Z", window, "before"],
    ["is more than fifteen minutes before", "2026-01-01T11:44:59.999Z", window, "long-before"],
    ["has no end to be compared with", "2026-01-01T12:00:30.000Z", { since, until: undefined }, "unknown"],
    [
      "has no beginning to be compared with",
      "2026-01-01T12:00:30.000Z",
      { since: undefined, until },
      "unknown",
    ],
  ])("%s", (_, createdAt, given, expected) => {
    expect(timeliness(createdAt, given, { clock: 1000 })).toBe(expected);
  });

  it("may differ by what the profile says of the service's clocks, and no more", () => {
    const late = "2026-01-01T12:21:00.000Z";
    expect(timeliness(late, window, { clock: 20 * 60_000 })).toBe("within");
    expect(timeliness(late, window, { clock: 20 * 60_000 - 1 })).toBe("after");
    expect(timeliness("2026-01-01T11:39:59.000Z", window, { clock: 20 * 60_000 })).toBe("long-before");
  });
});

describe("objects that nobody claims", () => {
  it("were not there before, are bound to nothing, and are no answer to another create", () => {
    const { state } = planInput({ a: { recorded: {}, id: "toy-2" } });
    const intents = {
      b: { ...intent({}), acknowledged: "toy-4" },
      c: { ...intent({}), acknowledged: "toy-5" },
    };
    const listed = ["toy-1", "toy-2", "toy-3", "toy-3", "toy-4", "toy-5"];
    const found = unclaimed({ before: ["toy-1"] }, [{ address: "b" }], listed, { ...state, intents });
    expect(found).toEqual(["toy-3", "toy-4"]);
  });
});

import { describe, expect, it } from "vitest";
import { converge, type Target } from "../../src/apply/engine/wait-for-operation.ts";
import type { Baseline } from "../../src/model/consistency.ts";
import { ServiceError } from "../../src/model/errors.ts";
import { defined } from "../../src/model/json.ts";
import type { Live, PhaseName } from "../../src/model/observed.ts";
import type { ApplyEvent } from "../../src/model/outcome.ts";
import { applyContext } from "../support/apply-context.ts";
import { toyProfile } from "../support/toy-kind.ts";
import { toyService } from "../support/toy-service.ts";
import { virtualClock } from "../support/virtual-clock.ts";

type Seen = PhaseName | "absent" | "unreachable" | { readonly is: PhaseName; readonly modifiedAt: string };

function liveOf(seen: Exclude<Seen, "absent" | "unreachable">): Live {
  const { is, modifiedAt } = typeof seen === "string" ? { is: seen, modifiedAt: "old" } : seen;
  return { id: "toy-1", phase: { is, detail: is.toUpperCase() }, spec: {}, outputs: {}, modifiedAt };
}

/** Waits for a toy that shows, from each of these times (s) on, what stands beside it. */
function waitFor(
  shows: readonly (readonly [number, Seen])[],
  over: Partial<Target> = {},
  stopping?: AbortSignal,
): { readonly ended: Promise<string>; readonly events: readonly ApplyEvent[]; readonly looks: () => number } {
  const clock = virtualClock();
  const start = clock.now();
  const events: ApplyEvent[] = [];
  let looks = 0;
  const driver = {
    ...toyService(clock),
    get: async (): Promise<Live | undefined> => {
      looks += 1;
      const seen = shows.findLast(([from]) => clock.now() - start >= from * 1000)?.[1] ?? "absent";
      if (seen === "unreachable") throw new ServiceError("unavailable", "get", "get: refused");
      return seen === "absent" ? undefined : liveOf(seen);
    },
  };
  const target: Target = {
    kind: "toys",
    ref: { id: "toy-1", place: {} },
    phases: ["ready"],
    baseline: undefined,
    acceptedAt: start,
    mayBeHiddenSince: start,
    timeout: 600_000,
    ...over,
  };
  const context = applyContext(clock, driver, {
    emit: (event) => events.push(event),
    ...defined({ stopping }),
  });
  const step = { key: "toys.a", address: "toys.a", kind: "toys", operation: "update" as const };
  const ended = clock.drive(converge(target, step, context)).then((arrival) => {
    const seconds = Math.floor((clock.now() - start) / 1000);
    const what = arrival.is === "arrived" ? `arrived ${arrival.live?.phase.is ?? "gone"}` : arrival.is;
    return `${what} after ${seconds} s`;
  });
  return { ended, events, looks: () => looks };
}

const was = (is: PhaseName): Baseline => ({ phase: { is, detail: "" }, modifiedAt: "old" });

interface Row {
  readonly reason: string;
  readonly shows: readonly (readonly [number, Seen])[];
  readonly target?: Partial<Target>;
  /** The last look is at most `longest` (5 s, and a fifth of it for jitter) late. */
  readonly expected: RegExp;
}

const rows: readonly Row[] = [
  {
    reason: "a new object has no old status: ready is ready",
    shows: [[0, "ready"]],
    expected: /^arrived ready after 0 s$/,
  },
  {
    reason: "an old status counts for nothing until the new one was seen",
    shows: [
      [0, "ready"],
      [2, "pending"],
      [20, "ready"],
    ],
    target: { baseline: was("ready") },
    expected: /^arrived ready after 2[0-6] s$/,
  },
  {
    reason: "an old status counts once the settling time of 5 s has passed",
    shows: [[0, "ready"]],
    target: { baseline: was("ready") },
    expected: /^arrived ready after [5-9] s$/,
  },
  {
    reason: "an old status counts once the modification time has moved",
    shows: [
      [0, "ready"],
      [1, { is: "ready", modifiedAt: "new" }],
    ],
    target: { baseline: was("ready") },
    expected: /^arrived ready after [12] s$/,
  },
  {
    reason: "the settling time counts from the acceptance, not from when somebody began to look",
    shows: [[0, "ready"]],
    target: { baseline: was("ready"), acceptedAt: Date.UTC(2026, 0, 1) - 60_000 },
    expected: /^arrived ready after 0 s$/,
  },
  {
    reason: "another status than before is a new one",
    shows: [[0, "ready"]],
    target: { baseline: was("stopped") },
    expected: /^arrived ready after 0 s$/,
  },
  {
    reason: "of what another run sent, the first look may show the old status",
    shows: [
      [0, "ready"],
      [3, "pending"],
      [15, "ready"],
    ],
    target: { baseline: "first-look" },
    expected: /^arrived ready after 1[5-9] s$|^arrived ready after 20 s$/,
  },
  {
    reason: "a failure is told at once",
    shows: [
      [0, "pending"],
      [10, "failed"],
    ],
    target: { baseline: was("ready") },
    expected: /^failed after 1[0-6] s$/,
  },
  {
    reason: "an old failure is no new one",
    shows: [
      [0, "failed"],
      [3, "pending"],
      [20, "ready"],
    ],
    target: { baseline: was("failed") },
    expected: /^arrived ready after 2[0-6] s$/,
  },
  {
    reason: "a failure that stays is one",
    shows: [[0, "failed"]],
    target: { baseline: was("failed") },
    expected: /^failed after [5-9] s$/,
  },
  {
    reason: "a person is waited for by the person, not by us",
    shows: [
      [0, "pending"],
      [10, "waiting-for-person"],
    ],
    expected: /^waiting-for-person after 1[0-6] s$/,
  },
  {
    reason: "a new object may be unknown for a while",
    shows: [
      [0, "absent"],
      [20, "pending"],
      [30, "ready"],
    ],
    expected: /^arrived ready after 3[0-6] s$/,
  },
  {
    reason: "an object that stays unknown was deleted by somebody: two looks after its grace period prove it",
    shows: [
      [0, "pending"],
      [10, "absent"],
    ],
    expected: /^failed after (3[5-9]|4[0-6]) s$/,
  },
  {
    reason: "an object that is unknown for a moment was not deleted",
    shows: [
      [0, "pending"],
      [40, "absent"],
      [44, "ready"],
    ],
    expected: /^arrived ready after 4[4-9] s$/,
  },
  {
    reason: "a deletion has arrived when nothing is there",
    shows: [
      [0, "ready"],
      [2, "pending"],
      [12, "absent"],
    ],
    target: { phases: ["gone"], baseline: was("ready") },
    expected: /^arrived gone after 1[2-8] s$/,
  },
  {
    reason: "a deletion has arrived when it is shown as deleted",
    shows: [
      [0, "pending"],
      [12, "gone"],
    ],
    target: { phases: ["gone"] },
    expected: /^arrived gone after 1[2-8] s$/,
  },
  {
    reason:
      "a failure of what had not failed before is that of its deletion: one look that lacks it then proves nothing",
    shows: [
      [0, "stopped"],
      [2, "failed"],
      [8, "absent"],
    ],
    target: { phases: ["gone"], baseline: was("stopped") },
    expected: /^failed after [2-7] s$/,
  },
  {
    reason: "a failure from before a deletion is waited over",
    shows: [
      [0, "failed"],
      [12, "absent"],
    ],
    target: { phases: ["gone"], baseline: was("failed") },
    expected: /^arrived gone after 1[2-8] s$/,
  },
  {
    reason: "a stop is not done while it runs",
    shows: [
      [0, "ready"],
      [30, "stopped"],
    ],
    target: { phases: ["stopped"], baseline: was("ready") },
    expected: /^arrived stopped after 3[0-6] s$/,
  },
  {
    reason: "looks that find nobody are looked again",
    shows: [
      [0, "pending"],
      [3, "unreachable"],
      [60, "ready"],
    ],
    expected: /^arrived ready after 6[0-6] s$/,
  },
  {
    reason: "the wait is over when its time is up, whatever is there",
    shows: [[0, "pending"]],
    target: { timeout: 60_000 },
    expected: /^timeout after 60 s$/,
  },
  {
    reason: "the wait is over when its time is up, and nobody answers",
    shows: [[0, "unreachable"]],
    target: { timeout: 60_000 },
    expected: /^timeout after 60 s$/,
  },
];

describe("waiting", () => {
  it.each(rows)("$reason", async ({ shows, target, expected }) => {
    expect(await waitFor(shows, target).ended).toMatch(expected);
  });

  it("ends when it is interrupted, at once", async () => {
    const stop = new AbortController();
    const waiting = waitFor(
      [
        [0, "pending"],
        [60, "ready"],
      ],
      {},
      stop.signal,
    );
    setImmediate(() => stop.abort(new Error("interrupted")));
    expect(await waiting.ended).toMatch(/^interrupted after \d s$/);
  });

  it("looks often at first and seldom later", async () => {
    const waiting = waitFor([
      [0, "pending"],
      [300, "ready"],
    ]);
    await waiting.ended;
    const { first, longest } = toyProfile.timing.poll;
    expect(waiting.looks()).toBeGreaterThan(300_000 / (longest * 1.2));
    expect(waiting.looks()).toBeLessThan(300_000 / (longest * 0.8) + longest / first);
  });

  it("says every ten seconds what it waits for", async () => {
    const waiting = waitFor([
      [0, "pending"],
      [61, "ready"],
    ]);
    await waiting.ended;
    expect(waiting.events.length).toBeGreaterThanOrEqual(4);
    expect(waiting.events.length).toBeLessThanOrEqual(6);
    expect(waiting.events[0]).toMatchObject({
      type: "step-progress",
      address: "toys.a",
      operation: "update",
      detail: "PENDING",
    });
  });

  it("goes no further where the service forbids to look", async () => {
    const clock = virtualClock();
    const driver = {
      ...toyService(clock),
      get: (): Promise<never> => Promise.reject(new ServiceError("forbidden", "get", "get: refused")),
    };
    const target: Target = {
      kind: "toys",
      ref: { id: "toy-1", place: {} },
      phases: ["ready"],
      baseline: undefined,
      acceptedAt: 0,
      mayBeHiddenSince: 0,
      timeout: 1000,
    };
    const step = { key: "toys.a", address: "toys.a", kind: "toys", operation: "update" as const };
    await expect(clock.drive(converge(target, step, applyContext(clock, driver)))).rejects.toMatchObject({
      failure: "forbidden",
    });
  });
});

describe("creates of one kind that are waited for together", () => {
  it("share their looks, and are known within 15 % of their time", async () => {
    const clock = virtualClock();
    const start = clock.now();
    let looks = 0;
    const driver = {
      ...toyService(clock),
      get: async (): Promise<Live> => {
        looks += 1;
        return liveOf(clock.now() - start >= 20_000 ? "ready" : "pending");
      },
    };
    const timing = { ...toyProfile.timing, poll: { first: 200, longest: 60_000 } };
    const context = applyContext(clock, driver, { profile: { ...toyProfile, timing } });
    const names = Array.from({ length: 40 }, (_, at) => `toys.${at}`);
    const ends = names.map((address) => {
      const times = { acceptedAt: start, mayBeHiddenSince: start, timeout: 600_000 };
      const ref = { id: address, place: {} };
      const target: Target = { kind: "toys", ref, phases: ["ready"], baseline: undefined, ...times };
      return converge(target, { key: address, address, kind: "toys", operation: "create" }, context);
    });
    const arrivals = await clock.drive(Promise.all(ends));
    expect(arrivals.every(({ is }) => is === "arrived")).toBe(true);
    expect(clock.now() - start).toBeLessThan(20_000 * 1.15 + 200);
    expect(looks / names.length).toBeLessThan(3);
  });
});

import { describe, expect, it, vi } from "vitest";
import { listenForInterrupts } from "../../src/commands/terminal/listen-for-interrupts.ts";
import { interruptedOr } from "../../src/commands/with-run.ts";
import { GraphformError } from "../../src/model/errors.ts";

const signal = AbortSignal.abort(new Error("Ctrl-C"));
const away = new GraphformError("state-unreachable", "away", { hint: "graphform state push FILE" });

describe("the end of a run that a signal has stopped", () => {
  it("is interrupted, with exit code 130", () => {
    expect(interruptedOr(new Error("aborted"), signal)).toMatchObject({ code: "interrupted", exitCode: 130 });
  });

  it.each([away, new GraphformError("lock-lost", "taken")])(
    "says all the same what became of what could not be stored: %s",
    (error) => {
      expect(interruptedOr(error, signal)).toBe(error);
    },
  );

  it("is the error where no signal came", () => {
    const error = new Error("x");
    expect(interruptedOr(error, new AbortController().signal)).toBe(error);
  });
});

describe("the signals of a run", () => {
  it("hurry it only at the second one, also where that comes after the two seconds", () => {
    vi.useFakeTimers();
    const { stopping, aborting, hurrying, release } = listenForInterrupts(() => undefined);
    const press = (): void => process.listeners("SIGINT").at(-1)?.("SIGINT");
    press();
    vi.advanceTimersByTime(2000);
    expect([stopping, aborting, hurrying].map(({ aborted }) => aborted)).toEqual([true, true, false]);
    press();
    expect(hurrying.aborted).toBe(true);
    release();
    vi.useRealTimers();
  });
});

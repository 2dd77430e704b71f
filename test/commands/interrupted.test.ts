import { describe, expect, it } from "vitest";
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

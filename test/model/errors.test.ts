import { describe, expect, it } from "vitest";
import {
  type ExitCode,
  GraphformError,
  isServiceError,
  ServiceError,
  worseExit,
} from "../../src/model/errors.ts";

describe("the exit code that wins", () => {
  it.each<[readonly ExitCode[], ExitCode]>([
    [[], 0],
    [[0, 0], 0],
    [[0, 2], 2],
    [[0, 4], 4],
    [[8, 7, 4], 4],
    [[8, 7], 7],
    [[7, 1], 1],
    [[4, 130], 130],
    [[130, 6], 6],
    [[6, 5, 3, 1], 1],
    [[2, 8], 8],
  ])("of %j is %i", (codes, expected) => {
    expect(worseExit(codes)).toBe(expected);
  });
});

describe("a service error", () => {
  const error = new ServiceError("lost", "create", "create: the answer was lost", {
    mayHaveWorked: true,
    status: 500,
  });

  it("carries what the engine decides by", () => {
    expect(error).toMatchObject({
      code: "service-lost",
      failure: "lost",
      mayHaveWorked: true,
      status: 500,
      exitCode: 1,
    });
    expect(new ServiceError("busy", "stop", "busy").mayHaveWorked).toBe(false);
  });

  it("is told from others", () => {
    expect([isServiceError(error), isServiceError(error, "lost"), isServiceError(error, "busy")]).toEqual([
      true,
      true,
      false,
    ]);
    expect(isServiceError(new GraphformError("x", "x"))).toBe(false);
  });
});

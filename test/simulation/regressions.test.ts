import { describe, expect, it } from "vitest";
import { regressions } from "./regressions.ts";
import { regressionsOfRuns } from "./regressions-of-runs.ts";
import { simulate } from "./simulate.ts";

describe("what was wrong once", () => {
  it.each([...regressions, ...regressionsOfRuns])("$was", async ({ case: given }) => {
    expect((await simulate(given)).violation).toBeUndefined();
  });
});

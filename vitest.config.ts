import { defineConfig } from "vitest/config";
import { long } from "./test/long.ts";
import { tallyWithout } from "./test/support/tally.ts";

/** `npm run test:all` sets the mode `whole`. */
export default defineConfig(({ mode }) => {
  const leftOut = mode === "whole" ? [] : Object.keys(long);
  return {
    test: {
      include: ["test/**/*.test.ts"],
      exclude: leftOut,
      provide: { whole: mode === "whole" },
      pool: "forks",
      // Files wait for processes and moments half of their time: four at once keep two cores busy.
      maxWorkers: 4,
      // Ends what hangs. A busy machine takes several times as long as a quiet one.
      testTimeout: mode === "whole" ? 240_000 : 120_000,
      hookTimeout: 120_000,
      globalSetup: ["test/support/set-up.ts"],
      setupFiles: ["test/support/clean-up.ts"],
      reporters: ["default", tallyWithout(leftOut)],
      // A test that leaves a mock or a variable behind would break another one.
      restoreMocks: true,
      unstubEnvs: true,
      // It imports JSON in a way that Node alone refuses.
      server: { deps: { inline: ["@actions/workflow-parser"] } },
    },
  };
});

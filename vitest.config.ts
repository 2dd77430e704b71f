import { defineConfig } from "vitest/config";
import { tally } from "./test/support/tally.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Real database processes run beside the tests: two workers are what two cores carry.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    globalSetup: ["test/support/engine.ts", "test/support/packaged.ts"],
    reporters: ["default", tally],
    // A test that leaves a mock or a variable behind would break another one.
    restoreMocks: true,
    unstubEnvs: true,
    // It imports JSON in a way that Node alone refuses.
    server: { deps: { inline: ["@actions/workflow-parser"] } },
  },
});

import { globSync, readFileSync } from "node:fs";
import process from "node:process";
import { defineConfig } from "vitest/config";
import { long } from "./test/long.ts";
import { tallyWithout } from "./test/support/tally.ts";

/** Folders whose files leave nothing behind in their process: one process runs many of them, and loads the sources once. */
const sharing =
  "test/{apply,commands,conformance,controller,database,e2e,files,golden,hosting,kinds,manifest,model,observe,openapi,plan,platform,polling,replace,report,simulation,state}/**/*.test.ts";

/** A file that replaces modules or the time, or that counts the work of functions that run for the first time, needs a process of its own. */
const changesProcess =
  /vi\.(?:mock|doMock|useFakeTimers|stubGlobal)|support\/(?:work|postgres|s3-server)\.ts|process\.(?:chdir|on)\(/;

/** `npm run test:all` sets the mode `whole`. */
export default defineConfig(({ mode }) => {
  const leftOut = mode === "whole" ? [] : Object.keys(long);
  const files = globSync("test/**/*.test.ts", { exclude: leftOut });
  const shared = globSync(sharing, { exclude: leftOut }).filter(
    (file) => !changesProcess.test(readFileSync(file, "utf8")),
  );
  const own = files.filter((file) => !shared.includes(file));
  return {
    test: {
      projects: [
        { extends: true, test: { name: "shared", include: shared, isolate: false } },
        { extends: true, test: { name: "own", include: own } },
      ],
      provide: { whole: mode === "whole" },
      pool: "forks",
      // Files wait for processes and moments half of their time: four at once keep two cores busy; the long ones wait longer.
      maxWorkers: mode === "whole" ? 5 : 4,
      // Ends what hangs. A busy machine takes several times as long as a quiet one.
      testTimeout: 240_000,
      hookTimeout: 120_000,
      // Among seven thousand tests one meets a moment that a busy machine makes too long: it is shown, and tried once more.
      retry: process.env["CI"] === undefined ? 0 : 1,
      globalSetup: ["test/support/set-up.ts"],
      setupFiles: ["test/support/clean-up.ts"],
      reporters: ["default", tallyWithout(leftOut)],
      // A test that leaves a mock or a variable behind would break another one.
      restoreMocks: true,
      unstubEnvs: true,
      // It imports JSON in a way that Node alone refuses.
      server: { deps: { inline: ["@actions/workflow-parser"] } },
      // A CommonJS module is imported as Node imports it.
      deps: { interopDefault: false },
    },
  };
});

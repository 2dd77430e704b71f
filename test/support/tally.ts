import { globSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename } from "node:path";
import process from "node:process";
import type { Reporter, TestModule } from "vitest/node";

/** Entries of the run's temporary folder that outlive the files of tests: the package, a PostgreSQL, and what Node caches. */
const expected = ["packaged", "postgres-installed", "node-compile-cache"];

/**
 * Ends a run with one plain line, `N passed, N failed`, that a script can read in any log. If no files were named, the
 * list of the files that this run left out stands before it. Each entry that tests leave in the folder for temporary files fails the run.
 */
export const tallyWithout = (leftOut: readonly string[]): Reporter => {
  return {
    onTestRunEnd(modules, errors) {
      const isPart = modules.length + leftOut.length < globSync("test/**/*.test.ts").length;
      const states = modules.flatMap(statesOf);
      // The set-up makes the folder; if it fails, the system's own is still in force.
      const folder = basename(tmpdir()).startsWith("gf-") ? readdirSync(tmpdir()) : [];
      const left = folder.filter((name) => !expected.includes(name));
      const count = (state: string): number => states.filter((each) => each === state).length;
      const skipped = count("skipped") + count("pending");
      const failed = count("failed") + errors.length + left.length;
      if (left.length > 0) process.exitCode = 1;
      const lines = [
        ...(leftOut.length > 0 && !isPart ? ["left to `npm run test:all`:", ...leftOut] : []),
        ...left.map((name) => `the tests left ${name} in the folder for temporary files`),
        `${count("passed")} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
      ];
      // After the default reporter's own summary.
      process.on("exit", () => console.log(lines.join("\n")));
    },
  };
};

/** How each test of a file ended. A file that could not be read has no tests, and counts as one that failed. */
function statesOf(module: TestModule): readonly string[] {
  const states = [...module.children.allTests()].map((test): string => test.result().state);
  return states.length === 0 && !module.ok() ? ["failed"] : states;
}

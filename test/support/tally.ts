import { globSync } from "node:fs";
import process from "node:process";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a run with one plain line, `N passed, N failed`, that a script can read in any log. If no files were named, the
 * list of the files that this run left out stands before it.
 */
export const tallyWithout = (leftOut: readonly string[]): Reporter => {
  return {
    onTestRunEnd(modules, errors) {
      const isPart = modules.length + leftOut.length < globSync("test/**/*.test.ts").length;
      const states = modules.flatMap(statesOf);
      const count = (state: string): number => states.filter((each) => each === state).length;
      const skipped = count("skipped") + count("pending");
      const tail = skipped > 0 ? `, ${skipped} skipped` : "";
      const line = `${count("passed")} passed, ${count("failed") + errors.length} failed${tail}`;
      const left = leftOut.length > 0 && !isPart ? ["left to `npm run test:all`:", ...leftOut] : [];
      // After the default reporter's own summary.
      process.on("exit", () => console.log([...left, line].join("\n")));
    },
  };
};

/** How each test of a file ended. A file that could not be read has no tests, and counts as one that failed. */
function statesOf(module: TestModule): readonly string[] {
  const states = [...module.children.allTests()].map((test): string => test.result().state);
  return states.length === 0 && !module.ok() ? ["failed"] : states;
}

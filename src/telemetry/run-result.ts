/** @module Names the result of a run as the semantic conventions for CI/CD do. */
import { exitCodes } from "../model/errors.ts";

/** Value of `cicd.pipeline.result`. */
export type RunResult = "success" | "failure" | "timeout" | "cancellation" | "error";

/** The result that an exit code means: "failure" where the tool worked and refused, "error" where it could not work. */
export function resultOf(exitCode: number): RunResult {
  switch (exitCode) {
    case exitCodes.done:
    case exitCodes.changes:
      return "success";
    case exitCodes.converging:
      return "timeout";
    case exitCodes.interrupted:
      return "cancellation";
    case exitCodes.error:
      return "error";
    default:
      return "failure";
  }
}

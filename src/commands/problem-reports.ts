/** @module Writes the problems of a manifest to a file and to GitHub. */
import { type GraphformError, isManifestError } from "../model/errors.ts";
import type { Problem } from "../model/problem.ts";
import type { Settings } from "../project/settings.ts";
import { problemAnnotations } from "../report/github/annotations.ts";
import { problemFindings } from "../report/sarif/problem-findings.ts";
import { printAnnotations } from "./github-annotations.ts";
import { repositoryPath } from "./repository-path.ts";
import { writeSarif } from "./sarif-report.ts";
import type { Terminal } from "./terminal.ts";

/** Context of the reports of problems. */
export interface ProblemReportContext {
  /** File in the format SARIF. */
  readonly sarif?: string | undefined;
  /** Manifest files. */
  readonly manifest: readonly string[];
  readonly settings: Settings;
  readonly terminal: Terminal;
}

/** Writes problems as findings, and prints annotations on GitHub. Throws `report-unwritable`. */
export async function writeProblemReports(
  problems: readonly Problem[],
  { sarif, ...context }: ProblemReportContext,
  failure?: string,
): Promise<void> {
  const { settings, terminal } = context;
  if (sarif !== undefined) {
    const more = failure === undefined ? {} : { failure };
    await writeSarif(problemFindings(problems), { file: sarif, ...context, ...more });
  }
  const annotations = problemAnnotations(problems, repositoryPath(settings));
  await printAnnotations(annotations, "graphform validate shows all problems", settings, terminal);
}

/** Writes what ended a run before it had a result, so that the report of an earlier run is not taken for its own. */
export async function writeFailureReports(
  error: GraphformError,
  context: ProblemReportContext,
): Promise<void> {
  if (isManifestError(error)) return writeProblemReports(error.problems, context);
  return writeProblemReports([], context, error.message);
}

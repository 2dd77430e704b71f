/** @module Writes the problems of a manifest to a file and to GitHub. */

import { type GraphformError, isManifestError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Problem } from "../../model/problem.ts";
import { packageVersion, projectUrl } from "../../project/package-files.ts";
import type { Settings } from "../../project/settings.ts";
import { sha256 } from "../../project/worlds.ts";
import { problemAnnotations } from "../../report/github/annotations.ts";
import { jsonText } from "../../report/json-text.ts";
import { problemFindings } from "../../report/sarif/problem-findings.ts";
import { type ReportFinding, sarifLog } from "../../report/sarif/sarif-log.ts";
import { amount } from "../../report/words.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { printAnnotations } from "./step-outputs.ts";
import { repositoryPath, repositoryUri, writeReport } from "./write-report.ts";

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

/** Context of a SARIF file. */
interface SarifTarget {
  readonly file: string;
  /** Manifest files; a finding without a place is shown at the first. */
  readonly manifest: readonly string[];
  readonly settings: Settings;
  readonly terminal: Pick<Terminal, "err" | "out">;
  /** Error that ended the run, where it has no place in the manifest. */
  readonly failure?: string;
  /** Figures of the whole run, by name. */
  readonly figures?: { readonly [name: string]: number };
}

/** Writes findings, sorted worst first. Says how many the limit left out. Throws `report-unwritable`. */
export async function writeSarif(findings: readonly ReportFinding[], target: SarifTarget): Promise<void> {
  const { file, manifest, settings, terminal, failure, figures = {} } = target;
  const { log, leftOut } = sarifLog(findings, {
    version: packageVersion(),
    projectUrl: projectUrl(),
    fallbackFile: manifest[0] ?? "graphform.yaml",
    uriOf: repositoryUri(settings),
    digest: sha256,
    ...defined({ failure }),
    figures,
  });
  await writeReport("sarif", file, `${jsonText(log, 2)}\n`, terminal);
  if (leftOut > 0) terminal.err(`${file}: ${amount(leftOut, "result")} left out, the least severe ones\n`);
}

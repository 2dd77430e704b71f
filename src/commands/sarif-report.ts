/** @module Writes findings to a file in the format SARIF. */
import { packageVersion, projectUrl } from "../project/package-files.ts";
import type { Settings } from "../project/settings.ts";
import { sha256 } from "../project/worlds.ts";
import { amount } from "../report/amounts.ts";
import { jsonText } from "../report/json-text.ts";
import type { ReportFinding } from "../report/sarif/finding.ts";
import { sarifLog } from "../report/sarif/sarif-log.ts";
import { repositoryUri } from "./repository-path.ts";
import type { Terminal } from "./terminal.ts";
import { writeReport } from "./write-report.ts";

/** Context of a SARIF file. */
export interface SarifTarget {
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
    ...(failure === undefined ? {} : { failure }),
    figures,
  });
  await writeReport("sarif", file, `${jsonText(log, 2)}\n`, terminal);
  if (leftOut > 0) terminal.err(`${file}: ${amount(leftOut, "result")} left out, the least severe ones\n`);
}

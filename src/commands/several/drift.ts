/** @module Runs `drift` on several manifests: a look at each, one report and one exit code. */
import { kinds } from "../../kinds/index.ts";
import { hasDrift } from "../../model/drift.ts";
import { ownError } from "../../model/errors.ts";
import { openProject } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { driftJson, erroredDriftJson } from "../../report/drift/drift-json.ts";
import { driftAnnotations } from "../../report/github/annotations.ts";
import { driftSuite, failedDriftSuite } from "../../report/junit/drift-suite.ts";
import { junitText } from "../../report/junit/junit.ts";
import { reportMarkdown } from "../../report/markdown/report-markdown.ts";
import { makePalette } from "../../report/palette.ts";
import { driftFindings } from "../../report/sarif/drift-findings.ts";
import { exitOfAll, type ManifestResult, madeOf } from "../../report/several/manifest-result.ts";
import type { ShownDrift } from "../../report/shown.ts";
import { reportText } from "../../report/text/report-text.ts";
import { countDrift, driftView } from "../../report/view/drift-view.ts";
import { kindNames } from "../../report/words.ts";
import { makeDrift } from "../drift/drift-command.ts";
import {
  type DriftOptions,
  writeDriftFiles,
  writeDriftOutputs,
  writeNoDriftFiles,
} from "../drift/drift-reports.ts";
import { assertReportFiles, pathIn, writeReport } from "../reports/write-report.ts";
import type { Invocation } from "../with-run.ts";
import { inEachFolder, refuseSeveral } from "./folders.ts";
import { printSeveral, type SeveralParts, writeSeveralReports } from "./reports.ts";

/**
 * `drift` with several --chdir: looks at each manifest as if started in its folder, where --html and --prometheus write. All other reports
 * hold all looks, and stand in the folder of the command. Exits with the worst code.
 */
export async function driftSeveral(
  invocation: Invocation<DriftOptions>,
  folders: readonly string[],
): Promise<number> {
  const { options, settings, terminal } = invocation;
  if (options.adopt.length > 0) refuseSeveral("drift --adopt");
  const { sarif, junit, markdown, html, prometheus } = options;
  assertReportFiles({ sarif, junit, markdown });
  assertReportFiles({ html, prometheus });
  const names = kindNames(kinds.all);
  const results = await inEachFolder(folders, settings, async (opened) => {
    let name = "";
    try {
      const project = await openProject(options, settings);
      name = project.header.name;
      await opened(project);
      const report = await makeDrift(project, invocation);
      await writeDriftFiles(report, names, { html, prometheus }, terminal);
      return report;
    } catch (thrown) {
      const error = ownError(thrown, settings.secrets.hide);
      await writeNoDriftFiles(error, name, { html, prometheus }, terminal);
      throw error;
    }
  });
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  const parts: SeveralParts<ShownDrift> = {
    report: "drift",
    differs: hasDrift,
    line: lineOf,
    markdown: (report, bytes) => reportMarkdown(driftView(report, names), bytes),
    findings: (report) => driftFindings(report),
    annotations: driftAnnotations,
    text: (report) => reportText(driftView(report, names), { ...page, verbose: options.verbose === true }),
    json: (report) => driftJson(report, names),
    failedJson: erroredDriftJson,
  };
  await writeSeveralReports(results, parts, { markdown, sarif }, { settings, terminal });
  if (junit !== undefined)
    await writeReport("junit", junit, junitText(suitesOf(results, settings)), terminal);
  writeDriftOutputs(
    madeOf(results).map(({ value }) => value),
    { markdown, sarif },
    settings,
    terminal,
  );
  await printSeveral(results, parts, options.json === true, terminal);
  return exitOfAll(results, hasDrift);
}

function suitesOf(
  results: readonly ManifestResult<ShownDrift>[],
  settings: Settings,
): Parameters<typeof junitText>[0] {
  return results.map((result) => {
    const pathOf = pathIn(settings, result.folder);
    const suite =
      result.is === "made"
        ? driftSuite(result.value, pathOf)
        : failedDriftSuite(result.error, result.name, pathOf);
    // Manifests of several folders may have one name.
    return { ...suite, name: suite.name === "" ? result.folder : `${result.folder} ${suite.name}` };
  });
}

function lineOf(report: ShownDrift): string {
  const { outside, ours } = countDrift(report);
  const undeclared = report.unmanaged?.length ?? 0;
  return [
    outside === 0 ? "no drift" : `${outside} changed outside`,
    ...(report.complete ? [] : ["incomplete"]),
    ...(undeclared === 0 ? [] : [`${undeclared} not declared`]),
    ...(ours === 0 ? [] : [`${ours} not applied yet`]),
  ].join(", ");
}

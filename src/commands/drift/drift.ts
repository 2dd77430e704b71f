/** @module Runs `drift`: shows what was changed outside since the last apply. */
import { kinds } from "../../kinds/index.ts";
import { countUnread, hasDrift } from "../../model/drift.ts";
import { exitCodes, type GraphformError, ownError } from "../../model/errors.ts";
import { openProject } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { driftJson, erroredDriftJson } from "../../report/drift/drift-json.ts";
import { jsonText } from "../../report/json-text.ts";
import { makePalette } from "../../report/palette.ts";
import { type ShownDrift, shownDrift } from "../../report/shown.ts";
import { reportText } from "../../report/text/report-text.ts";
import { driftView } from "../../report/view/drift-view.ts";
import { kindNames } from "../../report/words.ts";
import { isReportError } from "../reports/write-html.ts";
import { assertReportFiles } from "../reports/write-report.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { withAuditEvents } from "./audit-events.ts";
import { withDrift } from "./look.ts";
import type { DriftOptions } from "./reports.ts";

/**
 * `drift`: prints what was changed outside; exits 2 where that matters. Writes nothing but the reports that options name; with
 * --adopt it writes live values into the manifest. With --json a failure is printed as a document too, with `errored: true`.
 */
export async function drift(options: DriftOptions, settings: Settings, terminal: Terminal): Promise<number> {
  let name = "";
  try {
    const { markdown, html, sarif, junit, prometheus } = options;
    assertReportFiles({ markdown, html, sarif, junit, prometheus });
    const project = await openProject(options, settings);
    name = project.header.name;
    return await withDrift(project, options, settings, terminal, async (looked) => {
      if (options.adopt.length > 0) {
        const { adopt } = await import("./adopt.ts");
        return adopt(looked, options, settings, terminal);
      }
      const found = await withAuditEvents(looked.drift.report, looked.session.service, looked.signal);
      const { writeDriftReports } = await import("./reports.ts");
      const names = kindNames(kinds.all);
      const report = shownDrift(found, names);
      await writeDriftReports(report, names, options, { name, manifest: project.files, settings, terminal });
      printReport(report, options, terminal);
      if (countUnread(report.census) > 0) return exitCodes.error;
      return hasDrift(report) ? exitCodes.changes : exitCodes.done;
    });
  } catch (thrown) {
    const error = ownError(thrown, settings.secrets.hide);
    await reportFailure(error, name, options, settings, terminal);
    if (options.json === true) terminal.out(`${jsonText(erroredDriftJson(error))}\n`);
    throw error;
  }
}

/** Reports that nobody could look, but not that a report cannot be written. Adopting makes no report. */
async function reportFailure(
  error: GraphformError,
  name: string,
  options: DriftOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  if (isReportError(error) || options.adopt.length > 0) return;
  const { writeNoDriftReports } = await import("./reports.ts");
  await writeNoDriftReports(error, options, { name, manifest: options.file, settings, terminal });
}

function printReport(report: ShownDrift, options: DriftOptions, terminal: Terminal): void {
  const names = kindNames(kinds.all);
  if (options.json === true) {
    terminal.out(`${jsonText(driftJson(report, names))}\n`);
    return;
  }
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  terminal.out(reportText(driftView(report, names), { ...page, verbose: options.verbose === true }));
}

/** @module Runs `drift`: shows what was changed outside since the last apply. */
import { kinds } from "../../kinds/index.ts";
import { type DriftReport, hasDrift } from "../../model/drift.ts";
import { exitCodes } from "../../model/errors.ts";
import type { Settings } from "../../project/settings.ts";
import { driftJson, erroredDriftJson } from "../../report/drift-json.ts";
import { driftText } from "../../report/drift-text.ts";
import { jsonText } from "../../report/json-text.ts";
import { kindNames } from "../../report/kind-words.ts";
import { makePalette } from "../../report/palette.ts";
import type { Terminal } from "../terminal.ts";
import { withAuditEvents } from "./audit-events.ts";
import { withDrift } from "./look.ts";
import type { DriftOptions } from "./options.ts";

/**
 * `drift`: prints what was changed outside; exits 2 where that matters. Writes nothing; with --adopt it writes live values
 * into the manifest. With --json a failure is printed as a document too, with `errored: true`.
 */
export async function drift(options: DriftOptions, settings: Settings, terminal: Terminal): Promise<number> {
  try {
    return await withDrift(options, settings, terminal, async (looked) => {
      if (options.adopt.length > 0) {
        const { adopt } = await import("./adopt.ts");
        return adopt(looked, options, terminal);
      }
      const report = await withAuditEvents(looked.drift.report, looked.session.service, looked.signal);
      printReport(report, options, terminal);
      return hasDrift(report) ? exitCodes.changes : exitCodes.done;
    });
  } catch (error) {
    if (options.json === true) terminal.out(`${jsonText(erroredDriftJson(error))}\n`);
    throw error;
  }
}

function printReport(report: DriftReport, options: DriftOptions, terminal: Terminal): void {
  const names = kindNames(kinds.all);
  if (options.json === true) {
    terminal.out(`${jsonText(driftJson(report, names))}\n`);
    return;
  }
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  terminal.out(driftText(report, names, { ...page, verbose: options.verbose === true }));
}

/** @module Runs `drift`: shows what was changed outside since the last apply. */

import { kinds } from "../../kinds/index.ts";
import { instanceEvents } from "../../kinds/instance-history.ts";
import {
  type AuditEvent,
  countUnread,
  type DriftReport,
  hasDrift,
  type ResourceDrift,
} from "../../model/drift.ts";
import { exitCodes, GraphformError, isServiceError, ownError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Manifest } from "../../model/manifest.ts";
import type { OnRead } from "../../observe/context.ts";
import { type ReadManifest, type Run, resolving } from "../../project/open-run.ts";
import { openProject, type Project } from "../../project/project.ts";
import { assertAddressesKnown } from "../../reconcile/plan-for.ts";
import { type Drift, driftFor } from "../../reconcile/reconcile.ts";
import { driftJson, erroredDriftJson } from "../../report/drift/drift-json.ts";
import { jsonText } from "../../report/json-text.ts";
import { makePalette } from "../../report/palette.ts";
import { type ShownDrift, shownDrift } from "../../report/shown.ts";
import { reportText } from "../../report/text/report-text.ts";
import { driftView } from "../../report/view/drift-view.ts";
import { kindNames } from "../../report/words.ts";
import { goalOf } from "../options.ts";
import { isReportError } from "../reports/write-html.ts";
import { assertReportFiles } from "../reports/write-report.ts";
import { openLiveView } from "../terminal/live-view.ts";
import { type Invocation, withRun } from "../with-run.ts";
import type { DriftOptions } from "./drift-reports.ts";

/**
 * `drift`: prints what was changed outside; exits 2 if that matters. Writes nothing but the reports that options name; with
 * --adopt it writes live values into the manifest. With --json a failure is printed as a document too, with `errored: true`.
 */
export async function drift(invocation: Invocation<DriftOptions>): Promise<number> {
  const { options, settings, terminal } = invocation;
  const { markdown, html, sarif, junit, prometheus, json = false, verbose = false } = options;
  let name = "";
  try {
    assertReportFiles({ markdown, html, sarif, junit, prometheus });
    const project = await openProject(options, settings);
    name = project.header.name;
    if (options.adopt.length > 0) {
      const { adopt } = await import("./adopt.ts");
      return await withDrift(project, invocation, (seen, run) =>
        adopt(seen, run, invocation, (edited, manifest) => observeDrift(run, edited, manifest, options)),
      );
    }
    const report = await makeDrift(project, invocation);
    const { writeDriftReports } = await import("./drift-reports.ts");
    const names = kindNames(kinds.all);
    await writeDriftReports(report, names, options, { name, manifest: project.files, settings, terminal });
    const page = { palette: makePalette(terminal.colour), width: terminal.width, verbose };
    terminal.out(
      json ? `${jsonText(driftJson(report, names))}\n` : reportText(driftView(report, names), page),
    );
    if (countUnread(report.census) > 0) return exitCodes.error;
    return hasDrift(report) ? exitCodes.changes : exitCodes.done;
  } catch (thrown) {
    const error = ownError(thrown, settings.secrets.hide);
    await reportFailure(error, name, invocation);
    if (json) terminal.out(`${jsonText(erroredDriftJson(error))}\n`);
    throw error;
  }
}

/** Reports that drift could not be looked for, but not that a report cannot be written. Adopting makes no report. */
async function reportFailure(
  error: GraphformError,
  name: string,
  { options, settings, terminal }: Invocation<DriftOptions>,
): Promise<void> {
  if (isReportError(error) || options.adopt.length > 0) return;
  const { writeNoDriftReports } = await import("./drift-reports.ts");
  await writeNoDriftReports(error, options, { name, manifest: options.file, settings, terminal });
}

/** Observes the service, and reports the drift of a project with the audit events of what was changed. */
export function makeDrift(project: Project, invocation: Invocation<DriftOptions>): Promise<ShownDrift> {
  return withDrift(project, invocation, async ({ report }, { service, signal }) => {
    const found = service.offers("instance.events") ? await withAuditEvents(report, service, signal) : report;
    return shownDrift(found, kindNames(kinds.all));
  });
}

/**
 * Compares what the service shows with the last apply, and does `work` while the service is connected. Throws
 * `state-missing` before the first apply. Takes no lock, and writes nothing.
 */
async function withDrift<T>(
  project: Project,
  invocation: Invocation<DriftOptions>,
  work: (seen: Drift, run: Run & ReadManifest) => Promise<T>,
): Promise<T> {
  const { options, terminal } = invocation;
  // Without a state nothing is known of the last apply: that is no proof that nothing has changed.
  const acceptState = async ({ serial }: Run["state"]): Promise<void> => {
    if (serial > 0) return;
    const message = `there is no state at ${project.store.where}: nothing to compare with`;
    const hint = "graphform apply makes one; --state names another location";
    throw new GraphformError("state-missing", message, { hint });
  };
  const wanted = { project, reading: resolving("declared"), creates: true, acceptState };
  return withRun(invocation, wanted, async (run) => {
    const view = await openLiveView(terminal, options.json !== true);
    view?.reading(0, 0);
    const seen = await observeDrift(run, project, run.manifest, options, view?.reading).finally(view?.clear);
    return work(seen, run);
  });
}

/** Looks at the service and compares. Throws `address-unknown` if an option names an address that nothing has. */
async function observeDrift(
  { state, planning }: Run,
  project: Project,
  manifest: Manifest,
  options: DriftOptions,
  onRead?: OnRead,
): Promise<Drift> {
  const goal = {
    ...goalOf({ project, manifest }, options),
    layers: project.parsed.layers,
    withUnmanaged: options.unmanaged === true,
    // An adoption is proven by a plan of everything.
    skipsUnread: options.adopt.length === 0,
  };
  assertAddressesKnown(goal, state, kinds);
  return driftFor(goal, state, { ...planning, onRead });
}

/** Events of one resource that a report shows; the newest ones. */
const maxShown = 3;

/** Resources whose events are asked for at most: attribution may not cost as much as the look itself. */
const maxAsked = 20;

/**
 * Adds the audit events since a resource was last seen right to each resource that was changed outside. Events that cannot
 * be read are left out: they explain drift, and decide nothing.
 */
async function withAuditEvents(
  report: DriftReport,
  service: Run["service"],
  signal: AbortSignal,
): Promise<DriftReport> {
  const changed = report.resources.filter(
    ({ class: is, kind, id }) => is === "outside" && kind === "instances" && id !== undefined,
  );
  const eventsOf = async ({ id = "", since = "" }: ResourceDrift): Promise<readonly AuditEvent[]> => {
    try {
      const events = await instanceEvents(service, id, signal);
      const after = Date.parse(since);
      return events.filter(({ time }) => !(Date.parse(time) <= after)).slice(0, maxShown);
    } catch (error) {
      if (!isServiceError(error) || signal.aborted) throw error;
      return [];
    }
  };
  const asked = changed.slice(0, maxAsked);
  const found = await Promise.all(asked.map(eventsOf));
  const events = new Map(asked.map((resource, at) => [resource, found[at]]));
  const resources = report.resources.map((resource) => ({
    ...resource,
    ...defined({ events: events.get(resource) }),
  }));
  return { ...report, resources };
}

/** @module Runs `drift`: shows what was changed outside since the last apply. */
import { kinds } from "../../kinds/index.ts";
import { instanceEvents } from "../../kinds/instance-history.ts";
import type { AuditEvent, DriftReport, ResourceDrift } from "../../model/drift.ts";
import { GraphformError, isServiceError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Manifest } from "../../model/manifest.ts";
import type { OnRead } from "../../observe/observe-context.ts";
import { type ReadManifest, type Run, resolving } from "../../project/open-run.ts";
import { openProject, type Project } from "../../project/project.ts";
import { assertAddressesKnown } from "../../reconcile/plan-for.ts";
import { type Drift, driftFor } from "../../reconcile/reconcile.ts";
import { type RedactedDrift, redactDrift } from "../../report/redact.ts";
import { type Opened, refuseSeveral } from "../folders.ts";
import { goalOf } from "../options.ts";
import { report } from "../reports/run-report.ts";
import { openLiveView } from "../terminal/live-view.ts";
import { type Invocation, withRun } from "../with-run.ts";
import { type DriftOptions, driftReport } from "./drift-reports.ts";

/**
 * `drift`: prints what was changed outside; exits 2 if that matters. Writes nothing but the reports that options name; with
 * --adopt it writes live values into the manifest. With --json a failure is printed as a document too, with `errored: true`.
 */
export async function drift(invocation: Invocation<DriftOptions>): Promise<number> {
  const { options, settings, terminal, folders = [] } = invocation;
  if (options.adopt.length === 0)
    return report(invocation, driftReport(options, settings, terminal), (opened) =>
      makeDrift(invocation, opened),
    );
  if (folders.length > 1) refuseSeveral("drift --adopt");
  const project = await openProject(options, settings);
  const { adopt } = await import("./adopt.ts");
  return withDrift(project, invocation, (seen, run) =>
    adopt(seen, run, invocation, (edited, manifest) => observeDrift(run, edited, manifest, options)),
  );
}

/** Observes the service, and reports the drift of the manifest with the audit events of what was changed. */
async function makeDrift(invocation: Invocation<DriftOptions>, opened: Opened): Promise<RedactedDrift> {
  const project = await openProject(invocation.options, invocation.settings);
  await opened(project);
  return withDrift(project, invocation, async (seen, run) => {
    const isAsked = run.service.offers("instance.events");
    const report = await withAdoptable(seen.report, project, run.manifest);
    return redactDrift(isAsked ? await withAuditEvents(report, run) : report, kinds);
  });
}

/** Compares the service with the last apply, without a lock, and does `work`. Throws `state-missing` before the first apply. */
async function withDrift<T>(
  project: Project,
  invocation: Invocation<DriftOptions>,
  work: (seen: Drift, run: Run & ReadManifest) => Promise<T>,
): Promise<T> {
  const { options, terminal } = invocation;
  // Without a state the last apply is unknown, so an empty report would prove nothing.
  const acceptState = async ({ serial }: Run["state"]): Promise<void> => {
    if (serial > 0) return;
    const message = `there is no state at ${project.store.where}: nothing to compare with`;
    const hint =
      "if there was one, put it back, or name it with --state; before the first apply there is none";
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

/** Observes the service and compares. Throws `address-unknown` if an option names an address that nothing has. */
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

/** Newest events of one resource that a report shows. */
const maxShown = 3;

/** Resources whose events are asked for at most: attribution may not cost as much as the look itself. */
const maxAsked = 20;

/** Adds the first field that `--adopt` can write. Without drift nothing is loaded for that. */
async function withAdoptable(
  report: DriftReport,
  { parsed }: Project,
  manifest: Manifest,
): Promise<DriftReport> {
  if (report.resources.length === 0) return report;
  const { firstAdoptable } = await import("./adopt.ts");
  return { ...report, adoptable: firstAdoptable(report, parsed.layers, manifest) };
}

/** Adds to each resource that was changed outside the events since it was last seen right; those that cannot be read decide nothing. */
async function withAuditEvents(seen: DriftReport, { service, signal }: Run): Promise<DriftReport> {
  const changed = seen.resources.filter(
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
  const resources = seen.resources.map((resource) => ({
    ...resource,
    ...defined({ events: events.get(resource) }),
  }));
  return { ...seen, resources };
}

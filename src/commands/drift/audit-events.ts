/** @module Adds to a drift report who did what to a resource, where the service keeps an audit log. */
import { instanceEvents } from "../../kinds/instance-history.ts";
import type { AuditEvent, DriftReport, ResourceDrift } from "../../model/drift.ts";
import { isServiceError } from "../../model/errors.ts";
import type { Reads } from "../../model/service.ts";

/** Events of one resource that a report shows; the newest ones. */
const shown = 3;

/** Most resources whose events are asked for: attribution may not cost as much as the look itself. */
const asked = 20;

/**
 * Adds the audit events since a resource was last seen right to each resource that was changed outside. Events that cannot
 * be read are left out: they explain drift, and decide nothing.
 */
export async function withAuditEvents(
  report: DriftReport,
  service: Reads,
  signal: AbortSignal,
): Promise<DriftReport> {
  if (!service.offers("instance.events")) return report;
  const changed = report.resources.filter(
    ({ class: is, kind, id }) => is === "outside" && kind === "instances" && id !== undefined,
  );
  const events = new Map(
    await Promise.all(
      changed
        .slice(0, asked)
        .map(
          async (resource): Promise<[ResourceDrift, readonly AuditEvent[]]> => [
            resource,
            await eventsOf(resource, service, signal),
          ],
        ),
    ),
  );
  const resources = report.resources.map((resource) => {
    const found = events.get(resource);
    return found === undefined ? resource : { ...resource, events: found };
  });
  return { ...report, resources };
}

async function eventsOf(
  { id = "", since = "" }: ResourceDrift,
  service: Reads,
  signal: AbortSignal,
): Promise<readonly AuditEvent[]> {
  try {
    const events = await instanceEvents(service, id, signal);
    const after = Date.parse(since);
    return events.filter(({ time }) => !(Date.parse(time) <= after)).slice(0, shown);
  } catch (error) {
    if (!isServiceError(error) || signal.aborted) throw error;
    return [];
  }
}

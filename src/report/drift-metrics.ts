/** @module Turns a drift report into metrics for the text file collector of Prometheus' node exporter. */
import { parseAddress } from "../model/address.ts";
import { countUnread, type DriftReport, driftClasses, hasDrift } from "../model/drift.ts";
import { type Asked, probeCounts } from "./view/census-view.ts";
import { countDrift } from "./view/drift-view.ts";

const lastSuccess = "graphform_last_success_timestamp_seconds";
const lastHelp = "Time of the last look that could be made.";

/** The metrics of a look at `now`, in ms since 1970. */
export function driftMetrics(report: DriftReport<unknown>, now: number): string {
  const { census, resources, unchanged, unmanaged = [] } = report;
  const of = { manifest: report.name };
  const { outside, ours } = countDrift(report);
  const states = {
    declared: census.declared,
    checked: census.checked,
    skipped: census.skipped,
    not_checked: census.notChecked.length,
    unread: countUnread(census),
    unanswered: (census.notProbed ?? []).filter(({ failed }) => failed === true).length,
    unmanaged: census.unmanaged,
    drifted: outside,
    unapplied: ours,
  };
  const info = (names: Labels, sync_status: string, health = "unknown"): Metric["samples"][number] => ({
    labels: { ...of, ...names, sync_status, health },
    value: 1,
  });
  const fields = resources.flatMap((resource) => resource.fields);
  const drifted = resources.filter((resource) => resource.class === "outside");
  return expositionText([
    success(of, 1),
    gauge(lastSuccess, lastHelp, [{ labels: of, value: now / 1000 }]),
    gauge("graphform_drift", "1 where something that matters was changed outside: exit code 2.", [
      { labels: of, value: hasDrift(report) ? 1 : 0 },
    ]),
    gauge(
      "graphform_drift_complete",
      "0 where something was left out, could not be read, or did not answer.",
      [{ labels: of, value: report.complete ? 1 : 0 }],
    ),
    gauge("graphform_resources", "Resources by state.", counted(of, "state", states)),
    gauge(
      "graphform_drift_fields",
      "Fields that differ from the last apply, by class; outside is drift that matters.",
      driftClasses.map((is) => ({
        labels: { ...of, class: is },
        value: fields.filter((field) => field.class === is).length,
      })),
    ),
    gauge(
      "graphform_values",
      "Known values by source; recorded ones were not seen in this look.",
      counted(of, "source", census.fields),
    ),
    ...probeGauges(report, of),
    gauge("graphform_resource_info", "Always 1: one series for each resource.", [
      ...resources.map(({ address, kind, class: is, phase }) =>
        info(named(address, kind), statusOf[is], phase?.is),
      ),
      ...unchanged.map(({ address, kind }) => info(named(address, kind), "synced")),
      ...unmanaged.map(({ kind, id }) => info({ kind, name: id }, "unmanaged")),
    ]),
    gauge(
      "graphform_resource_drift_seconds",
      "Longest time that a resource can have been changed: seconds since it was last seen right.",
      drifted.flatMap(({ address, kind, since = "" }) => {
        const value = (now - Date.parse(since)) / 1000;
        if (Number.isNaN(value)) return [];
        return [{ labels: { ...of, ...named(address, kind) }, value: Math.max(0, value) }];
      }),
    ),
  ]);
}

/** The databases and logins that were asked themselves; nothing if the run could ask none. */
function probeGauges({ census }: DriftReport<unknown>, of: Labels): readonly Metric[] {
  const counts = probeCounts(census);
  if (counts === undefined) return [];
  const failed = (census.notProbed ?? []).filter((entry) => entry.failed === true);
  const logins = failed.filter(({ login }) => login === true).length;
  const states = ({ asked, all }: Asked, unanswered: number): { readonly [state: string]: number } => ({
    asked,
    unanswered,
    not_asked: all - asked - unanswered,
  });
  return [
    gauge(
      "graphform_databases",
      "Running databases by whether they were asked and answered in this look.",
      counted(of, "state", states(counts.databases, failed.length - logins)),
    ),
    gauge(
      "graphform_logins",
      "Logins of users by whether they were tried in this look, and the database answered.",
      counted(of, "state", states(counts.logins, logins)),
    ),
    gauge(
      "graphform_access_rules",
      "Users whose access rules were compared with what the service keeps, and not in the database.",
      counted(of, "state", { not_checked_in_database: counts.logins.all }),
    ),
  ];
}

/**
 * The metrics of a failed look. Of the file of the look before the time of the last success stays, for alerts on its age; nothing else
 * is known to hold. `name` is that of the manifest, empty if it could not be read.
 */
export function failedDriftMetrics(name: string, earlier: string): string {
  const kept = /^graphform_last_success_timestamp_seconds(?:\{manifest="(?:[^"\\]|\\.)*"\})? [\d.e+]+$/;
  const line = earlier.split("\n").find((one) => kept.test(one));
  const head = `# HELP ${lastSuccess} ${lastHelp}\n# TYPE ${lastSuccess} gauge\n`;
  return `${expositionText([success(name === "" ? {} : { manifest: name }, 0)])}${line === undefined ? "" : `${head}${line}\n`}`;
}

const statusOf = { outside: "drifted", ours: "unapplied", cosmetic: "synced" } as const;

function success(labels: Labels, value: 0 | 1): Metric {
  return gauge("graphform_drift_success", "1 if the last look was made, 0 if it failed.", [
    { labels, value },
  ]);
}

function gauge(name: string, help: string, samples: Metric["samples"]): Metric {
  return { name, help, samples };
}

function counted(of: Labels, label: string, counts: { readonly [key: string]: number }): Metric["samples"] {
  return Object.entries(counts).map(([key, value]) => ({ labels: { ...of, [label]: key }, value }));
}

/** Kind and name of an address: the section that it begins with, and the rest. */
function named(address: string, kind: string): Labels {
  const section = parseAddress(address)?.section;
  return { kind, name: section === undefined ? address : address.slice(section.length + 1) };
}

interface Labels {
  readonly [name: string]: string;
}

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly { readonly labels: Labels; readonly value: number }[];
}

/** Gauges as text. Of several samples of one series the first counts, since readers refuse a file with two. A metric without samples is left out. */
export function expositionText(metrics: readonly Metric[]): string {
  return metrics.map(metricText).join("");
}

function metricText({ name, help, samples }: Metric): string {
  const series = new Map<string, number>();
  for (const { labels, value } of samples) {
    const key = `${name}${labelsText(labels)}`;
    if (!series.has(key)) series.set(key, value);
  }
  if (series.size === 0) return "";
  const lines = [...series].map(
    ([key, value]) =>
      `${key} ${Number.isFinite(value) || Number.isNaN(value) ? value : value > 0 ? "+Inf" : "-Inf"}`,
  );
  return `${[`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} gauge`, ...lines].join("\n")}\n`;
}

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** Escapes as the format asks for; other control characters are legal, but readers of lines disagree on them. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "\ufffd");
}

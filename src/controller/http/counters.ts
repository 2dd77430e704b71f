/** @module Counts requests and runs since the process began, and writes metrics as text. */

/** What a process has counted since it began. */
export interface Metrics {
  /** Counts an answered request, and its seconds. */
  request(row: { readonly method: string; readonly path: string }, code: number, seconds: number): void;
  /** The requests as metrics. */
  requests(): readonly string[];
  /** Runs that have ended since the process began. */
  readonly runs: EndedRuns;
}

/** Runs that have ended, as far as they were counted. */
export interface EndedRuns {
  /** The newest end that was seen, and the runs of the last minutes, which are not counted again. */
  seenUntil: number;
  readonly counted: Map<string, number>;
  readonly totals: Map<string, Histogram>;
}

/** Durations of the runs of a tenant that ended with a result. */
export interface Histogram {
  readonly tenant: string;
  readonly result: string;
  count: number;
  sum: number;
  readonly below: number[];
}

/** Bounds of the durations of runs, in seconds. */
export const bounds: readonly number[] = [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400];
/** Begins to count. */
export function collectMetrics(): Metrics {
  const requests = new Map<string, { count: number; sum: number }>();
  return {
    request({ method, path }, code, seconds) {
      const labels = `{method="${method}",path="${path}",code="${code}"}`;
      const known = requests.get(labels) ?? { count: 0, sum: 0 };
      requests.set(labels, { count: known.count + 1, sum: known.sum + seconds });
    },
    requests: () => [
      ...metric(
        "http_requests_total",
        "counter",
        "Requests by code.",
        [...requests].map(([labels, { count }]) => [labels, count]),
      ),
      ...metric(
        "http_request_seconds_total",
        "counter",
        "Time until answers began.",
        [...requests].map(([labels, { sum }]) => [labels, sum]),
      ),
    ],
    runs: { seenUntil: Date.now(), counted: new Map(), totals: new Map() },
  };
}

/** Counts the end of a run. */
export function countRun(
  totals: Map<string, Histogram>,
  { tenant, status }: { readonly tenant: string; readonly status: string },
  seconds: number,
): void {
  const key = `${tenant} ${status}`;
  const total = totals.get(key) ?? { tenant, result: status, count: 0, sum: 0, below: bounds.map(() => 0) };
  total.count += 1;
  total.sum += seconds;
  bounds.forEach((bound, at) => {
    if (seconds <= bound) total.below[at] = (total.below[at] ?? 0) + 1;
  });
  totals.set(key, total);
}

/** The rest of a name with its labels, and a value. */
export type Sample = readonly [labels: string, value: number];

/** The lines of one metric. */
export function metric(
  name: string,
  type: string,
  help: string,
  samples: readonly Sample[],
): readonly string[] {
  const full = `graphform_${name}`;
  return [
    `# HELP ${full} ${help}`,
    `# TYPE ${full} ${type}`,
    ...samples.map(([labels, value]) => `${full}${labels} ${value}`),
  ];
}

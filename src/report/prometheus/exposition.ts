/** @module Formats metrics in the text format of Prometheus. */

/** Labels of one sample, by name. */
export interface Labels {
  readonly [name: string]: string;
}

/** One metric with its samples. */
export interface Metric {
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  readonly samples: readonly { readonly labels: Labels; readonly value: number }[];
}

/**
 * Gauges as text, each line ended by a line feed. Of several samples of one series the first counts: a reader refuses a file that
 * has one twice. A metric without samples is left out.
 */
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
  const lines = [...series].map(([key, value]) => `${key} ${numberText(value)}`);
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

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

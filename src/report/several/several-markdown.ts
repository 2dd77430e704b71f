/** @module Formats the reports of several manifests as one report in Markdown. */

import { failureMarkdown, reportBytes, reportMarkdown } from "../markdown/report-markdown.ts";
import { bytesOf, codeSpan, marker, withoutMarker } from "../markdown/within-budget.ts";
import type { ReportView } from "../view/report-view.ts";
import { amount } from "../words.ts";
import { countSeveral, type ManifestResult, madeOf, severalLine } from "./manifest-result.ts";

/** The words and the parts of a report. */
export interface SeveralReport<T> {
  readonly report: "plan" | "drift";
  readonly differs: (value: T) => boolean;
  /** One line about a result. */
  readonly line: (value: T) => string;
  /** The report of one manifest. */
  readonly view: (value: T) => ReportView;
}

/** Titles of the reports, and the words of their counts. */
const words = {
  plan: ["Plan for", "changes"],
  drift: ["Drift of", "drift"],
} as const;

/**
 * Marker, verdict, a table with a line for each manifest, and a section for each that failed or has something to show. A section that does
 * not fit into `bytes` is left out, and counted. Ends with a line break.
 */
export function severalMarkdown<T>(
  results: readonly ManifestResult<T>[],
  { report, differs, line, view }: SeveralReport<T>,
  bytes: number = reportBytes,
): string {
  const [title, what] = words[report];
  const head = [
    marker(report, results.map(({ folder }) => folder).join(",")),
    `## ${title} ${amount(results.length, "manifest")}`,
    `**${severalLine(countSeveral(results, differs), what)}**`,
    tableOf(results, line),
  ].join("\n\n");
  const shown: readonly (readonly [folder: string, make: (room: number) => string])[] = [
    ...results.flatMap((result): [string, () => string][] =>
      result.is === "failed"
        ? [[result.folder, () => failureMarkdown(result.error, result.name, report)]]
        : [],
    ),
    ...madeOf(results).flatMap(({ folder, value }): [string, (room: number) => string][] =>
      differs(value) ? [[folder, (room) => reportMarkdown(view(value), room)]] : [],
    ),
  ];
  const left: string[] = [];
  const sections: string[] = [];
  let room = bytes - bytesOf(head) - 200;
  for (const [at, [folder, make]] of shown.entries()) {
    const top = `---\n\nIn ${codeSpan(folder, 300)}:\n\n`;
    const share = Math.floor(room / (shown.length - at)) - bytesOf(top) - 2;
    const section = `${top}${withoutMarker(make(share)).trimEnd()}`;
    if (bytesOf(section) + 2 > room) left.push(folder);
    else {
      sections.push(section);
      room -= bytesOf(section) + 2;
    }
  }
  const rest =
    left.length === 0
      ? []
      : [`${amount(left.length, "manifest")} left out: graphform ${report} shows the rest.`];
  return `${[head, ...sections, ...rest].join("\n\n")}\n`;
}

function tableOf<T>(results: readonly ManifestResult<T>[], line: (value: T) => string): string {
  const rows = results.map((result) => {
    const text = result.is === "failed" ? "failed" : line(result.value);
    return `| ${codeSpan(result.folder, 300).replaceAll("|", "\\|")} | ${text} |`;
  });
  return ["| folder | result |", "| --- | --- |", ...rows].join("\n");
}

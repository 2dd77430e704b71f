/** @module Joins the results of several manifests: counts, one exit code, one JSON document, one report in Markdown. */
import type { ExitCode, GraphformError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import { failureMarkdown, reportBytes, reportMarkdown } from "../markdown/report-markdown.ts";
import { bytesOf, codeSpan, marker, withoutMarker } from "../markdown/within-budget.ts";
import type { ReportView } from "../view/report-view.ts";
import { amount } from "../words.ts";

/** The result of one manifest, or the error that kept it from being made. */
export type ManifestResult<T> = {
  readonly folder: string;
  /** Name of the manifest, empty if it could not be read. */
  readonly name: string;
} & ({ readonly is: "made"; readonly value: T } | { readonly is: "failed"; readonly error: GraphformError });

/** A result that was made. */
export type Made<T> = Extract<ManifestResult<T>, { readonly is: "made" }>;

/** The results that were made, in their order. */
export function madeOf<T>(results: readonly ManifestResult<T>[]): readonly Made<T>[] {
  return results.filter((result): result is Made<T> => result.is === "made");
}

/** A result that could not be made. */
type Failed<T> = Extract<ManifestResult<T>, { readonly is: "failed" }>;

/** The results that could not be made, in their order. */
export function failuresOf<T>(results: readonly ManifestResult<T>[]): readonly Failed<T>[] {
  return results.filter((result): result is Failed<T> => result.is === "failed");
}

/** The exit code of one manifest alone: that of its error if it failed. */
export function exitOf<T>(result: ManifestResult<T>, exit: (value: T) => ExitCode): ExitCode {
  return result.is === "made" ? exit(result.value) : result.error.exitCode;
}

/** Numbers of several results. */
interface SeveralCounts {
  readonly manifests: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: number;
}

/** Counts results; `differs` says which of those that were made have something to show. */
export function countSeveral<T>(
  results: readonly ManifestResult<T>[],
  differs: (value: T) => boolean,
): SeveralCounts {
  const failed = results.filter(({ is }) => is === "failed").length;
  const changed = results.filter((result) => result.is === "made" && differs(result.value)).length;
  const manifests = results.length;
  return { manifests, changed, unchanged: manifests - changed - failed, failed };
}

/** The last line of a command on several manifests: `3 manifests: 1 with changes, 2 without.` Its form is stable. */
export function severalLine(
  { manifests, changed, unchanged, failed }: SeveralCounts,
  what: "changes" | "drift",
): string {
  const parts = [
    ...(changed === 0 ? [] : [`${changed} with ${what}`]),
    ...(unchanged === 0 ? [] : [`${unchanged} without${changed === 0 ? ` ${what}` : ""}`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ];
  return `${amount(manifests, "manifest")}: ${parts.join(", ")}.`;
}

/** Version of the document. A reader ignores keys that it does not know, and refuses another major version. */
const formatVersion = "1.0";

/** The documents of each manifest alone, from which that of all is made. */
interface Documents<T> {
  /** Key of the document in its project. */
  readonly key: "plan" | "drift" | "validation";
  readonly exit: (result: ManifestResult<T>) => number;
  readonly made: (value: T) => JsonObject;
  readonly failed: (error: GraphformError) => JsonObject;
  readonly summary: JsonObject;
}

/** `projects`, in the order of the command line, each with the document that the command prints for it alone, and counts. */
export function severalJson<T>(
  results: readonly ManifestResult<T>[],
  { key, exit, made, failed, summary }: Documents<T>,
): JsonObject {
  return {
    format_version: formatVersion,
    projects: results.map((result) => ({
      folder: result.folder,
      exit_code: exit(result),
      [key]: result.is === "made" ? made(result.value) : failed(result.error),
    })),
    summary,
  };
}

/** The words and the parts of a report. */
export interface SeveralReport<T> {
  readonly report: "plan" | "drift";
  readonly differs: (value: T) => boolean;
  /** One line about a result. */
  readonly line: (value: T) => string;
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

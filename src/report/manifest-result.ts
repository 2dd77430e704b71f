/** @module Joins the results of several manifests: counts, one exit code, one JSON document, one report in Markdown. */
import type { ExitCode, GraphformError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { failureMarkdown, reportBytes, reportMarkdown } from "./markdown/report-markdown.ts";
import { codeSpan, marker, withoutMarker } from "./markdown/within-budget.ts";
import type { ReportView } from "./view/report-view.ts";
import { amount } from "./words.ts";

/** A result, or the error that kept it from being made. */
export type Attempt<T> =
  | { readonly is: "made"; readonly value: T }
  | { readonly is: "failed"; readonly error: GraphformError };

interface Place {
  readonly folder: string;
  /** Name of the manifest, empty if it could not be read. */
  readonly name: string;
}

/** The result of one manifest. */
export type ManifestResult<T> = Place & Attempt<T>;

export function madeOf<T>(results: readonly ManifestResult<T>[]): readonly (Place & { readonly value: T })[] {
  return results.flatMap((result) => (result.is === "made" ? [result] : []));
}

export function failuresOf(
  results: readonly ManifestResult<unknown>[],
): readonly (Place & { readonly error: GraphformError })[] {
  return results.flatMap((result) => (result.is === "failed" ? [result] : []));
}

/** The exit code and the document of one manifest alone. */
export interface Documents<T> {
  readonly exit: (value: T) => ExitCode;
  readonly json: (value: T) => JsonObject;
  readonly failedJson: (error: GraphformError) => JsonObject;
}

export function exitOf<T>(result: ManifestResult<T>, exit: (value: T) => ExitCode): ExitCode {
  return result.is === "made" ? exit(result.value) : result.error.exitCode;
}

/** Counts results; `differs` says which of those that were made have something to show. */
export function countSeveral<T>(
  results: readonly ManifestResult<T>[],
  differs: (value: T) => boolean,
): Readonly<Record<"manifests" | "changed" | "unchanged" | "failed", number>> {
  const made = madeOf(results);
  const changed = made.filter(({ value }) => differs(value)).length;
  const [manifests, unchanged] = [results.length, made.length - changed];
  return { manifests, changed, unchanged, failed: manifests - made.length };
}

/** The last line of a command on several manifests: `3 manifests: 1 with changes, 2 without.` Its form is stable. */
export function severalLine(
  { manifests, changed, unchanged, failed }: ReturnType<typeof countSeveral>,
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

/** `projects`, in the order of the command line, each with the document that the command prints for it alone, and counts. */
export function severalJson<T>(
  key: "plan" | "drift" | "validation",
  results: readonly ManifestResult<T>[],
  { exit, json, failedJson }: Documents<T>,
  summary: JsonObject,
): JsonObject {
  return {
    format_version: formatVersion,
    projects: results.map((result) => ({
      folder: result.folder,
      exit_code: exitOf(result, exit),
      [key]: result.is === "made" ? json(result.value) : failedJson(result.error),
    })),
    summary,
  };
}

/** The words and the parts of a report about several manifests. */
export interface SeveralReport<T> {
  readonly report: "plan" | "drift";
  readonly differs: (value: T) => boolean;
  readonly line: (value: T) => string;
  readonly view: (value: T) => ReportView;
}

/** Title of each report, and the word of its counts. */
const words = { plan: ["Plan for", "changes"], drift: ["Drift of", "drift"] } as const;

/** One report of all: verdict, table, and a section for each that failed or differs. Sections that do not fit into `bytes` are counted. */
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
  const shown = [
    ...failuresOf(results).map(({ folder, name, error }) => ({
      folder,
      make: () => failureMarkdown(error, name, report),
    })),
    ...madeOf(results)
      .filter(({ value }) => differs(value))
      .map(({ folder, value }) => ({ folder, make: (room: number) => reportMarkdown(view(value), room) })),
  ];
  const left: string[] = [];
  const sections: string[] = [];
  let room = bytes - Buffer.byteLength(head) - 200;
  for (const [at, { folder, make }] of shown.entries()) {
    const top = `---\n\nIn ${codeSpan(folder, 300)}:\n\n`;
    const share = Math.floor(room / (shown.length - at)) - Buffer.byteLength(top) - 2;
    const section = `${top}${withoutMarker(make(share)).trimEnd()}`;
    if (Buffer.byteLength(section) + 2 > room) left.push(folder);
    else {
      sections.push(section);
      room -= Buffer.byteLength(section) + 2;
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

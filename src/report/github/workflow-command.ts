/** @module Formats one workflow command of GitHub Actions. */
import { escapeText } from "../escape.ts";

/** Kind of an annotation. */
export type AnnotationLevel = "error" | "warning" | "notice";

/** A remark that GitHub shows beside the changed lines of a pull request. */
export interface Annotation {
  readonly level: AnnotationLevel;
  readonly title: string;
  readonly message: string;
  /** Path relative to the root of the repository. */
  readonly file?: string;
  readonly line?: number;
  readonly endLine?: number;
  readonly column?: number;
  readonly endColumn?: number;
}

/** Longest message of an annotation, in characters. */
const longest = 1000;

/** One line without a line break. Its parts are escaped, so that none of them can end it or begin another command. */
export function workflowCommand(annotation: Annotation): string {
  const { level, title, message, file, line, endLine, column, endColumn } = annotation;
  const place = { file, line, endLine, col: column, endColumn };
  const properties = Object.entries({ ...(file === undefined ? {} : place), title })
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${property(String(value))}`]))
    .join(",");
  return `::${level} ${properties}::${data(escapeText(message, longest))}`;
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(escapeText(text, 300)).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

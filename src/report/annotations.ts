/** @module Turns problems of a manifest and dangerous changes of a plan into annotations. */
import { byAddress } from "../model/address.ts";
import { type DriftReport, hasDrift } from "../model/drift.ts";
import type { Problem, SourceRange } from "../model/errors.ts";
import type { Change, Plan } from "../model/plan.ts";
import { escapeText } from "./typeset.ts";
import { amount } from "./words.ts";

/** Converts the path of a manifest file to one relative to the root of the repository. */
export type PathOf = (file: string) => string;

/** One annotation for each problem, errors first. */
export function problemAnnotations(problems: readonly Problem[], pathOf: PathOf): readonly Annotation[] {
  const all = problems.map(({ severity, code, message, hint, range }) => ({
    level: severity,
    title: `graphform: ${code}`,
    message: hint === undefined ? message : `${message} (hint: ${hint})`,
    ...placeOf(range, pathOf),
  }));
  return all.sort((a, b) => Number(b.level === "error") - Number(a.level === "error"));
}

/** An error for each change that loses data or is blocked: first data that is lost, then data that would be, then the rest. */
export function planAnnotations(plan: Plan<unknown>, pathOf: PathOf): readonly Annotation[] {
  return plan.changes
    .filter((change) => change.action !== "keep" && rank(change) < 3)
    .sort((a, b) => rank(a) - rank(b) || byAddress(a, b))
    .map((change) => changeAnnotation(change, pathOf));
}

function changeAnnotation(change: Change<unknown>, pathOf: PathOf): Annotation {
  const { address, action, disruption, reason, where, blocked } = change;
  const loss = disruption === "data-loss" ? ", loses data" : "";
  const guards = blocked.map(({ message, lift }) => ` Blocked: ${message} (way out: ${lift}).`).join("");
  return {
    level: "error",
    title: `graphform: ${action}${loss}${guards === "" ? "" : ", blocked"}`,
    message: `${address}: ${action}: ${reason}.${guards}`,
    ...(where === undefined ? {} : placeOf(where, pathOf)),
  };
}

function rank({ disruption, blocked }: Change<unknown>): number {
  const isBlocked = blocked.length > 0;
  if (disruption === "data-loss") return isBlocked ? 1 : 0;
  return isBlocked ? 2 : 3;
}

function placeOf({ file, start, end }: SourceRange, pathOf: PathOf): Partial<Annotation> {
  const line = Math.max(1, start.line);
  const oneLine = end.line === start.line;
  return {
    file: pathOf(file),
    line,
    endLine: Math.max(line, end.line),
    // GitHub refuses columns if the place has several lines.
    ...(oneLine
      ? { column: Math.max(1, start.column), endColumn: Math.max(1, start.column, end.column - 1) }
      : {}),
  };
}

/** Annotations of each kind that GitHub shows of one step; it drops the others without a word. */
const shownOfEachKind = 10;

/** Workflow commands for the first of each kind, worst first, and a notice about the others: `more` names the place of all. */
export function annotationLines(annotations: readonly Annotation[], more: string): readonly string[] {
  const counts = new Map<Annotation["level"], number>();
  const shown = annotations.filter(({ level }) => {
    const count = (counts.get(level) ?? 0) + 1;
    counts.set(level, count);
    // The notice about the others counts as one of the notices.
    return count <= (level === "notice" ? shownOfEachKind - 1 : shownOfEachKind);
  });
  const left = annotations.length - shown.length;
  const message = `${amount(left, "annotation")} more: ${more}`;
  const notice = left === 0 ? [] : [{ level: "notice", title: "graphform", message } as const];
  return [...shown, ...notice].map(workflowCommand);
}

/** A warning for each resource that was changed outside, worst first, and for each that is not declared. */
export function driftAnnotations(report: DriftReport<unknown>, pathOf: PathOf): readonly Annotation[] {
  if (!hasDrift(report)) return [];
  const { resources, unmanaged = [] } = report;
  const changed = resources
    .filter((resource) => resource.class === "outside")
    .map(({ address, what, reason, fields, where }): Annotation => {
      const paths = fields.filter((field) => field.class === "outside").map(({ path }) => path);
      const which = paths.length === 0 ? "" : `: ${paths.join(", ")}`;
      const place = fields.find((field) => field.class === "outside")?.where ?? where;
      return {
        level: "warning",
        title: `graphform: drift, ${what}`,
        message: `${address}: ${reason}${which}`,
        ...(place === undefined ? {} : placeOf(place, pathOf)),
      };
    });
  const undeclared = unmanaged.map(
    ({ kind, id }): Annotation => ({
      level: "warning",
      title: "graphform: not declared",
      message: `${kind} ${id} is not declared`,
    }),
  );
  return [...changed, ...undeclared];
}

/** A remark that GitHub shows beside the changed lines of a pull request. */
export interface Annotation {
  readonly level: "error" | "warning" | "notice";
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

/** @module Turns problems of a manifest and dangerous changes of a plan into annotations. */
import type { Change, Plan } from "../../model/plan.ts";
import type { Problem, SourceRange } from "../../model/problem.ts";
import type { Annotation } from "./workflow-command.ts";

/** Converts the path of a manifest file to one relative to the root of the repository. */
export type PathOf = (file: string) => string;

/** One annotation for each problem, errors first. */
export function problemAnnotations(problems: readonly Problem[], pathOf: PathOf): readonly Annotation[] {
  const all = problems.map(
    ({ severity, code, message, hint, range }): Annotation => ({
      level: severity,
      title: `graphform: ${code}`,
      message: hint === undefined ? message : `${message} (hint: ${hint})`,
      ...placeOf(range, pathOf),
    }),
  );
  return [...all.filter(({ level }) => level === "error"), ...all.filter(({ level }) => level !== "error")];
}

/** An error for each change that loses data or is blocked: first what is lost, then what would be, then the rest. */
export function planAnnotations(plan: Plan<unknown>, pathOf: PathOf): readonly Annotation[] {
  return plan.changes
    .filter((change) => change.action !== "keep" && (losesData(change) || isBlocked(change)))
    .sort((a, b) => rank(a) - rank(b) || (a.address < b.address ? -1 : 1))
    .map((change) => changeAnnotation(change, pathOf));
}

function changeAnnotation(change: Change<unknown>, pathOf: PathOf): Annotation {
  const { address, action, reason, where, blocked } = change;
  const loss = losesData(change) ? ", loses data" : "";
  const guards = blocked.map(({ message, lift }) => ` Blocked: ${message} (way out: ${lift}).`).join("");
  return {
    level: "error",
    title: `graphform: ${action}${loss}${isBlocked(change) ? ", blocked" : ""}`,
    message: `${address}: ${action}: ${reason}.${guards}`,
    ...(where === undefined ? {} : placeOf(where, pathOf)),
  };
}

function losesData({ disruption }: Change<unknown>): boolean {
  return disruption === "data-loss";
}

function isBlocked({ blocked }: Change<unknown>): boolean {
  return blocked.length > 0;
}

/** Loss that will happen, then loss that is blocked, then the rest. */
function rank(change: Change<unknown>): number {
  if (!losesData(change)) return 2;
  return isBlocked(change) ? 1 : 0;
}

/** The place of an annotation, as GitHub takes it. */
export function placeOf({ file, start, end }: SourceRange, pathOf: PathOf): Partial<Annotation> {
  const line = Math.max(1, start.line);
  const oneLine = end.line === start.line;
  return {
    file: pathOf(file),
    line,
    endLine: Math.max(line, end.line),
    // GitHub refuses columns where the place has several lines.
    ...(oneLine
      ? { column: Math.max(1, start.column), endColumn: Math.max(1, start.column, end.column - 1) }
      : {}),
  };
}

/** @module Turns findings into the sorted problems that people see. */
import { defined } from "../../model/json.ts";
import type { Finding } from "../../model/kind.ts";
import type { Problem } from "../../model/problem.ts";
import type { Layer } from "../source.ts";
import { excerptsOf } from "./excerpt.ts";
import type { ShownAt } from "./plain-fields.ts";

/** Returns the findings of one severity: sorted by place, without duplicates, with what may be shown of their source lines. */
export function finishProblems(
  findings: readonly Finding[],
  severity: Problem["severity"],
  layers: readonly Layer[],
  shown: ShownAt,
): readonly Problem[] {
  const seen = new Set<string>();
  const problems: Problem[] = [];
  const excerptOf = excerptsOf(layers, shown);
  for (const finding of findings) {
    if (finding.severity !== severity) continue;
    const { range, code, message } = finding;
    const once = JSON.stringify([range.file, range.start.line, range.start.column, code, message]);
    if (seen.has(once)) continue;
    seen.add(once);
    const excerpt = excerptOf(range);
    problems.push({ ...finding, ...defined({ excerpt }) });
  }
  return problems.sort(byPlace);
}

function byPlace(a: Problem, b: Problem): number {
  if (a.range.file !== b.range.file) return a.range.file < b.range.file ? -1 : 1;
  const lines = a.range.start.line - b.range.start.line;
  return lines === 0 ? a.range.start.column - b.range.start.column : lines;
}

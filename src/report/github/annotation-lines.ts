/** @module Selects the annotations that GitHub Actions shows, and counts the others. */
import { amount } from "../amounts.ts";
import { type Annotation, type AnnotationLevel, workflowCommand } from "./workflow-command.ts";

/** Annotations of each kind that GitHub shows of one step; it drops the others without a word. */
const shownOfEachKind = 10;

/**
 * Workflow commands for the first 10 annotations of each kind, and one notice with the number of the others. `annotations` are
 * sorted worst first; `more` says where all of them are.
 */
export function annotationLines(annotations: readonly Annotation[], more: string): readonly string[] {
  const counts = new Map<AnnotationLevel, number>();
  const shown = annotations.filter(({ level }) => {
    const count = (counts.get(level) ?? 0) + 1;
    counts.set(level, count);
    // The notice about the others takes a place of its own kind.
    return count <= (level === "notice" ? shownOfEachKind - 1 : shownOfEachKind);
  });
  const left = annotations.length - shown.length;
  const notice: readonly Annotation[] =
    left === 0
      ? []
      : [{ level: "notice", title: "graphform", message: `${amount(left, "annotation")} more: ${more}` }];
  return [...shown, ...notice].map(workflowCommand);
}

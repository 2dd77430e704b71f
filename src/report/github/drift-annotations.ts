/** @module Turns drift that matters into annotations. */
import { type DriftReport, hasDrift } from "../../model/drift.ts";
import { type PathOf, placeOf } from "./annotations.ts";
import type { Annotation } from "./workflow-command.ts";

/** A warning for each resource that was changed outside, worst first, and for each that nobody declares. */
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

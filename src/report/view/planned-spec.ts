/** @module Reads the specs of a change for reports; nothing else in a view knows how they are stored. */
import type { Json } from "../../model/json.ts";
import type { Change } from "../../model/plan.ts";
import { fieldsOf } from "../../model/spec.ts";

/** The values before and after a change by dotted path. Secrets are sealed; lists and templates are one value. */
export function plannedSpec({ before, after }: Pick<Change, "before" | "after">): {
  readonly before: ReadonlyMap<string, Json>;
  readonly after: ReadonlyMap<string, Json>;
} {
  return { before: new Map(fieldsOf(before ?? {})), after: new Map(fieldsOf(after ?? {})) };
}

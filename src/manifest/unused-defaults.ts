/** @module Checks the defaults of sections without resources. */
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import { mayHoldExpression } from "./expression.ts";
import { type Explained, explainViolations } from "./problems/explain.ts";
import type { ResolveContext } from "./resolve-resource.ts";
import { resourceShape } from "./schema/resource-shape.ts";
import { mapOf, unresolved } from "./unresolved.ts";

/**
 * Returns the faults of defaults that no resource uses. Other defaults are checked with each resource. References are not
 * filled in here, and no key is required.
 */
export function unusedDefaultsFaults(manifest: JsonObject, context: ResolveContext): readonly Explained[] {
  const defaults = mapOf(manifest["defaults"]);
  const used = new Set([...context.inventory.blocks.values()].map(({ kind }) => kind.name));
  return context.kinds.all.flatMap(({ name, schema }) => {
    const written = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
    if (used.has(name) || !isObject(written)) return [];
    const known = withoutReferences(written);
    const violations = context.validators.resources[name]?.(known) ?? [];
    const own = violations.filter(({ keyword }) => keyword !== "required");
    return explainViolations(own, known, resourceShape(schema)).map((explained) => ({
      ...explained,
      path: ["defaults", name, ...explained.path],
    }));
  });
}

function withoutReferences(value: Json): Json {
  if (typeof value === "string") return mayHoldExpression(value) ? unresolved : value;
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutReferences(inner)]));
}

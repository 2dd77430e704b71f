import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import { type Explained, explainViolations } from "./explain.ts";
import { mayHoldExpression } from "./expression.ts";
import type { World } from "./resource.ts";
import { resourceShape } from "./resource-shape.ts";
import { mapOf, unresolved } from "./unresolved.ts";

/**
 * What is wrong with the defaults of sections that declare nothing. Those of others are checked with each resource
 * that they are laid under; here no reference is filled in, and nothing is missing.
 */
export function unusedDefaultsFaults(manifest: JsonObject, world: World): readonly Explained[] {
  const defaults = mapOf(manifest["defaults"]);
  const used = new Set([...world.inventory.blocks.values()].map(({ kind }) => kind.name));
  return world.kinds.flatMap(({ name, schema }) => {
    const written = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
    if (used.has(name) || !isObject(written)) return [];
    const known = withoutReferences(written);
    const violations = world.validators.resources[name]?.(known) ?? [];
    const own = violations.filter(({ keyword }) => keyword !== "required");
    return explainViolations(own, known, resourceShape(schema)).map((each) => ({
      ...each,
      path: ["defaults", name, ...each.path],
    }));
  });
}

function withoutReferences(value: Json): Json {
  if (typeof value === "string") return mayHoldExpression(value) ? unresolved : value;
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutReferences(inner)]));
}

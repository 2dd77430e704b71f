import { instanceSchema, tiers } from "../fields/instance.ts";
import type { Desired } from "../model/desired.ts";
import type { FieldSchema } from "../model/field-schema.ts";
import type { RuleContext } from "../model/kind.ts";
import { valueAt } from "../model/spec-paths.ts";
import type { Said } from "./rule-tools.ts";

/** One rule: what it has to say about an instance. */
export type Rule = (desired: Desired, context: RuleContext) => readonly Said[];

/** The settings inside `config`, row by row. */
export const configRows: readonly (readonly [string, FieldSchema])[] = Object.entries(
  instanceSchema.properties["config"]?.properties ?? {},
);
/** All rows of the table by path. */
export const rows: readonly (readonly [string, FieldSchema])[] = [
  ...Object.entries(instanceSchema.properties),
  ...configRows.map(([name, row]): readonly [string, FieldSchema] => [`config.${name}`, row]),
];
const rowAt = new Map(rows);

/** A field's text, where it is one. */
export function text(desired: Desired, path: string): string | undefined {
  const value = valueAt(desired.spec, path);
  return typeof value === "string" ? value : undefined;
}

/** The tier, where it is one of the specification's. */
export function tierOf(desired: Desired): string | undefined {
  const tier = text(desired, "tier");
  return tier !== undefined && tiers.includes(tier) ? tier : undefined;
}

/** Whether the tier offers a field (specification 2.2). */
export function isOffered(desired: Desired, path: string): boolean {
  const tier = tierOf(desired);
  return tier !== undefined && rowAt.get(path)?.["x-tiers"]?.includes(tier) !== false;
}

/** @module Reads typed values out of an instance's spec for its rules. */

import { instanceSchema, tiers } from "../fields/instance.ts";
import type { Desired } from "../model/desired.ts";
import type { FieldSchema } from "../model/field-schema.ts";
import type { RuleContext } from "../model/kind.ts";
import { partOf, type Spec } from "../model/spec.ts";
import type { Said } from "./rule-tools.ts";

/** One rule: what it has to say about an instance. */
export type Rule = (desired: Desired, context: RuleContext) => readonly Said[];

/** The settings inside `config`, row by row. */
export const configRows: readonly (readonly [string, FieldSchema])[] = Object.entries(
  instanceSchema.properties["config"]?.properties ?? {},
);

/** One row of the table, and where its field stands: in the spec itself or inside `config`. */
export interface Row {
  readonly path: string;
  readonly name: string;
  readonly row: FieldSchema;
}

const rows: readonly Row[] = [
  ...Object.entries(instanceSchema.properties).map(([name, row]) => ({
    path: name,
    name,
    row,
  })),
  ...configRows.map(([name, row]) => ({ path: `config.${name}`, name, row })),
];
const rowAt = new Map(rows.map(({ path, row }) => [path, row]));

/** The rows that not every tier or component has. */
export const limitedRows: readonly Row[] = rows.filter(
  ({ row }) => row["x-tiers"] !== undefined || row["x-components"] !== undefined,
);

/** The settings inside `config`. */
export function configOf({ spec }: Desired): Spec {
  return partOf(spec, "config");
}

/** A field's text, where it is one. */
export function text(desired: Desired, path: string): string | undefined {
  const value = desired.spec[path];
  return typeof value === "string" ? value : undefined;
}

/** The tier, where it is a known one. */
export function tierOf(desired: Desired): string | undefined {
  const tier = text(desired, "tier");
  return tier !== undefined && tiers.includes(tier) ? tier : undefined;
}

/** True where the tier offers a field. */
export function isOffered(desired: Desired, path: string): boolean {
  const tier = tierOf(desired);
  return tier !== undefined && rowAt.get(path)?.["x-tiers"]?.includes(tier) !== false;
}

/** @module Checks values against the rows of the instance field table. */
import { instanceSchema } from "../../fields/instance.ts";
import type { FieldSchema } from "../../model/field-schema.ts";
import type { Json } from "../../model/json.ts";

/** Rows of the field table by their API name. */
export type Rows = { readonly [wireName: string]: FieldSchema };

function rowsOf(location: "body" | "requestParams"): Rows {
  const top = Object.entries(instanceSchema.properties).filter(([, row]) => row["x-in"] === location);
  const config =
    location === "requestParams" ? Object.entries(instanceSchema.properties["config"]?.properties ?? {}) : [];
  return Object.fromEntries([...top, ...config].map(([name, row]) => [row["x-wire"] ?? name, row]));
}

/** Fields at the top level of a create's body. */
export const bodyRows: Rows = rowsOf("body");

export const paramRows: Rows = rowsOf("requestParams");

/** The problem with a value, as a phrase that follows the field's name; undefined for a valid value. */
export function wrongValue(row: FieldSchema, value: Json): string | undefined {
  if (row.type === "boolean") return typeof value === "boolean" ? undefined : "must be true or false";
  if (row.type === "integer" || row.type === "number") return wrongNumber(row, value);
  if (row.type === "string" && typeof value !== "string") return "must be a string";
  if (row.enum !== undefined && !row.enum.includes(value)) return `must be one of ${row.enum.join(", ")}`;
  if (typeof value !== "string") return undefined;
  if (value.length < (row.minLength ?? 0)) return "must not be empty";
  if (row.pattern !== undefined && !new RegExp(row.pattern, "u").test(value))
    return `must match ${row.pattern}`;
  return undefined;
}

function wrongNumber(row: FieldSchema, value: Json): string | undefined {
  if (typeof value !== "number") return "must be a number";
  if (row.type === "integer" && !Number.isInteger(value)) return "must be a whole number";
  if (row.enum !== undefined && !row.enum.includes(value)) return `must be ${row.enum.join(" or ")}`;
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = row;
  return value < minimum || value > maximum ? `must be between ${minimum} and ${maximum}` : undefined;
}

/** Maximum length of a user name or password in bytes: the database refuses to sign in longer ones. */
export const maxLogin: number = 16 * 1024;

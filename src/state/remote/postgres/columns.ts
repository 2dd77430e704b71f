/** @module Reads columns of rows, and refuses values that graphform does not write. */
import { GraphformError } from "../../../model/errors.ts";
import type { Row } from "./connections.ts";

/** A text, or a number that fits no number of JavaScript. */
export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw notOurs(column);
}

/** A number, however it is sent. */
export function numberOf(row: Row, column: string): number {
  const value = Number(row[column]);
  if (Number.isSafeInteger(value)) return value;
  throw notOurs(column);
}

/** A time as ISO 8601. */
export function timeOf(row: Row, column: string): string {
  const value = row[column];
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw notOurs(column);
}

function notOurs(column: string): GraphformError {
  return new GraphformError(
    "state-unsuitable",
    `the state in PostgreSQL: column ${column} has a value that graphform does not write`,
    { hint: "name another schema with state.schema; these tables belong to something else" },
  );
}

/** @module Defines the schema of the record in a lock file. */
import type { FieldSchema } from "../model/field-schema.ts";
import { text } from "./state-rows.ts";

const properties: { readonly [name: string]: FieldSchema } = {
  id: { type: "string", pattern: "^[0-9a-f]{16}$" },
  who: text,
  pid: { type: "integer", minimum: 1 },
  host: text,
  operation: text,
  created: text,
  heartbeat: text,
  expires: text,
  machine: text,
  started: { type: "string" },
};
/** The record in a lock file; a later version may add to it. */
export const lockSchema: FieldSchema = { type: "object", properties, required: Object.keys(properties) };

/** @module Defines the schema of a saved plan. */
import { disruptions, type FieldSchema } from "../model/field-schema.ts";
import { serviceSchema, text } from "./state-rows.ts";

const list: FieldSchema = { type: "array", items: { type: "object" } };
const texts: FieldSchema = { type: "array", items: text };

/** A saved plan without its checksum, as far as its reader depends on its form. */
export const savedPlanSchema: FieldSchema = {
  type: "object",
  required: ["plan", "manifest", "variables", "withheld"],
  properties: {
    plan: {
      type: "object",
      required: [
        "version",
        "name",
        "lineage",
        "serial",
        "changes",
        "steps",
        "outputs",
        "census",
        "forecast",
        "fingerprint",
      ],
      properties: {
        version: { const: 1 },
        name: text,
        lineage: {},
        serial: { type: "integer" },
        changes: list,
        steps: list,
        outputs: {},
        census: {},
        forecast: {},
        fingerprint: text,
      },
    },
    destroying: { type: "boolean" },
    service: serviceSchema,
    manifest: {
      type: "array",
      items: { type: "object", required: ["path", "sha256"], properties: { path: text, sha256: text } },
    },
    variables: { type: "object" },
    withheld: texts,
    commit: {
      type: "object",
      required: ["repository", "ref", "commit"],
      properties: { repository: text, ref: text, commit: text },
    },
    choices: {
      type: "object",
      required: ["target", "exclude", "replace", "allowDestroy"],
      properties: {
        ...{ target: texts, exclude: texts, replace: texts, allowDestroy: texts },
        ...{ maxDisruption: { enum: [...disruptions] }, probe: { type: "boolean" } },
      },
    },
  },
};

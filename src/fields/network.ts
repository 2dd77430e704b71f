/** @module Holds the field table of custom networks. */
import type { KindSchema } from "../model/field-schema.ts";
import { regions, textRow } from "./instance.ts";

/** The name can be changed; the rest is fixed at creation. */
export const networkSchema: KindSchema = {
  type: "object",
  additionalProperties: false,
  required: ["cloudProvider", "region"],
  properties: {
    id: textRow("Id of an existing network; needed if the profile has no create operation for networks.", {
      "x-create-only": true,
      "x-place": true,
    }),
    name: textRow("Friendly name.", { "x-wire": "name", "x-identity": true }),
    cloudProvider: {
      type: "string",
      enum: ["aws", "gcp", "azure", "oci"],
      description: "Cloud provider, fixed at creation.",
      "x-create-only": true,
      "x-wire": "cloudProviderName",
    },
    region: textRow("Region, fixed at creation.", {
      examples: regions,
      "x-create-only": true,
      "x-wire": "cloudProviderRegion",
    }),
    cidr: {
      type: "string",
      pattern:
        "^(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])/(?:3[0-2]|[12]?[0-9])$",
      default: "10.0.0.0/16",
      description: "Address block, fixed at creation.",
      "x-create-only": true,
      "x-wire": "cidr",
    },
  },
};

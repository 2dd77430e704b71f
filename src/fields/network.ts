/** @module Holds the field table of custom networks. */
import type { KindSchema } from "../model/field-schema.ts";
import { fixed, providers, regions, textRow } from "./instance.ts";

/** The name can be changed; the rest is fixed at creation. */
export const networkSchema: KindSchema = {
  type: "object",
  additionalProperties: false,
  required: ["cloudProvider", "region"],
  properties: {
    id: fixed("Id of an existing network; needed if the profile has no create operation for networks.", {
      "x-place": true,
    }),
    name: textRow("Friendly name.", { "x-wire": "name", "x-identity": true }),
    cloudProvider: fixed("Cloud provider, fixed at creation.", { "x-wire": "cloudProviderName" }, providers),
    region: fixed("Region, fixed at creation.", { examples: regions, "x-wire": "cloudProviderRegion" }),
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

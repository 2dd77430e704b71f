/** @module Holds the field table of instances. */
import type { FieldSchema, KindSchema } from "../model/field-schema.ts";
import { instanceConfig } from "./instance-config.ts";

export const tiers: readonly string[] = ["enterprise-byoa", "enterprise", "pro", "startup", "free"];

/** Regions that editors suggest; a service may have others. */
export const regions: readonly string[] = [
  ...["us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1", "ap-south-1"],
  ...["us-central1", "us-east1", "europe-west1", "asia-south1"],
  ...["eastus2", "westus3", "westeurope", "us-ashburn-1", "eu-frankfurt-1"],
];

/** A row of a text; `values` bounds it, by default to texts that are not empty. */
export function textRow(
  description: string,
  more: FieldSchema = {},
  values: FieldSchema = { minLength: 1 },
): FieldSchema {
  return { type: "string", ...values, description, ...more };
}

/** A text that is fixed at creation; the data of a database with another one is copied. */
function byCopy(description: string, more: FieldSchema, values?: FieldSchema): FieldSchema {
  const reason = "a snapshot is restored in the tier, at the provider and in the network where it was taken";
  return textRow(
    description,
    { "x-create-only": true, "x-carried": { by: ["copy"], reason }, ...more },
    values,
  );
}

export const instanceSchema: KindSchema = {
  type: "object",
  required: ["tier", "component", "cloudProvider", "region"],
  additionalProperties: false,
  properties: {
    tier: byCopy("Product tier.", { "x-place": true }, { enum: tiers }),
    component: byCopy("Component of the tier: standalone, single-zone, multi-zone or free.", {
      "x-place": true,
    }),
    cloudProvider: byCopy(
      "Cloud provider to provision on.",
      { "x-in": "body", "x-wire": "cloud_provider" },
      { enum: ["aws", "gcp", "azure", "oci"] },
    ),
    region: {
      type: "string",
      minLength: 1,
      description: "Region to provision in.",
      examples: regions,
      "x-create-only": true,
      "x-carried": {
        by: ["copy", "snapshot"],
        reason: "a snapshot that is copied to another region and restored keeps everything else",
      },
      "x-in": "body",
      "x-wire": "region",
    },
    networkType: {
      type: "string",
      enum: ["PUBLIC", "INTERNAL"],
      description: "Public or internal endpoint, where the profile has it.",
      "x-in": "body",
      "x-wire": "network_type",
      "x-disruption": "restart",
    },
    network: byCopy("A name under networks.", {
      "x-tiers": ["enterprise"],
      "x-in": "body",
      "x-wire": "custom_network_id",
      "x-reference": { section: "networks", output: "id" },
    }),
    cloudAccount: byCopy("A name under cloudAccounts.", {
      "x-tiers": ["enterprise-byoa"],
      "x-in": "requestParams",
      "x-wire": "cloud_provider_account_config_id",
      "x-reference": { section: "cloudAccounts", output: "configId" },
    }),
    nativeNetworkId: byCopy("An existing network in the customer's account to attach to.", {
      "x-tiers": ["enterprise-byoa"],
      "x-in": "requestParams",
      "x-wire": "cloud_provider_native_network_id",
    }),
    deletionProtection: {
      type: "boolean",
      description: "The service itself refuses to delete the instance, where the profile has it.",
      "x-in": "metadata",
      "x-after-create": true,
      "x-keeps": true,
    },
    customTags: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Tags at the service, name to value, where the profile has them; others are left alone.",
      examples: [{ team: "shop" }],
      "x-in": "metadata",
    },
    power: {
      type: "string",
      enum: ["running", "stopped"],
      default: "running",
      description: "Whether the database runs.",
      "x-disruption": "downtime",
      "x-operations": {
        "stopped>running": "start",
        "running>stopped": "stop",
        "failed>running": "restart",
      },
    },
    config: {
      type: "object",
      additionalProperties: false,
      properties: instanceConfig,
      description: "The service's own settings, spelled as it spells them.",
    },
  },
};

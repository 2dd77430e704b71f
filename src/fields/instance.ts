/** @module Holds the field table of instances. */
import type { Carried, FieldSchema, KindSchema } from "../model/field-schema.ts";
import { tiers } from "../model/service.ts";

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

/** A text that is fixed at creation. */
export function fixed(description: string, more: FieldSchema = {}, values?: FieldSchema): FieldSchema {
  return textRow(description, { "x-create-only": true, ...more }, values);
}

export const providers: FieldSchema = { enum: ["aws", "gcp", "azure", "oci"] };

/** A text that is fixed at creation; the data of a database with another one is copied. */
function byCopy(description: string, more: FieldSchema, values?: FieldSchema): FieldSchema {
  const reason = "a snapshot is restored in the tier, at the provider and in the network where it was taken";
  return fixed(description, { "x-carried": { by: ["copy"], reason }, ...more }, values);
}

const enterprise = ["enterprise-byoa", "enterprise"];
const dedicated = ["enterprise-byoa", "enterprise", "pro"];
const paid = ["enterprise-byoa", "enterprise", "pro", "startup"];

/** The data of a database with another value of a setting is copied. */
const otherSettings: Carried = {
  by: ["copy"],
  reason: "a restored snapshot has the settings with which it was taken",
};

/** Makes a row that is fixed after deployment and, unless it says more, absent on the free tier. */
function tuning(row: FieldSchema): FieldSchema {
  return { "x-tiers": paid, ...row, "x-create-only": true, "x-carried": otherSettings };
}

/** A row of a parameter of the graph module. */
function parameter(
  [minimum, maximum, preset]: readonly [minimum: number, maximum: number, preset: number],
  description: string,
  probe: NonNullable<FieldSchema["x-probe"]>,
): FieldSchema {
  return tuning({ type: "integer", minimum, maximum, default: preset, description, "x-probe": probe });
}

const instanceConfig: { readonly [name: string]: FieldSchema } = {
  name: {
    type: "string",
    // The specification's own words, as those of `graphdbUser`.
    default: "the service Instance",
    description: "Display name of the instance.",
    "x-identity": true,
  },
  description: { type: "string", default: "Description", description: "Free text about the instance." },
  nodeInstanceType: textRow("Compute instance type of each node; the Pro tier restricts the list.", {
    "x-tiers": dedicated,
    "x-disruption": "restart",
  }),
  numReplicas: tuning({
    type: "integer",
    enum: [2],
    default: 2,
    description: "Number of nodes of a zoned instance.",
    "x-tiers": dedicated,
    "x-components": ["single-zone", "multi-zone"],
    "x-probe": { info: "connected_slaves", reading: "nodes" },
  }),
  maxMemory: {
    type: "string",
    pattern: "^[1-9][0-9]{0,11}(\\.[0-9]{1,3})?\\s?([KMGT]i?B?|B)?$",
    default: "6GB",
    examples: ["6GB"],
    description: "Memory ceiling of the database; at most the memory of the instance type.",
    "x-tiers": enterprise,
    "x-disruption": "restart",
    "x-compare": "size",
    "x-probe": { info: "maxmemory", reading: "size" },
  },
  memoryRequestsAndLimits: tuning({
    type: "string",
    enum: ["1200M", "2200M"],
    default: "1GB",
    description: "Memory of a Startup instance: 1200M (1 GB) or 2200M (2 GB).",
    "x-tiers": ["startup"],
    "x-compare": "memory-label",
    "x-probe": { info: "maxmemory", reading: "memory-label" },
  }),
  graphdbUser: {
    type: "string",
    pattern: "^[A-Za-z0-9_]+$",
    default: "the service",
    description: "Name of the database's first user.",
    "x-create-only": true,
    "x-carried": {
      by: ["copy"],
      reason: "keys belong to no user; the new first user has the password of the manifest",
    },
  },
  graphdbPassword: textRow("Password of the first user. Changing it restarts the instance.", {
    "x-secret": true,
    "x-disruption": "restart",
    "x-probe": { connection: "login" },
  }),
  enableTLS: tuning({
    type: "boolean",
    default: false,
    description: "Serve the database over TLS.",
    "x-probe": { connection: "tls" },
  }),
  enableEnterpriseModule: tuning({
    type: "boolean",
    default: false,
    description: "Load the enterprise module; the local platform has none, and records the value alone.",
    "x-tiers": enterprise,
  }),
  AOFPersistenceConfig: tuning({
    type: "string",
    enum: ["everysec", "always"],
    default: "everysec",
    description: "How often the append-only file is flushed.",
    "x-probe": { info: "aof_enabled", reading: "switch" },
  }),
  RDBPersistenceConfig: tuning({
    type: "string",
    enum: ["low", "medium", "high"],
    default: "low",
    description: "How often a snapshot file is written.",
  }),
  graphDBCacheSize: parameter([1, 256, 25], "Cached query plans per graph.", { parameter: "CACHE_SIZE" }),
  graphDBMaxQueuedQueries: parameter([1, 512, 50], "Queries that may wait for a thread.", {
    parameter: "MAX_QUEUED_QUERIES",
    settable: true,
  }),
  graphDBNodeCreationBuffer: parameter(
    [256, 32768, 16384],
    "Room kept for new nodes; the engine rounds up to a power of two.",
    { parameter: "NODE_CREATION_BUFFER", reading: "power-of-two" },
  ),
  graphDBQueryMemCapacity: parameter(
    [5242880, 21474836480, 21474836480],
    "Memory one query may take, in bytes.",
    { parameter: "QUERY_MEM_CAPACITY", settable: true },
  ),
  graphDBResultSetSize: parameter(
    [0, 1000000, 10000],
    "Rows a query may return; 0 means unlimited in the specification, and on the local platform.",
    { parameter: "RESULTSET_SIZE", settable: true, reading: "rows" },
  ),
  graphDBTimeoutDefault: parameter([0, 45000, 0], "Default time limit of a query in ms; 0 disables it.", {
    parameter: "TIMEOUT_DEFAULT",
    settable: true,
    atMost: "config.graphDBTimeoutMax",
  }),
  graphDBTimeoutMax: parameter(
    [0, 45000, 0],
    "Longest time limit a query may ask for, in ms; 0 disables the limit.",
    { parameter: "TIMEOUT_MAX", settable: true },
  ),
};

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
      providers,
    ),
    region: fixed("Region to provision in.", {
      examples: regions,
      "x-carried": {
        by: ["copy", "snapshot"],
        reason: "a snapshot that is copied to another region and restored keeps everything else",
      },
      "x-in": "body",
      "x-wire": "region",
    }),
    networkType: {
      type: "string",
      enum: ["PUBLIC", "INTERNAL"],
      description: "Public or internal endpoint, if the profile has it.",
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
      description: "The service itself refuses to delete the instance, if the profile has it.",
      "x-in": "metadata",
      "x-after-create": true,
      "x-keeps": true,
    },
    customTags: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Tags at the service, name to value, if the profile has them; others are left alone.",
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

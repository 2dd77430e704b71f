/** @module Holds the JSON Schema of profile files. */
import type { JsonObject } from "../../model/json.ts";
import { durationPattern } from "../../model/quantity.ts";
import { tiers } from "../../model/service.ts";
import { operations as known } from "../operations.ts";

const text: JsonObject = { type: "string", minLength: 1 };
const texts: JsonObject = { type: "object", additionalProperties: text };
const paths: JsonObject = { anyOf: [text, { type: "array", items: text, minItems: 1 }] };
const duration: JsonObject = { type: "string", pattern: durationPattern };
const durations: JsonObject = { type: "object", additionalProperties: duration };
const url: JsonObject = { type: "string", pattern: "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$" };
const count: JsonObject = { type: "integer", minimum: 1 };
const list: JsonObject = { type: "array", items: text };
const request: JsonObject = {
  type: "string",
  pattern: "^(GET|POST|PUT|PATCH|DELETE) (<[A-Za-z]+>|/)[^\\s?#]*$",
};

/** A map of these keys alone; each is required unless `required` names fewer. */
function closed(properties: JsonObject, required: readonly string[] = Object.keys(properties)): JsonObject {
  return { type: "object", additionalProperties: false, required, properties };
}

function every(names: readonly string[], value: JsonObject): JsonObject {
  return Object.fromEntries(names.map((name) => [name, value]));
}

function keyed(value: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: "object", additionalProperties: value, ...more };
}

const endpointRef: JsonObject = { $ref: "#/definitions/endpoint" };

const endpoint: JsonObject = {
  anyOf: [
    request,
    closed(
      {
        request,
        host: { enum: ["platform", "users"] },
        query: { type: "object", additionalProperties: { type: "string" } },
        body: texts,
        answer: keyed(paths),
      },
      ["request"],
    ),
  ],
};

const session: JsonObject = closed({
  send: { enum: ["cookie", "bearer"] },
  tokenCookie: text,
  refreshCookie: text,
  tokenAnswer: list,
  refreshAnswer: list,
  tokenLifetime: duration,
  refreshLifetime: duration,
  missingToken: text,
});

const tierRef: JsonObject = { $ref: "#/definitions/tier" };

const tier: JsonObject = closed({
  serviceModelKey: text,
  productTierKey: text,
  components: keyed(text, { minProperties: 1 }),
  instanceTypes: { enum: ["listed", "any"] },
});

const timing: JsonObject = closed(
  {
    settle: duration,
    listLag: duration,
    clock: duration,
    endpoint: duration,
    poll: closed({ first: duration, longest: duration }),
    expect: durations,
    timeout: durations,
  },
  ["settle", "listLag", "endpoint", "poll", "expect", "timeout"],
);

const limits: JsonObject = {
  ...closed({ inFlight: count, perSecond: { type: "number", exclusiveMinimum: 0 }, burst: count }, []),
  dependencies: { burst: ["perSecond"] },
};

const statuses: JsonObject = keyed({
  enum: ["ready", "stopped", "pending", "deleting", "failed", "gone", "waiting-for-person"],
});

const topology: JsonObject = closed(
  {
    host: paths,
    port: paths,
    networkingType: paths,
    networkingTypes: keyed({ ...list, minItems: 1 }),
    never: texts,
    first: text,
  },
  ["host", "port", "networkingType", "networkingTypes", "never"],
);

const operations: JsonObject = closed(
  every([...known.keys()], endpointRef),
  ["create", "list", "describe", "update", "delete"].map((verb) => `instance.${verb}`),
);

const positive: JsonObject = { type: "number", exclusiveMinimum: 0 };
const instanceType: JsonObject = closed({ cpus: positive, memoryGB: positive });

export const profileSchema: JsonObject = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "graphform service profile",
  definitions: { endpoint, tier },
  ...closed(
    {
      name: { type: "string", pattern: "^[a-z][a-z0-9-]{0,62}$" },
      extends: text,
      platformUrl: url,
      usersUrl: url,
      keys: texts,
      prefixes: keyed(
        { type: "string", pattern: "^/[^\\s?#]*$" },
        { propertyNames: { pattern: "^[A-Za-z]+$" } },
      ),
      query: { type: "object", additionalProperties: { type: "string" } },
      session,
      signIn: endpointRef,
      refresh: endpointRef,
      operations,
      tiers: {
        ...closed(every(tiers, tierRef), []),
        minProperties: 1,
      },
      subscriptions: { enum: ["one", "per-tier"] },
      fields: texts,
      statuses,
      accounts: closed({ statuses, repeatProvider: list, booleans: list }, []),
      busy: text,
      omitsEmptyLists: { type: "boolean" },
      lacks: list,
      backupBy: { type: "array", items: { enum: ["instance.backup", "snapshot.create"] }, minItems: 1 },
      updateNeeds: { enum: ["ready", "stopped"] },
      networkTypes: list,
      topology,
      timing,
      limits,
      listed: { enum: ["binding", "advisory"] },
      instanceTypes: keyed(keyed(instanceType)),
      users: closed({ usernameMin: count, passwordMin: count, commands: list }),
    },
    [
      ...["name", "keys", "session", "signIn", "operations", "tiers"],
      ...["statuses", "busy", "timing", "instanceTypes", "users"],
    ],
  ),
};

/** @module Defines the schemas of the events in a log. */
import type { FieldSchema } from "../model/field-schema.ts";
import type { StateEvent } from "../model/state-event.ts";
import {
  bound,
  converging,
  intent,
  manifestIdentity,
  ms,
  outputs,
  record,
  round,
  serviceSchema,
  text,
  texts,
  time,
} from "./state-rows.ts";

const created = { address: text, id: text, createdAt: time, converging, unconfirmed: texts };

/** The schema of each event. */
export const eventSchemas: { readonly [type in StateEvent["type"]]: FieldSchema } = {
  "service-recorded": event({ service: serviceSchema, manifest: manifestIdentity }, ["manifest"]),
  "plan-applied": event(
    { fingerprint: text, shownCreatedAt: { type: "object", additionalProperties: text } },
    ["shownCreatedAt"],
  ),
  "create-announced": event({ address: text, intent, listed: round }, ["listed"]),
  "create-refused": event({ address: text, at: time, sentBefore: time }, ["at", "sentBefore"]),
  "create-acknowledged": event(created, ["unconfirmed"]),
  "creates-resolved": event({
    found: { type: "array", items: record(created, ["unconfirmed"]) },
    absent: texts,
  }),
  "create-abandoned": event({ address: text }),
  bound: event({ address: text, bound }),
  // Each an address and what it is bound to; the document is checked once they are in it.
  "bound-together": event({ bindings: { type: "array", items: { type: "array" } } }),
  "update-announced": event({ address: text, paths: texts, at: time }),
  "operation-accepted": event({ address: text, converging }),
  "operation-settled": event(
    { address: text, record: { type: "object" }, at: time, shownCreatedAt: text, unmoved: texts, took: ms },
    ["record", "at", "shownCreatedAt", "unmoved", "took"],
  ),
  healed: event({ address: text, paths: texts, at: time }),
  "operation-failed": event({ address: text }),
  released: event({ address: text, took: ms }, ["took"]),
  "released-together": event({ addresses: texts }),
  moved: event(
    { from: text, to: text, renamed: { type: "object", additionalProperties: { type: "object" } } },
    ["renamed"],
  ),
  "outputs-recorded": event({ outputs }),
};

function event(
  properties: { readonly [name: string]: FieldSchema },
  optional: readonly string[] = [],
): FieldSchema {
  return record({ type: text, ...properties }, optional);
}

/** @module Checks the events of a log against their schemas. */
import type { FieldSchema } from "../model/field-schema.ts";
import { isObject } from "../model/json.ts";
import { own } from "../model/own.ts";
import type { StateEvent } from "../model/state-event.ts";
import { firstViolation } from "./conform.ts";
import {
  bound,
  converging,
  intent,
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
const events: { readonly [type in StateEvent["type"]]: FieldSchema } = {
  "service-recorded": event({ service: serviceSchema }),
  "plan-applied": event({ fingerprint: text }),
  "create-announced": event({ address: text, intent, listed: round }, ["listed"]),
  "create-refused": event({ address: text }),
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
  "operation-settled": event({ address: text, record: { type: "object" }, at: time, unmoved: texts }, [
    "record",
    "at",
    "unmoved",
  ]),
  "operation-failed": event({ address: text }),
  released: event({ address: text }),
  "released-together": event({ addresses: texts }),
  moved: event(
    { from: text, to: text, renamed: { type: "object", additionalProperties: { type: "object" } } },
    ["renamed"],
  ),
  "outputs-recorded": event({ outputs }),
};

/** True for an event as this version writes it. */
export function isStateEvent(value: unknown): value is StateEvent {
  const type = isObject(value) ? value["type"] : undefined;
  const row = typeof type === "string" ? own<FieldSchema>(events, type) : undefined;
  return row !== undefined && firstViolation(row, value) === undefined;
}

function event(
  properties: { readonly [name: string]: FieldSchema },
  optional: readonly string[] = [],
): FieldSchema {
  return record({ type: text, ...properties }, optional);
}

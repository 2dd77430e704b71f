/** @module Checks the events of a log against their schemas. */
import { isObject } from "../model/json.ts";
import { own } from "../model/own.ts";
import type { StateEvent } from "../model/state-event.ts";
import type { Conforms } from "./compiled-schema.ts";
import { validators } from "./validators.generated.js";

/** True for an event as this version writes it. */
export function isStateEvent(value: unknown): value is StateEvent {
  const type = isObject(value) ? value["type"] : undefined;
  return typeof type === "string" && own<Conforms>(validators.events, type)?.(value) === true;
}

/** @module Formats the state as JSON. */
import type { Json, JsonObject } from "../model/json.ts";
import type { Bound } from "../model/state.ts";
import { outputsJson } from "./outputs-json.ts";
import type { ShownState } from "./shown.ts";
import type { ShownValue } from "./shown-value.ts";
import type { KindNames } from "./words.ts";
import { typeOf } from "./words.ts";

/** The document of `show --json`. A state that was never written has neither lineage nor time. */
export function stateJson(state: ShownState, names: KindNames): JsonObject {
  const resources = Object.entries(state.resources).map(([address, bound]) =>
    boundJson(address, bound, names),
  );
  const pending = Object.entries(state.pending).map(([address, create]) => ({ address, ...create }));
  const { name, lineage, serial, savedAt, service, manifest } = state;
  const isWritten = serial > 0;
  return {
    name,
    lineage: isWritten ? lineage : null,
    serial,
    savedAt: isWritten ? savedAt : null,
    ...(service === undefined ? {} : { service: { ...service } }),
    ...(manifest === undefined ? {} : { manifest: { ...manifest } }),
    resources,
    pending,
    outputs: outputsJson(state.outputs),
  };
}

function boundJson(address: string, bound: Bound<ShownValue>, names: KindNames): JsonObject {
  const { kind, id, place, protect, onDelete, refs, createdAt } = bound;
  const values = Object.entries(bound.recorded).map(([path, { json = null }]): [string, Json] => [
    path,
    json,
  ]);
  const converging = bound.converging === undefined ? {} : { converging: bound.converging.operation };
  return {
    address,
    type: typeOf(kind, names),
    id,
    place,
    values: Object.fromEntries(values),
    protect,
    onDelete,
    refs,
    createdAt,
    ...converging,
  };
}

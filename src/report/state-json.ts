/** @module Formats the state as JSON. */
import type { Json, JsonObject } from "../model/json.ts";
import type { Bound, StateDocument } from "../model/state.ts";
import type { KindNames } from "./kind-words.ts";
import { isSecretPath, typeOf } from "./kind-words.ts";
import { masked } from "./masked.ts";
import { outputsJson } from "./outputs-json.ts";

/**
 * The document of `show --json`, without key and fingerprints. A state that was never written has neither lineage nor time.
 */
export function stateJson(state: StateDocument, names: KindNames): JsonObject {
  const resources = Object.entries(state.resources).map(([address, bound]) =>
    boundJson(address, bound, names),
  );
  const pending = Object.entries(state.intents).map(([address, { round, startedAt }]) => ({
    address,
    kind: state.rounds[round]?.kind ?? "",
    startedAt,
  }));
  const { name, lineage, serial, savedAt, service } = state;
  const isWritten = serial > 0;
  return {
    name,
    lineage: isWritten ? lineage : null,
    serial,
    savedAt: isWritten ? savedAt : null,
    ...(service === undefined ? {} : { service: { ...service } }),
    resources,
    pending,
    outputs: outputsJson(state.outputs),
  };
}

function boundJson(address: string, bound: Bound, names: KindNames): JsonObject {
  const { kind, id, place, protect, onDelete, refs, createdAt } = bound;
  const values = Object.entries(bound.recorded).map(([path, value]): [string, Json] => [
    path,
    masked(value, (at) => isSecretPath(kind, at, names), path).shown ?? null,
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

/** @module Reads states that an earlier graphform wrote. */
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";

/** Writes a document of version 1 as one of version 2: each open create becomes a round of its own. */
export function upgradeState(document: JsonObject): JsonObject {
  const { burnt, intents, ...rest } = document;
  const open = isObject(intents) ? Object.entries(intents) : [];
  return {
    ...rest,
    version: 2,
    appliedPlans: burnt ?? [],
    intents: Object.fromEntries(open.map(([address, intent]) => [address, withRound(address, intent)])),
    rounds: Object.fromEntries(open.map(([address, intent]) => [address, roundOf(intent)])),
  };
}

function withRound(address: string, intent: Json): Json {
  if (!isObject(intent)) return intent;
  const { kind: _, place: __, classKey: ___, before: ____, ...rest } = intent;
  return { ...rest, round: address };
}

function roundOf(intent: Json): Json {
  if (!isObject(intent)) return intent;
  const { kind, place, classKey, before } = intent;
  return { kind: kind ?? "", place: place ?? {}, classKey: classKey ?? "", before: before ?? [] };
}

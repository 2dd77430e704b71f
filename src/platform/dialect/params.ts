/** @module Translates request bodies and parameters between a dialect and the default profile. */
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import { ServiceError } from "../model/service-error.ts";
import type { Dialect } from "./dialect.ts";

/** The body of an update in default names. Refused (400): default names that the dialect spells otherwise, fields of no plan. */
export function ownBody({ params: words }: Pick<Dialect, "params">, body: Json): Json {
  const given = isObject(body) ? body["requestParams"] : undefined;
  if (!isObject(body) || !isObject(given)) return body;
  const ownNames = new Map(Object.entries(words.fields).map(([own, wire]) => [wire, own]));
  const unknown = Object.keys(given).filter(
    (key) => (Object.hasOwn(words.fields, key) && words.fields[key] !== key) || words.absent.includes(key),
  );
  if (unknown.length > 0)
    throw new ServiceError(400, unknown.map((key) => `requestParams.${key} is not known`).join("; "));
  const params = Object.entries(given)
    .filter(([key]) => !words.ignored.includes(key))
    .map(([key, value]): [string, Json] => [ownNames.get(key) ?? key, value]);
  return { ...body, requestParams: Object.fromEntries(params) };
}

/** The body of a create in default names, with the plan's default values; refused (400) if a required field is missing. */
export function ownCreate(dialect: Pick<Dialect, "params">, body: Json, tier: string): Json {
  const own = ownBody(dialect, body);
  if (!isObject(own)) return own;
  const { defaults, required, fields } = dialect.params;
  const given = own["requestParams"] ?? {};
  if (!isObject(given)) return own;
  const missing = Object.entries(required).filter(
    ([name, tiers]) => tiers.includes(tier) && !Object.hasOwn(given, name),
  );
  if (missing.length > 0)
    throw new ServiceError(400, missing.map(([name]) => `${fields[name] ?? name} is required`).join("; "));
  return { ...own, requestParams: { ...defaults, ...given } };
}

export function dialectParams({ params: { fields } }: Pick<Dialect, "params">, own: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(own).map(([key, value]): [string, Json] => [fields[key] ?? key, value]),
  );
}

/** Runs a check of a body in default names; field names in the message of its ServiceError are translated to the dialect's. */
export function checkInDialect<T>({ params: { fields } }: Pick<Dialect, "params">, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const words = error.message.replaceAll(/[A-Za-z]+/g, (word) =>
      Object.hasOwn(fields, word) ? (fields[word] ?? word) : word,
    );
    throw new ServiceError(error.status, words, error.retryAfter);
  }
}

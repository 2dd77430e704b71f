import { ServiceError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Endpoint } from "../model/profile.ts";
import type { Answer } from "../model/service.ts";

/** What our names promise, whatever the service calls them. All other names are text. */
const shapes: { readonly [name: string]: (value: Json) => boolean } = {
  id: (value) => typeof value === "string" || typeof value === "number",
  ids: (value) => Array.isArray(value) && value.every((id: Json) => typeof id === "string"),
  items: (value) => Array.isArray(value) && value.every(isObject),
  resultParams: isObject,
  port: (value) => Number.isInteger(Number(value)) && Number(value) > 0 && Number(value) < 65_536,
  progress: (value) => !Number.isNaN(Number(value)),
  encrypted: (value) => typeof value === "boolean" || isText(value),
};

/** Without these an answer says nothing. */
const needed: { readonly [operation: string]: readonly string[] } = {
  "instance.create": ["id"],
  "instance.describe": ["status"],
  "account.create": ["id"],
  "account.get": ["status"],
  "network.create": ["id"],
  "snapshot.restore": ["id"],
};

/**
 * An accepted request's answer: its body, and the values that the profile names. Throws `shape` where it is not JSON, or
 * where a value is missing or not what its name promises; a write may have worked all the same.
 */
export function readAnswer(operation: string, endpoint: Endpoint, text: string): Answer {
  const fail = (what: string): ServiceError =>
    new ServiceError("shape", operation, `${operation}: the answer ${what}`, {
      mayHaveWorked: endpoint.method !== "GET",
      hint: "check the address of the service, and the profile",
    });
  const says = Object.keys(endpoint.answer).length > 0;
  const body = parsed(text) ?? (says ? undefined : null);
  if (body === undefined) throw fail("is not JSON");
  if (says && endpoint.method === "GET" && !isObject(body) && !Array.isArray(body)) throw fail("is no object");
  const values = answerValues(endpoint.answer, body);
  for (const [name, value] of Object.entries(values)) {
    const isRight = Object.hasOwn(shapes, name) ? shapes[name] : isText;
    if (isRight?.(value) === false) throw fail(`has a ${nameOf(endpoint, name)} of the wrong kind`);
  }
  const lists = ["ids", "items"].filter((name) => endpoint.answer[name] !== undefined);
  const missing = [...lists, ...(needed[operation] ?? [])].find((name) => values[name] === undefined);
  if (missing !== undefined) throw fail(`has no ${nameOf(endpoint, missing)}`);
  return { body, values };
}

/**
 * The values that an endpoint's `answer` names: for each the first of its paths that holds something. Names like
 * `items.id` are read from each of the items.
 */
export function answerValues(wanted: Endpoint["answer"], body: Json): { readonly [name: string]: Json } {
  const values = new Map<string, Json>();
  const inItems = new Map<string, readonly string[]>();
  for (const [name, paths] of Object.entries(wanted)) {
    if (name.startsWith("items.")) inItems.set(name.slice("items.".length), paths);
    else {
      const found = firstOf(body, paths);
      if (found !== undefined) values.set(name, found);
    }
  }
  const items = values.get("items");
  if (inItems.size > 0 && Array.isArray(items)) values.set("items", items.map((item: Json) => renamed(item, inItems)));
  return Object.fromEntries(values);
}

function renamed(item: Json, names: ReadonlyMap<string, readonly string[]>): Json {
  if (!isObject(item)) return item;
  const found = [...names].flatMap(([name, paths]): [string, Json][] => {
    const value = firstOf(item, paths);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries([...Object.entries(item), ...found]);
}

function firstOf(body: Json, paths: readonly string[]): Json | undefined {
  for (const path of paths) {
    const value = valueAt(body, path.split("."));
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Follows a dotted path; `*` tries every entry in order. Null, empty text and empty objects hold nothing; an empty list does. */
function valueAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return isNothing(value) ? undefined : value;
  if (Array.isArray(value)) {
    return step === "*" ? value.map((each: Json) => valueAt(each, rest)).find(isFound) : valueAt(value[Number(step)], rest);
  }
  if (!isObject(value)) return undefined;
  if (step === "*") return Object.values(value).map((each) => valueAt(each, rest)).find(isFound);
  return Object.hasOwn(value, step) ? valueAt(value[step], rest) : undefined;
}

function isFound(value: Json | undefined): boolean {
  return value !== undefined;
}

function isNothing(value: Json | undefined): boolean {
  return value === undefined || value === null || value === "" || (isObject(value) && Object.keys(value).length === 0);
}

function isText(value: Json): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Nothing at all is fine: most writes answer so. */
function parsed(text: string): Json | undefined {
  if (text.trim() === "") return null;
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function nameOf(endpoint: Endpoint, name: string): string {
  return endpoint.answer[name]?.join(" or ") ?? name;
}

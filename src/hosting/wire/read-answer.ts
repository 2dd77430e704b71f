/** @module Reads and checks the answer to an accepted request, and the further pages of a list. */
import { isServiceError, ServiceError } from "../../model/errors.ts";
import { defined, isObject, type Json, mapped, own } from "../../model/json.ts";
import type { Hide } from "../../model/known-secrets.ts";
import type { Answer, Call, Endpoint } from "../../model/service.ts";
import { operations } from "../operations.ts";
import { parseJson } from "./parse-json.ts";
import { answerValues, type Values } from "./spelling.ts";

const texts = [
  ...["status", "statusMessage", "failure", "instructions", "offboard"],
  ...["createdAt", "modifiedAt", "completedAt"],
  ...["cloudProvider", "region", "networkType", "network", "host", "cidr"],
  ...["resourceId", "instanceId", "name", "type"],
];

/** Name of a value -> check of its type. Values with other names are not checked. */
const shapes: { readonly [name: string]: (value: Json) => boolean } = {
  ...Object.fromEntries(texts.map((name) => [name, isText])),
  id: isId,
  ids: (value) => Array.isArray(value) && value.every(isId),
  items: (value) => Array.isArray(value) && value.every(isObject),
  resultParams: isObject,
  port: (value) => Number.isInteger(Number(value)) && Number(value) > 0 && Number(value) < 65_536,
  progress: (value) => !Number.isNaN(Number(value)),
  encrypted: (value) => typeof value === "boolean" || isText(value),
};

/**
 * The body, and the values that the profile names. Throws `shape` if a value is missing or not what its name promises; a write
 * may have worked all the same. `hide` hides secrets in the texts of the service.
 */
export function readAnswer(
  operation: string,
  endpoint: Endpoint,
  text: string,
  hide: Hide = (said) => said,
): Answer {
  const fail = (what: string, hint = "check the address of the service, and the profile"): ServiceError =>
    new ServiceError("shape", operation, `${operation}: the answer ${what}`, {
      mayHaveWorked: endpoint.method !== "GET",
      hint,
    });
  const says = Object.keys(endpoint.answer).length > 0;
  // An empty body is valid: most writes answer so.
  const given = text.trim() === "" ? null : parseJson(text);
  if (given === undefined && (says || !isPlainWord(text))) throw fail("is not JSON");
  const body = given ?? null;
  if (says && endpoint.method === "GET" && !isObject(body) && !Array.isArray(body))
    throw fail("is no object");
  const values = answerValues(body, endpoint.answer);
  for (const [name, value] of Object.entries(values)) {
    const isRight = own(shapes, name);
    if (isRight?.(value) === false) throw fail(`has a ${nameOf(endpoint, name)} of the wrong kind`);
  }
  const lists = ["ids", "items"].filter((name) => endpoint.answer[name] !== undefined);
  const mayBeLeftOut = mayBeAbsent.has(operation) || endpoint.omitsEmptyList === true;
  const empty = mayBeLeftOut ? lists.filter((name) => values[name] === undefined) : [];
  const missing = [...lists, ...(operations.get(operation) ?? [])].find(
    (name) =>
      // An object that is shown without a status is changing.
      values[name] === undefined &&
      !empty.includes(name) &&
      !(name === "status" && values["id"] !== undefined),
  );
  if (missing !== undefined)
    throw fail(
      `has no ${nameOf(endpoint, missing)}`,
      lists.includes(missing)
        ? "check the profile; if the service leaves a list out that is empty, say omitsEmptyLists: true there"
        : undefined,
    );
  const none = empty.map((name): [string, Json] => [name, []]);
  return { body, values: withWords({ ...values, ...Object.fromEntries(none) }, hide) };
}

/** Lists whose answer may be `{}` or hold null when empty. For other lists that is an error: it must not pass for "there is nothing". */
const mayBeAbsent: ReadonlySet<string> = new Set(["snapshot.list", "instance.snapshots"]);

/** Free texts of the service: they are never compared. */
const words: ReadonlySet<string> = new Set(["failure", "statusMessage", "message"]);

/** Hides secrets in the free texts among the values, also in the items of a list. */
function withWords(values: Values, hide: Hide): Values {
  return mapped(values, (value, name) => {
    if (words.has(name) && typeof value === "string") return hide(value);
    if (name !== "items" || !Array.isArray(value)) return value;
    return value.map((item: Json) => (isObject(item) ? withWords(item, hide) : item));
  });
}

/** True for a short text such as `OK`. A page of HTML or a cut object is an error. */
function isPlainWord(text: string): boolean {
  const word = text.trim();
  return word.length <= 40 && /^[\w .!]+$/.test(word);
}

/** True for an id that can be part of a path. A number above 2^53 was rounded by the parser. */
function isId(value: Json): boolean {
  return typeof value === "string" ? !["", ".", ".."].includes(value.trim()) : Number.isSafeInteger(value);
}

function isText(value: Json): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function nameOf(endpoint: Endpoint, name: string): string {
  return endpoint.answer[name]?.join(" or ") ?? name;
}

const maxPages = 1000;

/** Joins a list with its further pages if a query has `{nextPage}`. Throws `shape` if the pages do not end. */
export async function withPages(
  first: Answer,
  call: Call,
  endpoint: Endpoint,
  ask: (call: Call) => Promise<Answer>,
): Promise<Answer> {
  if (!Object.values(endpoint.query).some((template) => template.includes("{nextPage}"))) return first;
  const tokens = new Set<string>();
  let values = first.values;
  for (let token = tokenOf(values); token !== undefined; token = tokenOf(values)) {
    if (tokens.has(token) || tokens.size >= maxPages)
      throw new ServiceError(
        "shape",
        call.operation,
        `${call.operation}: the pages of the answer do not come to an end`,
      );
    tokens.add(token);
    const page = await ask({ ...call, params: { ...call.params, nextPage: token } });
    const { nextPage: _before, ...soFar } = values;
    values = { ...soFar, ...joined(values, page.values) };
  }
  return { ...first, values };
}

/** True if a list says that it is not all, and nothing tells how to ask for the rest. */
export function mayBeMore(values: Values): boolean {
  return tokenOf(values) !== undefined;
}

function tokenOf({ nextPage }: Values): string | undefined {
  return typeof nextPage === "string" && nextPage !== "" ? nextPage : undefined;
}

function joined(before: Values, page: Values): Values {
  const lists = ["ids", "items"].flatMap((name): [string, Json][] => {
    const [head, tail] = [before[name], page[name]];
    return Array.isArray(head) && Array.isArray(tail) ? [[name, [...head, ...tail]]] : [];
  });
  const { nextPage } = page;
  return { ...Object.fromEntries(lists), ...defined({ nextPage }) };
}

export type Read = (call: Call) => Promise<Answer>;

/** The answer to a read, or the error of a service that refused it. */
export type Attempt = Answer | ServiceError;

/** Sends a read whose refusal is a result. Rethrows errors that end the run: an interruption, a request that was not sent. */
export async function attempt(read: Read, call: Call): Promise<Attempt> {
  try {
    return await read(call);
  } catch (error) {
    if (!isServiceError(error) || error.failure === "aborted" || !error.wasSent) throw error;
    return error;
  }
}

/** @module Reads the further pages of a list. */
import { ServiceError } from "../../model/errors.ts";
import { defined, type Json } from "../../model/json.ts";
import type { Endpoint } from "../../model/profile.ts";
import type { Answer, Call } from "../../model/service.ts";

/** Most pages of one list. */
const most = 1000;

/**
 * Joins a list with its further pages, where a query of the profile has `{nextPage}`. Otherwise `nextPage` stays in the
 * values: the list may be partial. Throws `shape` where the pages do not end.
 */
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
    if (tokens.has(token) || tokens.size >= most) throw endless(call);
    tokens.add(token);
    const page = await ask({ ...call, params: { ...call.params, nextPage: token } });
    const { nextPage: _before, ...soFar } = values;
    values = { ...soFar, ...joined(values, page.values) };
  }
  return { ...first, values };
}

type Values = Answer["values"];

/** True where a list says that it is not all, and nothing tells how to ask for the rest. */
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

function endless({ operation }: Call): ServiceError {
  return new ServiceError("shape", operation, `${operation}: the pages of the answer do not come to an end`);
}

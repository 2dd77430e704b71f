/** @module Sends requests to the API of GitHub or GitLab. */
import { GraphformError } from "../../model/errors.ts";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";

/** One request; `path` follows the address of the API. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT";
  readonly path: string;
  readonly body?: JsonObject;
}

/** Sends one request and returns the answer. Rejects with `forge-refused` or `forge-unreachable`; neither has the token in it. */
export type Api = (request: ApiRequest) => Promise<Json>;

/** Longest wait for an answer, in ms. */
const patience = 30_000;
/** Entries of a page, which is the most that both take. */
const pageSize = 100;
/** Pages that are read at most. */
const mostPages = 100;

/**
 * An API at an address, with the headers that sign in. They go to that address alone: redirects are not followed. Throws `forge-in-clear`
 * where the token would be sent unencrypted over a network.
 */
export function apiAt(base: string, headers: { readonly [name: string]: string }, hint: string): Api {
  const { protocol, hostname } = new URL(base);
  if (protocol !== "https:" && !["127.0.0.1", "[::1]", "localhost"].includes(hostname)) {
    throw new GraphformError("forge-in-clear", `a token would be sent in clear text to ${hostname}`, {
      hint: "use an address that begins with https://",
    });
  }
  return async ({ method, path, body }) => {
    const response = await fetch(`${base}${path}`, {
      method,
      redirect: "error",
      signal: AbortSignal.timeout(patience),
      headers: {
        accept: "application/json",
        "user-agent": "graphform",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new GraphformError("forge-unreachable", `no answer to ${method} ${path} from ${hostname}`, {
        hint: "run the job again",
        cause,
      });
    });
    const answer = parsed(await response.text());
    if (response.ok) return answer;
    const said = isObject(answer) && typeof answer["message"] === "string" ? `: ${answer["message"]}` : "";
    throw new GraphformError("forge-refused", `${method} ${path}: ${response.status}${said}`, { hint });
  };
}

/** All entries of a list, page after page. `path` has a query. */
export async function allPages(api: Api, path: string): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  for (let page = 1; page <= mostPages; page += 1) {
    const answer = await api({ method: "GET", path: `${path}&per_page=${pageSize}&page=${page}` });
    const entries = Array.isArray(answer) ? answer.filter(isObject) : [];
    all.push(...entries);
    if (entries.length < pageSize) return all;
  }
  return all;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

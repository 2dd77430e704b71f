/** @module Cuts lists into pages. */
import type { Context } from "hono";
import type { Core } from "../../core.ts";
import type { Env } from "../exchange.ts";

/** One page of a list; `more` has the token of the next page, if there is one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly more: { readonly nextPageToken?: string };
}

/** The page that the request's token names; the first page without a token. */
export function paged<T>(core: Core, context: Context<Env>, all: readonly T[]): Page<T> {
  const { pageSize } = core.settings;
  const token = Number(context.req.query("nextPageToken") ?? 0);
  const from = Number.isInteger(token) && token > 0 ? token : 0;
  const end = from + pageSize;
  return { items: all.slice(from, end), more: end < all.length ? { nextPageToken: String(end) } : {} };
}

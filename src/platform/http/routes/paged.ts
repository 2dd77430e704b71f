import type { Context } from "hono";
import type { Core } from "../../core.ts";
import type { Env } from "../exchange.ts";

/** One page of a list, with the token of the next one where there is more. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly more: { readonly nextPageToken?: string };
}

/** The page of a list that a request asks for by its token; the first one without. */
export function paged<T>(core: Core, context: Context<Env>, all: readonly T[]): Page<T> {
  const { pageSize } = core.settings;
  const token = Number(context.req.query("nextPageToken") ?? 0);
  const from = Number.isInteger(token) && token > 0 ? token : 0;
  const end = from + pageSize;
  return { items: all.slice(from, end), more: end < all.length ? { nextPageToken: String(end) } : {} };
}

/** @module Registers operations with or without a session. */
import type { Context, Hono } from "hono";
import { getCookie } from "hono/cookie";
import type { Core } from "../../core.ts";
import { ServiceError } from "../../model/service-error.ts";
import { largestBody, largestOpenBody } from "../contract.ts";
import { platformErrorFormat } from "../error-format.ts";
import { type Env, type Handler, serve } from "../exchange.ts";

/** Registers one operation of the platform host. `operation` is its name in fault rules and in the request log. */
export type Route = (method: string, path: string, operation: string, handler: Handler) => void;

/** Routes without a session. */
export function openRoutes(app: Hono<Env>, core: Core): Route {
  return (method, path, operation, handler) => {
    const served = {
      name: operation,
      admit: allowAll,
      isSignedIn: isNeverSignedIn,
      largestBody: largestOpenBody,
      handler,
    };
    app.on(method, path, (context) => serve(core, platformErrorFormat, served, context));
  };
}

const allowAll = (): void => undefined;
const isNeverSignedIn = (): boolean => false;

/** Routes that need a session: the session cookie, or the same token as a bearer token. */
export function sessionRoutes(app: Hono<Env>, core: Core): Route {
  const admit = (context: Context<Env>): void => void requireSession(core, context);
  const isSignedIn = (context: Context<Env>): boolean =>
    core.sessions.userOf(tokenOf(core, context)) !== undefined;
  return (method, path, operation, handler) => {
    const served = { name: operation, admit, isSignedIn, largestBody, handler };
    app.on(method, path, (context) => serve(core, platformErrorFormat, served, context));
  };
}

/** The signed-in user. Throws ServiceError 400 without a token, 401 for an invalid or expired one. */
export function requireSession(core: Core, context: Context<Env>): string {
  const token = tokenOf(core, context);
  if (token === "") throw new ServiceError(400, "token is missing from header or cookie");
  const user = core.sessions.userOf(token);
  if (user === undefined) throw new ServiceError(401, "the session token is invalid or has expired");
  return user;
}

/** The session token of a request; empty without one. */
function tokenOf({ dialect }: Core, context: Context<Env>): string {
  return bearerOf(context) ?? getCookie(context, dialect.cookies.session) ?? "";
}

/** The bearer token of a request; undefined without one. */
export function bearerOf(context: Context<Env>): string | undefined {
  return /^bearer\s+(\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
}

/** A decoded path parameter; empty where the route has none of that name. */
export function pathParam(context: Context<Env>, name: string): string {
  return context.req.param(name) ?? "";
}

/** The answer 202 with an empty body: accepted, done in the background. */
export function accepted(): Response {
  return new Response(null, { status: 202 });
}

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

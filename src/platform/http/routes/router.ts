import type { Context, Hono } from "hono";
import { getCookie } from "hono/cookie";
import type { Core } from "../../core.ts";
import { ServiceError } from "../../model/service-error.ts";
import { largestBody, largestOpenBody } from "../contract.ts";
import { type Env, type Handler, platformErrorFormat, serve } from "../exchange.ts";

/** Registers one operation of the platform host under its name, which faults and the log use. */
export type Route = (method: string, path: string, operation: string, handler: Handler) => void;

/** Registers operations that need no session. */
export function openRoutes(app: Hono<Env>, core: Core): Route {
  return (method, path, operation, handler) => {
    const served = {
      name: operation,
      admit: anybody,
      isSignedIn: nobody,
      largestBody: largestOpenBody,
      handler,
    };
    app.on(method, path, (context) => serve(core, platformErrorFormat, served, context));
  };
}

const anybody = (): void => undefined;
const nobody = (): boolean => false;

/** Registers operations that need a session: the cookie of section 5.1, or the same token as a bearer. */
export function sessionRoutes(app: Hono<Env>, core: Core): Route {
  const admit = (context: Context<Env>): void => void requireSession(core, context);
  const isSignedIn = (context: Context<Env>): boolean =>
    core.sessions.userOf(tokenOf(core, context)) !== undefined;
  return (method, path, operation, handler) => {
    const served = { name: operation, admit, isSignedIn, largestBody, handler };
    app.on(method, path, (context) => serve(core, platformErrorFormat, served, context));
  };
}

/** 400 without a token ("token is missing"), 401 with one that is invalid or has expired. */
export function requireSession(core: Core, context: Context<Env>): string {
  const token = tokenOf(core, context);
  if (token === "") throw new ServiceError(400, "token is missing from header or cookie");
  const user = core.sessions.userOf(token);
  if (user === undefined) throw new ServiceError(401, "the session token is invalid or has expired");
  return user;
}

/** The session token of a request; empty where it carries none. */
function tokenOf({ dialect }: Core, context: Context<Env>): string {
  return bearerOf(context) ?? getCookie(context, dialect.cookies.session) ?? "";
}

/** The bearer token of a request; undefined when it carries none. */
export function bearerOf(context: Context<Env>): string | undefined {
  return /^bearer\s+(\S+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
}

/** A part of the path, decoded; empty when the route has no such part. */
export function pathParam(context: Context<Env>, name: string): string {
  return context.req.param(name) ?? "";
}

/** 202 with an empty body: accepted, done later (section 3). */
export function accepted(): Response {
  return new Response(null, { status: 202 });
}

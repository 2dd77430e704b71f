/** @module Serves sign-in, token refresh and sign-out. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { auth } from "hono/utils/basic-auth";
import { isObject, type Json, type JsonObject } from "../../../model/json.ts";
import type { Core } from "../../core.ts";
import { ServiceError } from "../../model/service-error.ts";
import { version } from "../contract.ts";
import type { Credentials } from "../credentials.ts";
import type { Env } from "../exchange.ts";
import type { TokenPair } from "../sessions.ts";
import { openRoutes, requireSession, sessionRoutes } from "./router.ts";

/** Registers the session operations (specification 4.1 and 5). */
export function sessionEndpoints(app: Hono<Env>, core: Core): void {
  const open = openRoutes(app, core);

  open("POST", `${version}/resource-instance/user/signin`, "signin", async (context) => {
    const given = auth(context.req.raw);
    if (given === undefined) throw new ServiceError(400, "basic credentials are missing or malformed");
    const pair = await signIn(core, given);
    setSessionCookies(context, core, pair);
    return context.json({ token: pair.token });
  });

  for (const name of ["signin", "customer-user-signin"]) {
    open("POST", `${version}/${name}`, "signin", async (context, exchange) => {
      const username = textOf(exchange.body, "email");
      const password = textOf(exchange.body, "password");
      if (username === undefined || password === undefined)
        throw new ServiceError(400, "email and password are required");
      const pair = await signIn(core, { username, password });
      setSessionCookies(context, core, pair);
      return context.json(shownPair(core, pair));
    });
  }

  open("POST", `${version}/refresh-token`, "refresh", async (context, exchange) => {
    const token = refreshTokenOf(core, context, exchange.body);
    if (token === undefined) throw new ServiceError(400, "refresh token is missing");
    const pair = await core.sessions.rotate(token);
    if (pair === undefined) throw new ServiceError(401, "the refresh token is invalid or has expired");
    setSessionCookies(context, core, pair);
    return context.json(shownPair(core, pair));
  });

  open("POST", `${version}/logout`, "logout", async (context, exchange) => {
    await core.sessions.revoke(refreshTokenOf(core, context, exchange.body) ?? "");
    setSessionCookies(context, core, undefined);
    return context.json({});
  });

  open("POST", `${version}/revoke-token`, "revoke", async (context, exchange) => {
    await core.sessions.revoke(refreshTokenOf(core, context, exchange.body) ?? "");
    return new Response(null, { status: 204 });
  });

  sessionRoutes(app, core)("GET", `${version}/user`, "user", (context) => {
    const user = requireSession(core, context);
    return context.json({ id: user, email: user, name: "local user" });
  });
}

/** True for the platform's own credentials; takes the same time for every wrong value. */
export function matchesCredentials(expected: Credentials, given: Credentials): boolean {
  const digest = (one: Credentials): Buffer =>
    createHash("sha256")
      .update(JSON.stringify([one.username, one.password]))
      .digest();
  return timingSafeEqual(
    digest({ username: expected.username, password: expected.password }),
    digest({ username: given.username, password: given.password }),
  );
}

async function signIn(core: Core, given: Credentials): Promise<TokenPair> {
  if (!matchesCredentials(core.credentials, given))
    throw new ServiceError(401, "wrong user name or password");
  return core.sessions.open(given.username);
}

function shownPair({ dialect }: Core, { token, refreshToken }: TokenPair): JsonObject {
  return { jwtToken: token, ...(dialect.hasRefreshTokens ? { refreshToken } : {}) };
}

function setSessionCookies(context: Context<Env>, core: Core, pair: TokenPair | undefined): void {
  const { sessionLifetime, refreshLifetime } = core.settings;
  const domain = cookieDomain(context, core);
  const set = (name: string, value: string, lifetime: number): void =>
    setCookie(context, name, value, {
      path: "/",
      httpOnly: true,
      sameSite: "Lax",
      secure: true,
      domain,
      maxAge: Math.floor(lifetime),
    });
  const { cookies, hasRefreshTokens } = core.dialect;
  set(cookies.session, pair?.token ?? "", pair === undefined ? 0 : sessionLifetime);
  if (hasRefreshTokens)
    set(cookies.refresh, pair?.refreshToken ?? "", pair === undefined ? 0 : refreshLifetime);
}

/** The loopback host that the client used, so that its cookie jar accepts the cookie; otherwise the platform's host. */
function cookieDomain(context: Context<Env>, core: Core): string {
  const { hostname } = new URL(context.req.url);
  return ["localhost", "127.0.0.1", "[::1]"].includes(hostname) ? hostname : core.settings.host;
}

function refreshTokenOf(core: Core, context: Context<Env>, body: Json | undefined): string | undefined {
  return textOf(body, "refreshToken") ?? getCookie(context, core.dialect.cookies.refresh);
}

function textOf(body: Json | undefined, key: string): string | undefined {
  const value = isObject(body) ? body[key] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

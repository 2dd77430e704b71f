/** @module Serves sign-in, token refresh and sign-out. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { auth } from "hono/utils/basic-auth";
import { isObject, type JsonObject, textIn } from "../../../model/json.ts";
import type { Core } from "../../core.ts";
import { ServiceError } from "../../model/service-error.ts";
import type { Credentials } from "../credentials.ts";
import type { Call, Env, Row } from "../exchange.ts";
import type { TokenPair } from "../sessions.ts";

export const openRows: readonly Row[] = [
  ["POST", "/resource-instance/user/signin", "signin", signIn],
  ["POST", "/signin", "signin", signInWithBody],
  ["POST", "/customer-user-signin", "signin", signInWithBody],
  ["POST", "/refresh-token", "refresh", refreshSession],
  ["POST", "/logout", "logout", logOut],
  ["POST", "/revoke-token", "revoke", revokeToken],
];

export const sessionRows: readonly Row[] = [
  ["GET", "/user", "user", ({ user = "" }) => ({ id: user, email: user, name: "local user" })],
];

/** Sign-in with basic credentials (specification 4.1). */
function signIn(call: Call): JsonObject {
  const given = auth(call.context.req.raw);
  if (given === undefined) throw new ServiceError(400, "basic credentials are missing or malformed");
  const pair = openSession(call.core, given);
  setSessionCookies(call, pair);
  return { token: pair.token };
}

function signInWithBody(call: Call): JsonObject {
  const [username, password] = [textOf(call, "email"), textOf(call, "password")];
  if (username === undefined || password === undefined)
    throw new ServiceError(400, "email and password are required");
  return answerPair(call, openSession(call.core, { username, password }));
}

/** A new pair of tokens for a refresh token (specification 5). */
async function refreshSession(call: Call): Promise<JsonObject> {
  const token = refreshTokenOf(call);
  if (token === undefined) throw new ServiceError(400, "refresh token is missing");
  const user = await call.core.sessions.spend(token);
  if (user === undefined) throw new ServiceError(401, "the refresh token is invalid or has expired");
  return answerPair(call, call.core.sessions.open(user));
}

async function logOut(call: Call): Promise<JsonObject> {
  await call.core.sessions.spend(refreshTokenOf(call) ?? "");
  setSessionCookies(call, undefined);
  return {};
}

async function revokeToken(call: Call): Promise<Response> {
  await call.core.sessions.spend(refreshTokenOf(call) ?? "");
  return new Response(null, { status: 204 });
}

/** True for the platform's own credentials; takes the same time for every wrong value. */
export function matchesCredentials(expected: Credentials, given: Credentials): boolean {
  const digest = ({ username, password }: Credentials): Buffer =>
    createHash("sha256")
      .update(JSON.stringify([username, password]))
      .digest();
  return timingSafeEqual(digest(expected), digest(given));
}

export function requireCredentials({ credentials }: Core, given: Credentials): void {
  if (!matchesCredentials(credentials, given)) throw new ServiceError(401, "wrong user name or password");
}

function openSession(core: Core, given: Credentials): TokenPair {
  requireCredentials(core, given);
  return core.sessions.open(given.username);
}

function answerPair(call: Call, pair: TokenPair): JsonObject {
  setSessionCookies(call, pair);
  const { token, refreshToken } = pair;
  return { jwtToken: token, ...(call.core.dialect.isVendors ? {} : { refreshToken }) };
}

function setSessionCookies({ context, core }: Call, pair: TokenPair | undefined): void {
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
  const { cookies, isVendors } = core.dialect;
  set(cookies.session, pair?.token ?? "", pair === undefined ? 0 : sessionLifetime);
  if (!isVendors) set(cookies.refresh, pair?.refreshToken ?? "", pair === undefined ? 0 : refreshLifetime);
}

/** The loopback host that the client used, so that its cookie jar accepts the cookie; otherwise the platform's host. */
function cookieDomain(context: Context<Env>, core: Core): string {
  const { hostname } = new URL(context.req.url);
  return ["localhost", "127.0.0.1", "[::1]"].includes(hostname) ? hostname : core.settings.host;
}

function refreshTokenOf(call: Call): string | undefined {
  return textOf(call, "refreshToken") ?? getCookie(call.context, call.core.dialect.cookies.refresh);
}

function textOf({ body }: Call, key: string): string | undefined {
  return textIn(isObject(body) ? body[key] : undefined) || undefined;
}

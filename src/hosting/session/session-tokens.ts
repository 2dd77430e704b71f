/** @module Reads session tokens and their lifetimes from an answer, and puts them into requests. */

import { parseSetCookie } from "set-cookie-parser";
import { defined, isObject, type Json } from "../../model/json.ts";
import type { Call, Endpoint, Profile, SessionProfile } from "../../model/service.ts";
import { parseJson } from "../wire/parse-json.ts";
import { answerValues } from "../wire/spelling.ts";
import type { WireRequest, WireResponse } from "../wire/transport.ts";

/** A stored session: its tokens, and the time to renew it. Times are ms since 1970. */
export interface Tokens {
  readonly token: string;
  readonly refreshToken?: string;
  /** Renew the token before it is used after this time. */
  readonly renewAt: number;
  /** End of the token; absent in sessions that an earlier version stored. */
  readonly endsAt?: number;
  readonly refreshUntil: number;
}

/** Undefined without a token. One is renewed at 80 % of its life, or a minute before its end if that is later. */
export function readTokens(response: WireResponse, session: SessionProfile, now: number): Tokens | undefined {
  const cookies = parseCookies(response.headers["set-cookie"]);
  const body = answerValues(parsed(response.body), {
    token: session.tokenAnswer,
    refreshToken: session.refreshAnswer,
  });
  const cookie = cookies.get(session.tokenCookie);
  const token = usable(cookie?.value ?? body["token"]);
  if (token === undefined) return undefined;
  const refreshCookie = cookies.get(session.refreshCookie);
  const refreshToken = usable(refreshCookie?.value ?? body["refreshToken"]);
  const lives = [lifeOfJwt(token, now), cookie?.maxAge].filter((life) => life !== undefined);
  const known = lives.length === 0 ? session.tokenLifetime : Math.min(...lives);
  return {
    token,
    renewAt: now + Math.max(known * 0.8, known - 60_000),
    endsAt: now + known,
    refreshUntil: now + (refreshCookie?.maxAge ?? session.refreshLifetime),
    ...defined({ refreshToken }),
  };
}

/** The lifetime of a JWT in ms; undefined for other tokens. With `iat`, a difference of the clocks does not matter. */
function lifeOfJwt(token: string, now: number): number | undefined {
  const claims = parsed(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  if (!isObject(claims)) return undefined;
  const { iat, exp } = claims;
  if (typeof exp !== "number") return undefined;
  const life = typeof iat === "number" ? (exp - iat) * 1000 : exp * 1000 - now;
  return life > 0 ? life : undefined;
}

function usable(value: Json | undefined): string | undefined {
  return typeof value === "string" && isHeaderText(value) ? value : undefined;
}

/** Printable ASCII without spaces, commas, semicolons: the characters of a cookie or a bearer token. */
export function isHeaderText(text: string): boolean {
  return /^[\x21-\x2b\x2d-\x3a\x3c-\x7e]+$/.test(text);
}

function parsed(text: string): Json {
  return parseJson(text) ?? null;
}

/** The header that sends a token: a bearer token, or the cookie of the profile. */
export function authorization(token: string, endpoint: Endpoint, profile: Profile): WireRequest["headers"] {
  const isBearer = endpoint.host === "users" || profile.session.send === "bearer";
  return isBearer
    ? { authorization: `Bearer ${token}` }
    : { cookie: `${profile.session.tokenCookie}=${token}` };
}

/** The password or the token in the body of a request of the session itself; none in that of any other request. */
export function secretsIn({ operation, body = {} }: Call, username: string | undefined): readonly string[] {
  if (!operation.startsWith("session.")) return [];
  return Object.values(body).flatMap((text) => (typeof text === "string" && text !== username ? [text] : []));
}

interface Cookie {
  readonly value: string;
  /** In ms; absent if the cookie has no Max-Age. */
  readonly maxAge?: number;
}

/** Cookies by name, their values as they are sent, without quotes around them. Skips malformed and deleted ones. */
export function parseCookies(header: string | readonly string[] | undefined): ReadonlyMap<string, Cookie> {
  const lines = header === undefined ? [] : typeof header === "string" ? [header] : [...header];
  // Silent: it would print the names and attributes that it does not know.
  const cookies = parseSetCookie(lines, { decodeValues: false, silent: true });
  return new Map(
    cookies.flatMap(({ name, value, maxAge }): [string, Cookie][] => {
      const text = value.replace(/^"(.*)"$/, "$1");
      if (name === "" || text === "" || (maxAge !== undefined && maxAge <= 0)) return [];
      return [[name, maxAge === undefined ? { value: text } : { value: text, maxAge: maxAge * 1000 }]];
    }),
  );
}

import type { Json } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";
import type { SessionProfile } from "../../model/profile.ts";
import { answerValues } from "../wire/answer-values.ts";
import { parseCookies } from "../wire/cookies.ts";
import { parseJson } from "../wire/parse-json.ts";
import type { WireResponse } from "../wire/wire.ts";

/** A session as it is kept: its tokens, and when to renew it. Times are ms since 1970. */
export interface Tokens {
  readonly token: string;
  readonly refreshToken?: string;
  /** From then on the token is renewed before it is used. */
  readonly renewAt: number;
  /** From then on the token is of no use; absent in sessions that an earlier version kept. */
  readonly endsAt?: number;
  /** From then on the refresh token is of no use. */
  readonly refreshUntil: number;
}

/**
 * The tokens of a sign-in or refresh answer, from its cookies or else from its body (specification 5.1); undefined where
 * it has none. A token is renewed at 80 % of its life, or a minute before its end where that is later.
 */
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
  const life = Math.min(
    lifeOfJwt(token, now) ?? Number.POSITIVE_INFINITY,
    cookie?.maxAge ?? Number.POSITIVE_INFINITY,
  );
  const known = life === Number.POSITIVE_INFINITY ? session.tokenLifetime : life;
  return {
    token,
    renewAt: now + Math.max(known * 0.8, known - 60_000),
    endsAt: now + known,
    refreshUntil: now + (refreshCookie?.maxAge ?? session.refreshLifetime),
    ...(refreshToken === undefined ? {} : { refreshToken }),
  };
}

/**
 * How long a JWT lives by its own claims, in ms; undefined for any other token. Where it says when it was made both times
 * are the service's, so that it does not matter how our clocks differ.
 */
function lifeOfJwt(token: string, now: number): number | undefined {
  const claims = parsed(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  if (!isObject(claims)) return undefined;
  const { iat, exp } = claims;
  if (typeof exp !== "number") return undefined;
  const life = typeof iat === "number" ? (exp - iat) * 1000 : exp * 1000 - now;
  return life > 0 ? life : undefined;
}

/** A token that can stand in a header. */
function usable(value: Json | undefined): string | undefined {
  return typeof value === "string" && isHeaderText(value) ? value : undefined;
}

/** Printable ASCII without spaces, commas, semicolons: what a cookie or a bearer token is made of. */
export function isHeaderText(text: string): boolean {
  return /^[\x21-\x2b\x2d-\x3a\x3c-\x7e]+$/.test(text);
}

function parsed(text: string): Json {
  return parseJson(text) ?? null;
}

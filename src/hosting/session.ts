import type { Clock } from "../model/clock.ts";
import { GraphformError, isServiceError, type ServiceError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Endpoint, Profile } from "../model/profile.ts";
import { answerValues } from "./answer-values.ts";
import { parseCookies } from "./cookies.ts";
import type { WireResponse } from "./transport.ts";

/** A signed-in session: one token for everybody, renewed once for all who wait. */
export interface SignedIn {
  /** The token to use now; signs in or renews where that is due. Rejects with ServiceError or GraphformError. */
  token(): Promise<string>;
  /** The service refused this token: the next one is asked for anew. */
  refuse(token: string): void;
}

export interface SessionOptions {
  readonly profile: Profile;
  readonly clock: Clock;
  readonly credentials: { readonly username: string; readonly password: string };
  /** Sends a request of the session itself, without a token; resolves with what was accepted. */
  readonly send: (operation: string, endpoint: Endpoint, headers: { readonly [name: string]: string }, body?: Json) => Promise<WireResponse>;
}

interface Tokens {
  readonly token: string;
  readonly refreshToken?: string;
  /** Ms since 1970: when to renew, before it expires. */
  readonly renewAt: number;
}

/** Signs in with Basic credentials, and keeps the session alive by its refresh token (specification 5.1). */
export function createSession(options: SessionOptions): SignedIn {
  const { profile, clock, credentials } = options;
  let tokens: Tokens | undefined;
  let refused = false;
  let underWay: Promise<Tokens> | undefined;

  const signIn = async (): Promise<Tokens> => {
    const basic = Buffer.from(`${credentials.username}:${credentials.password}`, "utf8").toString("base64");
    try {
      return tokensOf(await options.send("session.sign-in", profile.signIn, { authorization: `Basic ${basic}` }), profile, clock.now());
    } catch (error) {
      throw isServiceError(error, "unauthorized") ? wrongCredentials(error) : error;
    }
  };
  const renew = async (): Promise<Tokens> => {
    const refreshToken = tokens?.refreshToken;
    if (profile.refresh === undefined || refreshToken === undefined) return signIn();
    const key = profile.refresh.body["refreshToken"] ?? "refreshToken";
    try {
      return tokensOf(await options.send("session.refresh", profile.refresh, {}, { [key]: refreshToken }), profile, clock.now());
    } catch (error) {
      if (isServiceError(error, "aborted")) throw error;
      return signIn();
    }
  };
  return {
    async token() {
      if (tokens !== undefined && !refused && clock.now() < tokens.renewAt) return tokens.token;
      underWay ??= renew().finally(() => {
        underWay = undefined;
      });
      tokens = await underWay;
      refused = false;
      return tokens.token;
    },
    refuse(token) {
      if (tokens?.token === token) refused = true;
    },
  };
}

/** Tokens of a sign-in or refresh answer: from its cookies, else from its body. */
function tokensOf(response: WireResponse, profile: Profile, now: number): Tokens {
  const { session } = profile;
  const cookies = parseCookies(response.headers["set-cookie"]);
  const body = bodyOf(response);
  const inBody = answerValues(body, { token: session.tokenAnswer, refreshToken: session.refreshAnswer });
  const cookie = cookies.get(session.tokenCookie);
  const token = cookie?.value ?? textOf(inBody["token"]);
  if (token === undefined) {
    throw new GraphformError("no-session", "the service signed us in and sent no session token", {
      hint: `the profile expects the cookie ${session.tokenCookie}, or ${session.tokenAnswer.join(" or ")} in the answer`,
    });
  }
  const refreshToken = cookies.get(session.refreshCookie)?.value ?? textOf(inBody["refreshToken"]);
  const life = lifeOf(token, now) ?? cookie?.maxAge ?? session.tokenLifetime;
  const renewAt = now + Math.max(life * 0.8, life - 60_000);
  return { token, renewAt, ...(refreshToken === undefined ? {} : { refreshToken }) };
}

/** What is left of a JWT by its own `exp`, in ms; undefined for any other token. */
function lifeOf(token: string, now: number): number | undefined {
  const [, payload] = token.split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload ?? "", "base64url").toString("utf8"));
    const exp = isObject(claims) ? claims["exp"] : undefined;
    return typeof exp === "number" ? Math.max(0, exp * 1000 - now) : undefined;
  } catch {
    return undefined;
  }
}

function bodyOf(response: WireResponse): Json {
  try {
    const value: Json = JSON.parse(response.body);
    return value;
  } catch {
    return null;
  }
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function wrongCredentials(cause: ServiceError): GraphformError {
  return new GraphformError("sign-in-refused", "the service does not accept the user name and password", {
    hint: "check GRAPHFORM_USERNAME and GRAPHFORM_PASSWORD",
    cause,
  });
}

/** @module Keeps one session with a service: signs in, renews it and stores it between commands. */
import type { Clock } from "../../model/clock.ts";
import { GraphformError, isServiceError, ServiceError } from "../../model/errors.ts";
import { defined, type JsonObject } from "../../model/json.ts";
import { singleFlight } from "../../model/once.ts";
import type { Endpoint, Profile } from "../../model/service.ts";
import type { WireResponse } from "../wire/transport.ts";
import { isHeaderText, readTokens, type Tokens } from "./session-tokens.ts";

/** Stores a session between commands; its content is secret. */
export interface SessionStore {
  /** The session kept for a service (its origin), or undefined. */
  load(origin: string): Promise<Tokens | undefined>;
  /** Keeps it; undefined drops it. */
  save(origin: string, tokens: Tokens | undefined): Promise<void>;
}

export interface SessionOptions {
  readonly profile: Profile;
  readonly clock: Clock;
  /** Scheme, host and port of the platform host: the only one that gets the session's tokens as they are. */
  readonly origin: string;
  readonly credentials?: { readonly username: string; readonly password: string };
  readonly store?: SessionStore;
  /** Sends a request of the session itself, without a token; repeats what is safe to repeat. */
  readonly send: (
    operation: string,
    endpoint: Endpoint,
    headers: { readonly [name: string]: string },
    body: JsonObject | undefined,
  ) => Promise<WireResponse>;
}

/** A session whose token all callers share. */
export interface Session {
  /** The token, if it can be used as it is. */
  ready(): string | undefined;
  /** The token to use now; signs in or renews if that is due. */
  token(): Promise<string>;
  /** The service refused this token: the next caller gets another one. */
  refuse(token: string): void;
  /** The tokens held now, or kept by another command; undefined if there are none. */
  load(): Promise<Tokens | undefined>;
  /** True if a request can be sent with these, renewed or not, without signing in. */
  canBeUsed(held: Tokens): boolean;
  /** The end of a session that no refresh token prolongs, in ms since 1970. */
  endsAt(): number | undefined;
  drop(): Promise<void>;
}

/** Signs in with HTTP Basic (or JSON, if the profile names body keys); renews by refresh token or a new sign-in. A refused password is not tried a second time. */
export function createSession(options: SessionOptions): Session {
  const { profile, clock, origin, store } = options;
  let tokens: Tokens | undefined;
  let isRefused = false;
  let isLoaded = store === undefined;
  let wrongPassword: ServiceError | undefined;

  // A session that cannot be renewed is used up to its end.
  const hasRefresh = ({ refreshToken }: Tokens): boolean =>
    refreshToken !== undefined && profile.refresh !== undefined;
  const canRenew = (held: Tokens): boolean => options.credentials !== undefined || hasRefresh(held);
  const useUntil = (held: Tokens): number => (canRenew(held) ? held.renewAt : (held.endsAt ?? held.renewAt));
  const isFresh = (held: Tokens): boolean => !isRefused && clock.now() < useUntil(held);

  const load = async (): Promise<Tokens | undefined> => {
    const kept = isLoaded ? undefined : await store?.load(origin);
    isLoaded = true;
    tokens ??= kept;
    return tokens;
  };

  const renew = async (): Promise<Tokens> => {
    await load();
    if (tokens !== undefined && isFresh(tokens)) return tokens;
    const next = (await refreshed(tokens)) ?? (await renewedElsewhere(tokens)) ?? (await signIn());
    await store?.save(origin, next);
    return next;
  };

  const refreshed = async (held: Tokens | undefined): Promise<Tokens | undefined> => {
    const { refreshToken, refreshUntil = 0 }: Partial<Tokens> = held ?? {};
    const { refresh } = profile;
    if (refreshToken === undefined || refresh === undefined || clock.now() >= refreshUntil) return undefined;
    const key = refresh.body["refreshToken"] ?? "refreshToken";
    try {
      const response = await options.send("session.refresh", refresh, {}, { [key]: refreshToken });
      const next = readTokens(response, profile.session, clock.now());
      return next === undefined ? undefined : { refreshToken, ...next };
    } catch (error) {
      if (isServiceError(error, "aborted")) throw error;
      return undefined;
    }
  };

  /** Another command that shares the session may have renewed it: a refresh token works once. */
  const renewedElsewhere = async (held: Tokens | undefined): Promise<Tokens | undefined> => {
    const kept = await store?.load(origin);
    return kept !== undefined && kept.token !== held?.token && clock.now() < kept.renewAt ? kept : undefined;
  };

  const signIn = async (): Promise<Tokens> => {
    if (wrongPassword !== undefined) throw wrongPassword;
    const { credentials } = options;
    if (credentials === undefined)
      throw tokens === undefined ? noCredentials() : sessionEnded(tokens, origin, clock.now());
    try {
      const { headers, body } = signInRequest(profile, credentials);
      const response = await options.send("session.sign-in", profile.signIn, headers, body);
      const found = readTokens(response, profile.session, clock.now());
      if (found === undefined) throw noToken(profile);
      return found;
    } catch (error) {
      if (!isServiceError(error, "unauthorized")) throw error;
      wrongPassword = wrongCredentials(error);
      throw wrongPassword;
    }
  };

  const renewOnce = singleFlight(renew);
  const ready = (): string | undefined =>
    tokens !== undefined && isFresh(tokens) ? tokens.token : undefined;

  return {
    ready,
    async token() {
      const usable = ready();
      if (usable !== undefined) return usable;
      const next = await renewOnce();
      if (tokens !== next) {
        tokens = next;
        isRefused = false;
      }
      return next.token;
    },
    refuse(token) {
      if (tokens?.token === token) isRefused = true;
    },
    load,
    canBeUsed: (held) =>
      isFresh(held) || (held.refreshToken !== undefined && canRenew(held) && clock.now() < held.refreshUntil),
    endsAt: () => (tokens === undefined || hasRefresh(tokens) ? undefined : tokens.endsAt),
    async drop() {
      tokens = undefined;
      await store?.save(origin, undefined);
    },
  };
}

function signInRequest(
  profile: Profile,
  { username, password }: { readonly username: string; readonly password: string },
): { readonly headers: { readonly [name: string]: string }; readonly body: JsonObject | undefined } {
  const keys = profile.signIn.body;
  if (Object.keys(keys).length > 0) {
    return {
      headers: {},
      body: { [keys["username"] ?? "username"]: username, [keys["password"] ?? "password"]: password },
    };
  }
  if (username.includes(":")) {
    const message = "the user name contains a colon, and HTTP Basic cannot carry one";
    throw new GraphformError("username-colon", message, { hint: "check GRAPHFORM_USERNAME" });
  }
  const basic = Buffer.from(`${username}:${password}`, "utf8").toString("base64");
  return { headers: { authorization: `Basic ${basic}` }, body: undefined };
}

/** The error of a refused sign-in. It names no user: reports of it stand in comments that everybody reads. */
function wrongCredentials(cause: ServiceError): ServiceError {
  const message = "session.sign-in: the service does not accept this user name with this password";
  const more = {
    ...defined({ status: cause.status }),
    hint: "check GRAPHFORM_USERNAME and GRAPHFORM_PASSWORD; if you typed them, run graphform login again",
  };
  return new ServiceError("unauthorized", "session.sign-in", message, { ...more, cause });
}

function sessionEnded({ endsAt, refreshToken }: Tokens, origin: string, now: number): GraphformError {
  const isOver = endsAt !== undefined && endsAt <= now;
  const what = isOver
    ? `the session kept for ${origin} ended at ${new Date(endsAt).toISOString()}`
    : `the service no longer accepts the session kept for ${origin}`;
  const why = refreshToken === undefined ? "; this service gives no token that would renew it" : "";
  return new GraphformError("no-credentials", `${what}${why}`, {
    hint: "run graphform login again, or set GRAPHFORM_USERNAME and GRAPHFORM_PASSWORD",
  });
}

function noCredentials(): GraphformError {
  return new GraphformError("no-credentials", "there is no session, and nothing to sign in with", {
    hint: "run graphform login, or set GRAPHFORM_USERNAME and GRAPHFORM_PASSWORD",
  });
}

function noToken({ session }: Profile): GraphformError {
  const expected = [
    `the cookie ${session.tokenCookie}`,
    ...session.tokenAnswer.map((path) => `"${path}" in the answer`),
  ];
  return new GraphformError("no-session", "the service signed us in and sent no usable session token", {
    hint: `the profile expects ${expected.join(" or ")}`,
  });
}

/** Keeps the token of `fetch` until the users host refuses it. Rejects with `users-token` if it cannot be a token. */
export function createUsersToken(fetch: () => Promise<string>): Pick<Session, "ready" | "token" | "refuse"> {
  let held: string | undefined;
  const checkedOnce = singleFlight(async (): Promise<string> => {
    const token = (await fetch()).trim();
    if (isHeaderText(token)) return token;
    const message = "the token for the users host is empty, or has characters that a token cannot have";
    const hint = "check GRAPHFORM_TOKEN, or the output of GRAPHFORM_TOKEN_COMMAND";
    throw new GraphformError("users-token", message, { hint });
  });
  return {
    ready: () => held,
    async token() {
      held ??= await checkedOnce();
      return held;
    },
    refuse(token) {
      if (held === token) held = undefined;
    },
  };
}

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { isObject, type Json } from "../model/json.ts";
import { writeDurably } from "./durable.ts";

/** The two tokens of a session (specification 5.1). */
export interface TokenPair {
  readonly token: string;
  readonly refreshToken: string;
}

/** How sessions are kept: lifetimes in seconds, the signing key, and the file that outlives a restart. */
export interface SessionSettings {
  readonly key: Buffer;
  readonly file: string;
  readonly sessionLifetime: number;
  readonly refreshLifetime: number;
  readonly now: () => number;
}

/** Sessions of this platform: signed tokens that expire, and refresh tokens that work once. */
export interface Sessions {
  /** Starts a session for a user. */
  open(user: string): Promise<TokenPair>;
  /** Trades a refresh token for a new pair; undefined when it is unknown, used or expired. */
  rotate(refreshToken: string): Promise<TokenPair | undefined>;
  /** Ends a refresh token; unknown ones are fine. The session token lives on until its own expiry. */
  revoke(refreshToken: string): Promise<void>;
  /** The user of a session token; undefined when it is not ours or has expired. */
  userOf(token: string): string | undefined;
}

const header = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url");

/** Opens the sessions of a data folder; `saved` is the text of the file, where there is one. */
export function openSessions(settings: SessionSettings, saved: string | undefined): Sessions {
  const refresh = new Map<string, { readonly user: string; readonly expires: number }>(readSaved(saved));
  const verified = new Map<string, Claims>();
  let writing: Promise<void> = Promise.resolve();

  const save = (): Promise<void> => {
    for (const [hash, entry] of refresh) if (entry.expires <= settings.now()) refresh.delete(hash);
    const text = JSON.stringify(Object.fromEntries(refresh));
    writing = writing.catch(() => undefined).then(() => writeDurably(settings.file, text));
    return writing;
  };

  const open = async (user: string): Promise<TokenPair> => {
    const refreshToken = randomBytes(32).toString("base64url");
    refresh.set(digest(refreshToken), { user, expires: settings.now() + settings.refreshLifetime * 1000 });
    await save();
    return { token: sign(user, settings), refreshToken };
  };

  return {
    open,
    async rotate(refreshToken) {
      const hash = digest(refreshToken);
      const entry = refresh.get(hash);
      refresh.delete(hash);
      return entry === undefined || entry.expires <= settings.now() ? undefined : open(entry.user);
    },
    async revoke(refreshToken) {
      if (refresh.delete(digest(refreshToken))) await save();
    },
    userOf(token) {
      const known = verified.get(token);
      const claims = known ?? verify(token, settings.key);
      if (claims === undefined || claims.expires <= settings.now()) return undefined;
      if (verified.size >= 1000) verified.clear();
      if (known === undefined) verified.set(token, claims);
      return claims.user;
    },
  };
}

interface Claims {
  readonly user: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

function sign(user: string, settings: SessionSettings): string {
  const issued = Math.floor(settings.now() / 1000);
  const claims = {
    sub: user,
    userID: user,
    iat: issued,
    exp: (settings.now() + settings.sessionLifetime * 1000) / 1000,
    jti: randomBytes(9).toString("base64url"),
  };
  const body = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${body}.${mac(body, settings.key).toString("base64url")}`;
}

function verify(token: string, key: Buffer): Claims | undefined {
  const cut = token.lastIndexOf(".");
  if (cut < 0 || token.length > 4096 || !token.startsWith(`${header}.`)) return undefined;
  const expected = mac(token.slice(0, cut), key);
  const given = Buffer.from(token.slice(cut + 1), "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const claims: Json = JSON.parse(Buffer.from(token.slice(header.length + 1, cut), "base64url").toString());
  if (!isObject(claims)) return undefined;
  const { sub, exp } = claims;
  return typeof sub === "string" && typeof exp === "number" ? { user: sub, expires: exp * 1000 } : undefined;
}

function mac(text: string, key: Buffer): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

function readSaved(text: string | undefined): [string, { user: string; expires: number }][] {
  const found: [string, { user: string; expires: number }][] = [];
  if (text === undefined) return found;
  const saved: Json = JSON.parse(text);
  if (!isObject(saved)) return found;
  for (const [hash, entry] of Object.entries(saved)) {
    if (!isObject(entry)) continue;
    const { user, expires } = entry;
    if (typeof user === "string" && typeof expires === "number") found.push([hash, { user, expires }]);
  }
  return found;
}

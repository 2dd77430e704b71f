/** @module Issues, verifies and refreshes session tokens. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { writeAtomically } from "../../files/atomic-write.ts";
import { isObject, type Json } from "../../model/json.ts";
import type { StorageTrouble } from "../model/storage-trouble.ts";

/** Session token and refresh token. */
export interface TokenPair {
  readonly token: string;
  readonly refreshToken: string;
}

/**
 * Options of `openSessions`: lifetimes in seconds, the signing key, and the file of refresh tokens. Sessions of this process expire
 * by `elapsed` (monotonic ms), since clocks may be set; those of an earlier process by `now`.
 */
export interface SessionSettings {
  readonly key: Buffer;
  readonly file: string;
  readonly sessionLifetime: number;
  readonly refreshLifetime: number;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly trouble: StorageTrouble;
}

/** Sessions: signed tokens that expire, and refresh tokens that are valid once. */
export interface Sessions {
  /** Starts a session for a user. */
  open(user: string): Promise<TokenPair>;
  /** Exchanges a refresh token for a new pair; undefined for an unknown, used or expired one. */
  rotate(refreshToken: string): Promise<TokenPair | undefined>;
  /** Revokes a refresh token, if it exists. The session token stays valid until it expires. */
  revoke(refreshToken: string): Promise<void>;
  /** The user of a session token; undefined for an invalid or expired one. */
  userOf(token: string): string | undefined;
}

const header = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url");

/** Opens the sessions of a data folder; `saved` is the text of the file, if it exists. */
export function openSessions(settings: SessionSettings, saved: string | undefined): Sessions {
  const run = randomBytes(6).toString("base64url");
  /** Refresh tokens by digest, as on disk. */
  let refresh: ReadonlyMap<string, Lease> = new Map(readSaved(saved));
  const verified = new Map<string, Lease>();
  let writing: Promise<unknown> = Promise.resolve();

  const lease = (user: string, lifetime: number): Lease => ({
    user,
    expires: settings.now() + lifetime * 1000,
    run,
    due: settings.elapsed() + lifetime * 1000,
  });
  const isOver = ({ expires, run: of, due }: Lease): boolean =>
    of === run ? due <= settings.elapsed() : expires <= settings.now();

  /** Changes the refresh tokens, one change at a time: written first, used then. */
  const save = (change: (tokens: Map<string, Lease>) => void): Promise<void> => {
    const next = writing
      .catch(() => undefined)
      .then(async () => {
        const tokens = new Map([...refresh].filter(([, entry]) => !isOver(entry)));
        change(tokens);
        try {
          await writeAtomically(settings.file, JSON.stringify(Object.fromEntries(tokens)));
        } catch (error) {
          throw settings.trouble.failed(error);
        }
        refresh = tokens;
      });
    writing = next;
    return next;
  };

  const open = async (user: string, used?: string): Promise<TokenPair> => {
    const refreshToken = randomBytes(32).toString("base64url");
    await save((tokens) => {
      // Of two requests with the same token only one gets a new pair.
      if (used !== undefined && !tokens.delete(used)) throw new UsedTokenError();
      tokens.set(digest(refreshToken), lease(user, settings.refreshLifetime));
    });
    const issued = Math.floor(settings.now() / 1000);
    return { token: sign(lease(user, settings.sessionLifetime), issued, settings.key), refreshToken };
  };

  return {
    open: (user) => open(user),
    async rotate(refreshToken) {
      const hash = digest(refreshToken);
      const entry = refresh.get(hash);
      if (entry === undefined || isOver(entry)) return undefined;
      return open(entry.user, hash).catch((error: unknown) => {
        if (error instanceof UsedTokenError) return undefined;
        throw error;
      });
    },
    async revoke(refreshToken) {
      const hash = digest(refreshToken);
      if (refresh.has(hash)) await save((tokens) => void tokens.delete(hash));
    },
    userOf(token) {
      const known = verified.get(token);
      const claims = known ?? verify(token, settings.key);
      if (claims === undefined || isOver(claims)) return undefined;
      if (verified.size >= 1000) verified.clear();
      if (known === undefined) verified.set(token, claims);
      return claims.user;
    },
  };
}

/** Thrown for a refresh token that another request has used in the meantime. */
class UsedTokenError extends Error {}

/** A user and the end of the user's session. */
interface Lease {
  readonly user: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** Id of the issuing process, and the expiry on its monotonic clock. */
  readonly run: string;
  readonly due: number;
}

function sign({ user, expires, run, due }: Lease, issued: number, key: Buffer): string {
  const jti = randomBytes(9).toString("base64url");
  const claims = { sub: user, userID: user, iat: issued, exp: expires / 1000, jti, run, due };
  const body = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${body}.${mac(body, key).toString("base64url")}`;
}

function verify(token: string, key: Buffer): Lease | undefined {
  const cut = token.lastIndexOf(".");
  if (cut < 0 || token.length > 4096 || !token.startsWith(`${header}.`)) return undefined;
  const expected = mac(token.slice(0, cut), key);
  const given = Buffer.from(token.slice(cut + 1), "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const claims: Json = JSON.parse(Buffer.from(token.slice(header.length + 1, cut), "base64url").toString());
  if (!isObject(claims)) return undefined;
  const { sub, exp } = claims;
  return leaseOf({ ...claims, user: sub ?? null, expires: typeof exp === "number" ? exp * 1000 : null });
}

function mac(text: string, key: Buffer): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

function readSaved(text: string | undefined): [string, Lease][] {
  if (text === undefined) return [];
  const saved: Json = JSON.parse(text);
  return Object.entries(isObject(saved) ? saved : {}).flatMap(([hash, entry]): [string, Lease][] => {
    const lease = leaseOf(entry);
    return lease === undefined ? [] : [[hash, lease]];
  });
}

/** A stored lease; `run` is empty in leases of earlier platforms. */
function leaseOf(value: Json): Lease | undefined {
  if (!isObject(value)) return undefined;
  const { user, expires, run, due } = value;
  if (typeof user !== "string" || typeof expires !== "number") return undefined;
  return { user, expires, run: typeof run === "string" ? run : "", due: typeof due === "number" ? due : 0 };
}

/** @module Keeps the one-time links and sessions of the platform's page. */
import { createHash, randomBytes } from "node:crypto";

/** One-time links to the page and the sessions that they open. They give access to the page only. */
export interface PageSessions {
  /** Returns the key of a link, valid once and for one minute. */
  createKey(): string;
  /** Exchanges a key for a session token; undefined for an unknown, used or expired key. */
  redeem(key: string): string | undefined;
  /** Starts a session and returns its token. */
  open(): string;
  /** True for the token of a session that has not expired. */
  has(token: string): boolean;
}

/** Lifetime of a link's key, in seconds. */
export const linkLifetime: number = 60;

const sessionLifetime = 12 * 3600;
const most = 100;

/** Page sessions in memory; they end with the process. `elapsed` gives monotonic milliseconds. */
export function createPageSessions(elapsed: () => number): PageSessions {
  const keys = tokens(linkLifetime * 1000, elapsed);
  const sessions = tokens(sessionLifetime * 1000, elapsed);
  return {
    createKey: keys.create,
    redeem: (key) => (keys.take(key) ? sessions.create() : undefined),
    open: sessions.create,
    has: sessions.has,
  };
}

/** Random tokens with a lifetime; only digests of the latest hundred are kept. */
function tokens(lifetime: number, elapsed: () => number) {
  const ends = new Map<string, number>();
  const has = (token: string): boolean => (ends.get(digest(token)) ?? 0) > elapsed();
  return {
    create(): string {
      const token = randomBytes(24).toString("base64url");
      const [oldest] = ends.keys();
      if (ends.size >= most && oldest !== undefined) ends.delete(oldest);
      ends.set(digest(token), elapsed() + lifetime);
      return token;
    },
    has,
    take(token: string): boolean {
      const isGood = has(token);
      ends.delete(digest(token));
      return isGood;
    },
  };
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

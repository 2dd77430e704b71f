import { createHash, randomBytes } from "node:crypto";

/** Who may look at the page: links that work once, and the sessions that they open. Neither opens anything but the page. */
export interface PageSessions {
  /** The key of a link: it works once, and for a minute. */
  createKey(): string;
  /** Trades a key for the token of a session; undefined for one that is unknown, used or too old. */
  redeem(key: string): string | undefined;
  /** Starts a session. */
  open(): string;
  /** True for the token of a session that has not ended. */
  has(token: string): boolean;
}

/** Lifetime of a link's key, in seconds. */
export const linkLifetime: number = 60;

const sessionLifetime = 12 * 3600;
const most = 100;

/** Page sessions of this run; they end with it. `elapsed` gives milliseconds that only grow. */
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

/** Random tokens that end after a while; only their digests are kept, of the latest hundred. */
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

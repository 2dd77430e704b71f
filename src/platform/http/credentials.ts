/** @module Keeps the platform's credentials, signing key and page sessions. */

import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../files/atomic-write.ts";
import { ifThere } from "../../files/file-trouble.ts";
import { objectIn } from "../../model/json.ts";

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export async function privateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** Reads `<dataDir>/credentials.json` (0600), generated at the first start. Throws if the file is damaged. */
export async function loadCredentials(dataDir: string): Promise<Credentials> {
  const path = join(dataDir, "credentials.json");
  const known = parseCredentials(await ifThere(readFile(path, "utf8")), path);
  if (known !== undefined) return known;
  const fresh = { username: "local@graphform.invalid", password: randomBytes(24).toString("base64url") };
  await writeAtomically(path, `${JSON.stringify(fresh, null, 2)}\n`);
  return fresh;
}

/** Reads `<dataDir>/signing.key` (0600), so that sessions survive a restart; generated at the first start. */
export async function loadSigningKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, "signing.key");
  const known = await ifThere(readFile(path, "utf8"));
  if (known !== undefined && known.trim().length >= 43) return Buffer.from(known.trim(), "base64url");
  const key = randomBytes(32);
  await writeAtomically(path, key.toString("base64url"));
  return key;
}

function parseCredentials(text: string | undefined, path: string): Credentials | undefined {
  if (text === undefined) return undefined;
  const { username, password } = objectIn(text) ?? {};
  if (typeof username === "string" && typeof password === "string") return { username, password };
  throw new Error(`${path} contains no username and password; delete it to generate new ones`);
}

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

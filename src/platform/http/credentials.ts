/** @module Keeps the platform's credentials, signing key and page sessions. */
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../files/atomic-write.ts";
import { ifThere } from "../../files/file-trouble.ts";
import { objectIn } from "../../model/json.ts";

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Reads `<dataDir>/credentials.json` (0600), generated at the first start. Throws if the file is damaged. */
export async function loadCredentials(dataDir: string): Promise<Credentials> {
  const path = join(dataDir, "credentials.json");
  const text = await ifThere(readFile(path, "utf8"));
  if (text !== undefined) {
    const { username, password } = objectIn(text) ?? {};
    if (typeof username === "string" && typeof password === "string") return { username, password };
    throw new Error(`${path} contains no username and password; delete it to generate new ones`);
  }
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

/** Lifetimes of the page's one-time links, and of the sessions that they open, in seconds. */
export const linkLifetime: number = 60;
export const pageLifetime: number = 12 * 3600;

const most = 100;

/** Random tokens in memory, with a lifetime; only digests of the latest hundred are kept. */
export interface Tokens {
  create(): string;
  has(token: string): boolean;
  /** As `has`; the token is not valid any more afterwards. */
  take(token: string): boolean;
}

/** `lifetime` is seconds, `elapsed` gives monotonic milliseconds. */
export function createTokens(lifetime: number, elapsed: () => number): Tokens {
  const ends = new Map<string, number>();
  const has = (token: string): boolean => (ends.get(digest(token)) ?? 0) > elapsed();
  return {
    create() {
      const token = randomBytes(24).toString("base64url");
      const [oldest] = ends.keys();
      if (ends.size >= most && oldest !== undefined) ends.delete(oldest);
      ends.set(digest(token), elapsed() + lifetime * 1000);
      return token;
    },
    has,
    take(token) {
      const isGood = has(token);
      ends.delete(digest(token));
      return isGood;
    },
  };
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

/** @module Issues, verifies and refreshes session tokens. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { appendFile, readFile } from "node:fs/promises";
import { writeAtomically } from "../../files/atomic-write.ts";
import { objectIn } from "../../model/json.ts";
import type { Parts } from "../control/record-state.ts";
import type { StorageTrouble } from "../model/service-error.ts";

export interface TokenPair {
  readonly token: string;
  readonly refreshToken: string;
}

/** Lifetimes are seconds. Sessions of this process expire by `elapsed` (monotonic ms), those of earlier ones by `now`. */
export interface SessionSettings
  extends Pick<Parts["settings"], "sessionLifetime" | "refreshLifetime" | "now" | "elapsed"> {
  readonly key: Buffer;
  readonly file: string;
  readonly trouble: StorageTrouble;
}

/** Signed tokens that expire, and refresh tokens that are valid once: the ids of used and revoked ones are kept. */
export interface Sessions {
  open(user: string): TokenPair;
  /** Marks a refresh token as used and returns its user; undefined for an unknown, used or expired one. Session tokens stay valid. */
  spend(refreshToken: string): Promise<string | undefined>;
  userOf(token: string): string | undefined;
}

export async function openSessions(settings: SessionSettings): Promise<Sessions> {
  const run = randomBytes(6).toString("base64url");
  const refreshKey = mac("refresh", settings.key);
  const spent = new Map<string, Lease>();
  /** Lines that the file lacks: on a full disk they wait for the next one. */
  let unwritten = "";
  let verified = new Map<string, Lease>();

  const lease = (user: string, lifetime: number): Lease => ({
    user,
    expires: settings.now() + lifetime * 1000,
    run,
    due: settings.elapsed() + lifetime * 1000,
    id: randomBytes(9).toString("base64url"),
  });
  const isOver = ({ expires, run: of, due }: Lease): boolean =>
    of === run ? due <= settings.elapsed() : expires <= settings.now();

  const saved = await readFile(settings.file, "utf8").catch(() => "");
  const known = saved.split("\n").flatMap((line) => leaseOf(objectIn(line)) ?? []);
  for (const claims of known) if (!isOver(claims)) spent.set(claims.id, claims);
  if (spent.size < known.length) {
    const text = [...spent.values()].map((claims) => `${JSON.stringify(claims)}\n`).join("");
    await writeAtomically(settings.file, text).catch(settings.trouble.failed);
  }

  return {
    open(user) {
      const issued = Math.floor(settings.now() / 1000);
      return {
        token: sign(lease(user, settings.sessionLifetime), issued, settings.key),
        refreshToken: sign(lease(user, settings.refreshLifetime), issued, refreshKey),
      };
    },
    async spend(refreshToken) {
      const claims = verify(refreshToken, refreshKey);
      if (claims === undefined || isOver(claims) || spent.has(claims.id)) return undefined;
      spent.set(claims.id, claims);
      const text = `${unwritten}${JSON.stringify(claims)}\n`;
      unwritten = "";
      await appendFile(settings.file, text, { mode: 0o600 }).catch((error: unknown) => {
        settings.trouble.failed(error);
        unwritten = `\n${text}${unwritten}`;
      });
      return claims.user;
    },
    userOf(token) {
      const claims = verified.get(token) ?? verify(token, settings.key);
      if (claims === undefined || isOver(claims)) return undefined;
      if (verified.size >= 1000) verified = new Map();
      verified.set(token, claims);
      return claims.user;
    },
  };
}

interface Lease {
  readonly id: string;
  readonly user: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  /** Id of the issuing process, and the expiry on its monotonic clock. */
  readonly run: string;
  readonly due: number;
}

const header = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url");

function sign({ id, user, expires, run, due }: Lease, issued: number, key: Buffer): string {
  const claims = { sub: user, userID: user, iat: issued, exp: expires / 1000, jti: id, run, due };
  const body = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${body}.${mac(body, key).toString("base64url")}`;
}

function verify(token: string, key: Buffer): Lease | undefined {
  const cut = token.lastIndexOf(".");
  if (cut < 0 || token.length > 4096 || !token.startsWith(`${header}.`)) return undefined;
  const expected = mac(token.slice(0, cut), key);
  const given = Buffer.from(token.slice(cut + 1), "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const claims = objectIn(Buffer.from(token.slice(header.length + 1, cut), "base64url").toString());
  return (
    claims &&
    leaseOf({ ...claims, id: claims["jti"], user: claims["sub"], expires: Number(claims["exp"]) * 1000 })
  );
}

function mac(text: string, key: Buffer): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

/** The lease that a token or a line of the file says; undefined for a line that was cut short. */
function leaseOf(said: { readonly [key: string]: unknown } = {}): Lease | undefined {
  const { id, user, expires, run, due } = said;
  if (typeof id !== "string" || typeof user !== "string" || typeof expires !== "number") return undefined;
  return typeof run === "string" && typeof due === "number" ? { id, user, expires, run, due } : undefined;
}

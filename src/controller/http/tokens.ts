/** @module Makes, checks and revokes bearer tokens, and decides by token, address and rate if a request is answered. */
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { type Selectable, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import { addAudit } from "../database/audit.ts";
import { type Database, databaseClock, type Tx } from "../database/connect.ts";
import { type Role, roles, type Schema } from "../database/schema.ts";
import { digestOf } from "../digest.ts";
import { isInNetworks, plainAddress } from "../networks.ts";
import { Problem } from "./problem.ts";

/** The sender of a request, by its token; a tenant that is null stands for all. */
export interface Caller extends Pick<Selectable<Schema["tokens"]>, "id" | "role" | "tenant"> {
  readonly actor: string;
}

/** True if a role allows what another one is needed for. */
export function allows(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** The terms of a token. `tenant` null means all of them; without `expiresAt` it never expires. */
export interface TokenRequest extends Omit<Caller, "id"> {
  readonly name: string;
  readonly expiresAt?: Date;
}

/** Makes a token that counts when the transaction ends. Its text is nowhere else: it is shown once. */
export async function addToken(
  tx: Tx,
  { name, role, tenant, expiresAt, actor }: TokenRequest,
): Promise<{ readonly id: string; readonly token: string }> {
  const token = `gft_${randomBytes(32).toString("base64url")}`;
  const values = { name, role, tenant, hash: hashOf(token), expires_at: expiresAt ?? null };
  const row = tx.insertInto("tokens").values(values).returning("id");
  const { id } = await row.executeTakeFirstOrThrow();
  const details = { id, role, expiresAt: expiresAt?.toISOString() ?? null };
  await addAudit(tx, { tenant, actor, action: "create token", subject: name, details });
  return { id, token };
}

/** Ends a token at once; false if there is no valid one of this id. */
export async function revokeToken(
  database: Database,
  { id, actor }: { readonly id: string; readonly actor: string },
): Promise<boolean> {
  return database.transaction().execute(async (tx) => {
    const update = tx.updateTable("tokens").set({ revoked_at: databaseClock }).where("id", "=", id);
    const row = await update.where("revoked_at", "is", null).returningAll().executeTakeFirst();
    if (row === undefined) return false;
    const { name, tenant } = row;
    await addAudit(tx, { tenant, actor, action: "revoke token", subject: name, details: { id } });
    return true;
  });
}

/** Resolves with the caller of a token by its hash; undefined if it is unknown, expired or revoked, which is not told apart. */
async function checkToken(database: Database, hash: string): Promise<Caller | undefined> {
  const row = await inForce(database).where("hash", "=", hash).executeTakeFirst();
  return row && { id: row.id, actor: `token ${row.name}`, role: row.role, tenant: row.tenant };
}

export async function isInForce(database: Database, id: string): Promise<boolean> {
  return (await inForce(database).where("id", "=", id).executeTakeFirst()) !== undefined;
}

function inForce(database: Database): SelectQueryBuilder<Schema, "tokens", Selectable<Schema["tokens"]>> {
  const counts = sql<SqlBool>`revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())`;
  return database.selectFrom("tokens").selectAll().where(counts);
}

/** The token of a request; undefined if it has none. `basic` takes it from a password too. */
function tokenIn(authorization: string, basic: boolean): string | undefined {
  const [, scheme = "", value = ""] = /^(Bearer|Basic) +([\w.~+/=-]+)$/i.exec(authorization) ?? [];
  if (value.length > 512) return undefined;
  if (scheme.toLowerCase() === "bearer") return value;
  if (!basic || scheme === "") return undefined;
  const pair = Buffer.from(value, "base64").toString("utf8");
  return pair.slice(pair.indexOf(":") + 1) || undefined;
}

export function hashOf(token: string): string {
  return digestOf(token).toString("hex");
}

export interface Bindings {
  readonly incoming?: IncomingMessage;
}

const anybody: Caller = { id: "", actor: "a webhook", role: "viewer", tenant: "" };

/** The callers that an endpoint lets in. */
export interface Access {
  /** The least role. `public` asks for no token. */
  readonly role: Role | "public";
  /** `all`: only for tokens that are not of one tenant. */
  readonly scope?: "all";
  /** True if a user name with the token as its password signs in too, as clients of Terraform's protocol do. */
  readonly basic?: true;
}

/** Returns the function that lets a request in to an endpoint: it resolves with the caller, or throws a Problem. */
export function guard(
  database: Database,
  rate: Rate,
): (access: Access, headers: Headers, peer: string) => Promise<Caller> {
  const take = rateLimit(rate);
  const isListed = listTokens(database);
  const limit = (key: string, count?: 0): void => {
    const seconds = take(key, count);
    if (seconds > 0) throw new Problem("too-many-requests", undefined, { "retry-after": String(seconds) });
  };
  return async ({ role, scope, basic = false }, headers, peer) => {
    if (role === "public") limit(`open ${peer}`);
    if (role === "public") return anybody;
    const token = tokenIn(headers.get("authorization") ?? "", basic);
    const challenge = { "www-authenticate": basic ? 'Basic realm="graphform"' : "Bearer" };
    if (token === undefined) throw new Problem("no-token", undefined, challenge);
    const hash = hashOf(token);
    // An address that guesses asks nothing of the database. Tokens of others at the same address go on, those that sign in first too.
    if (take(`address ${peer}`, 0) > 0 && !(await isListed(hash))) limit(`address ${peer}`, 0);
    limit(`token ${hash}`);
    const caller = await checkToken(database, hash);
    if (caller === undefined) {
      limit(`address ${peer}`);
      throw new Problem("invalid-token", undefined, challenge);
    }
    if (!allows(caller.role, role)) throw new Problem("forbidden", `it takes the role ${role}`);
    if (scope === "all" && caller.tenant !== null)
      throw new Problem("forbidden", "it takes a token that is not of one tenant");
    return caller;
  };
}

/** Returns a function that says if a token counts, by a list that is a second old at most, however often it is asked. */
function listTokens(database: Database): (hash: string) => Promise<boolean> {
  let hashes = Promise.resolve(new Set<string>());
  let readAt = Number.NEGATIVE_INFINITY;
  const read = async (): Promise<Set<string>> =>
    new Set((await inForce(database).execute()).map(({ hash }) => hash));
  return async (hash) => {
    if (performance.now() - readAt > 1_000) [readAt, hashes] = [performance.now(), read()];
    return (await hashes).has(hash);
  };
}

/** Requests a second, and as many as may come at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Buckets that are remembered; beyond it the oldest is forgotten. */
const most = 10_000;

/** Returns a function that takes one, or none, from the bucket of a key, which fills steadily: 0, or the seconds after which there is one again. */
export function rateLimit(
  { perSecond, burst }: Rate,
  now: () => number = () => performance.now(),
): (key: string, count?: 0 | 1) => number {
  const buckets = new Map<string, { left: number; at: number }>();
  return (key, count = 1) => {
    const at = now();
    const known = buckets.get(key) ?? { left: burst, at };
    const left = Math.min(burst, known.left + ((at - known.at) / 1000) * perSecond);
    buckets.delete(key);
    buckets.set(key, { left: left < 1 ? left : left - count, at });
    const [oldest] = buckets.keys();
    if (buckets.size > most && oldest !== undefined) buckets.delete(oldest);
    return left < 1 ? Math.ceil((1 - left) / perSecond) : 0;
  };
}

/** The address of a request; a trusted proxy says it for others. Throws a Problem unless the way is this machine's, or encrypted. */
export function peerOf({ incoming }: Bindings, headers: Headers, trusted: readonly string[]): string {
  const socket = incoming?.socket;
  // Without a server in between, the request is of this process; a socket that is a file has no address.
  if (socket?.remoteAddress === undefined) return "local";
  const address = plainAddress(socket.remoteAddress);
  const [way, client] = [headers.get("x-forwarded-proto"), headers.get("x-forwarded-for")];
  // Requests of this machine may come past its own proxy.
  if (isInNetworks(address, trusted) && (way ?? client) !== null) {
    if (way !== "https") throw new Problem("not-encrypted");
    return client?.split(",").at(-1)?.trim() || address;
  }
  const isSafe = socket instanceof TLSSocket || isInNetworks(address, ["127.0.0.0/8", "::1"]);
  if (!isSafe) throw new Problem("not-encrypted");
  return address;
}

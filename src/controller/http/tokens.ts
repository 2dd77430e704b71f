/** @module Makes, checks and revokes bearer tokens. The database has their hashes alone. */
import { randomBytes } from "node:crypto";
import { type Selectable, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import { addAudit } from "../database/audit.ts";
import type { Database } from "../database/connect.ts";
import type { Role, Schema } from "../database/schema.ts";
import { digestOf } from "../digest.ts";

/** Whoever sends a request. */
export interface Caller {
  /** Id of the token. */
  readonly id: string;
  readonly actor: string;
  readonly role: Role;
  /** Null: every tenant. */
  readonly tenant: string | null;
}

/** Roles in their order: each may do what those before it may. */
export const roles: readonly Role[] = ["viewer", "planner", "approver", "admin"];

/** True if a role allows what another one is needed for. */
export function allows(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** The terms of a token. `tenant` null means all of them; without `expiresAt` it never expires. */
export interface TokenRequest extends Omit<Caller, "id"> {
  readonly name: string;
  readonly expiresAt?: Date;
}

/** Makes a token. Its text is nowhere else: it is shown once. */
export async function createToken(
  database: Database,
  { name, role, tenant, expiresAt, actor }: TokenRequest,
): Promise<{ readonly id: string; readonly token: string }> {
  const token = `gft_${randomBytes(32).toString("base64url")}`;
  return database.transaction().execute(async (tx) => {
    const { id } = await tx
      .insertInto("tokens")
      .values({ name, role, tenant, hash: hashOf(token), expires_at: expiresAt ?? null })
      .returning("id")
      .executeTakeFirstOrThrow();
    const details = { id, role, expiresAt: expiresAt?.toISOString() ?? null };
    await addAudit(tx, { tenant, actor, action: "create token", subject: name, details });
    return { id, token };
  });
}

/** Ends a token at once; false if there is none of this id that counts. */
export async function revokeToken(
  database: Database,
  { id, actor }: { readonly id: string; readonly actor: string },
): Promise<boolean> {
  return database.transaction().execute(async (tx) => {
    const row = await tx
      .updateTable("tokens")
      .set({ revoked_at: new Date() })
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .returning(["name", "tenant"])
      .executeTakeFirst();
    if (row === undefined) return false;
    const { name, tenant } = row;
    await addAudit(tx, { tenant, actor, action: "revoke token", subject: name, details: { id } });
    return true;
  });
}

/** Resolves with the caller of a token; undefined if it is unknown, expired or revoked, which is not told apart. */
export async function checkToken(database: Database, token: string): Promise<Caller | undefined> {
  const row = await inForce(database).where("hash", "=", hashOf(token)).executeTakeFirst();
  return row && { id: row.id, actor: `token ${row.name}`, role: row.role, tenant: row.tenant };
}

/** True if the token of an id is neither expired nor revoked. */
export async function isInForce(database: Database, id: string): Promise<boolean> {
  return (await inForce(database).where("id", "=", id).executeTakeFirst()) !== undefined;
}

function inForce(database: Database): SelectQueryBuilder<Schema, "tokens", Selectable<Schema["tokens"]>> {
  return database
    .selectFrom("tokens")
    .selectAll()
    .where("revoked_at", "is", null)
    .where(sql<SqlBool>`(expires_at IS NULL OR expires_at > clock_timestamp())`);
}

/** The token of a request; undefined if it has none. `basic` takes it from a password too. */
export function tokenIn(authorization: string, basic: boolean): string | undefined {
  const [, scheme = "", value = ""] = /^(Bearer|Basic) +([\w.~+/=-]{1,512})$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() === "bearer") return value;
  if (!basic || scheme === "") return undefined;
  const pair = Buffer.from(value, "base64").toString("utf8");
  return pair.slice(pair.indexOf(":") + 1) || undefined;
}

/** The name of a token in the database. */
export function hashOf(token: string): string {
  return digestOf(token).toString("hex");
}

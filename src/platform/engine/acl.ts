/** @module Builds the ACL users of a database: operator, tenant and additional users. */
import { createHash } from "node:crypto";
import { isRefusal, type Login, talk } from "./connection.ts";
import type { DatabaseSpec, DatabaseUser } from "./database.ts";
import { EngineError } from "./engine-error.ts";

/** The platform's own user; replicas sign in to their primary with it, too. */
export const operator: string = "graphform-platform";

/** A user in the server's terms. */
export interface AclUser {
  readonly name: string;
  /** Arguments of `ACL SETUSER name`; they begin with `reset`, so they define the user completely. */
  readonly rules: readonly string[];
}

/** The tenant's commands, on every key; CONFIG and ACL are not among them. */
const tenantCommands =
  `INFO CLIENT DBSIZE PING HELLO AUTH ROLE SELECT ECHO MEMORY SLOWLOG MONITOR MODULE|LIST READONLY
  RESTORE DUMP DEL EXISTS UNLINK TYPE FLUSHALL TOUCH EXPIRE PEXPIREAT TTL PTTL EXPIRETIME RENAME RENAMENX SCAN
  MULTI EXEC DISCARD WATCH UNWATCH WAIT WAITAOF BGREWRITEAOF
  GRAPH.INFO GRAPH.LIST GRAPH.QUERY GRAPH.RO_QUERY GRAPH.EXPLAIN GRAPH.PROFILE GRAPH.DELETE GRAPH.CONSTRAINT
  GRAPH.SLOWLOG GRAPH.BULK GRAPH.CONFIG GRAPH.COPY GRAPH.MEMORY GRAPH.UDF`.split(/\s+/);

/** The tenant's rules, as an ACL shows them. */
export const tenantRules: readonly string[] = ["~*", "&*", ...tenantCommands.map((command) => `+${command}`)];

/** SHA-256 of a password in hex, the form in which the server stores passwords. */
export function hashOf(password: string): string {
  return createHash("sha256").update(password).digest("hex");
}

/** The tenant's user. */
export function tenant(user: string, password: string): AclUser {
  return { name: user, rules: ["reset", "on", `#${hashOf(password)}`, ...tenantRules] };
}

/** Single rules of an ACL: separated by white space; single quotes group and are removed. */
export function splitRules(acl: string): readonly string[] {
  return (acl.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((rule) => rule.replaceAll("'", ""));
}

/** An additional user. Throws EngineError for a malformed hash. */
export function additional({ username, passwordHash, rules }: DatabaseUser): AclUser {
  if (!/^[0-9a-f]{64}$/.test(passwordHash)) {
    throw new EngineError("user-refused", `user ${username}: the password's hash must be SHA-256 in hex`);
  }
  return { name: username, rules: ["reset", "on", `#${passwordHash}`, ...splitRules(rules)] };
}

/** Every user of a database. The built-in `default` user is off unless it is the tenant. */
export function usersOf(spec: DatabaseSpec, secret: string): readonly AclUser[] {
  const builtIn = spec.user === "default" ? [] : [{ name: "default", rules: ["reset", "off"] }];
  return [
    { name: operator, rules: ["reset", "on", `#${hashOf(secret)}`, "~*", "&*", "+@all"] },
    ...builtIn,
    tenant(spec.user, spec.password),
    ...(spec.users ?? []).map(additional),
  ];
}

/** True for names that `setUser` and `removeUser` refuse. */
export function isReserved(name: string, spec: Pick<DatabaseSpec, "user">): boolean {
  return name === operator || name === "default" || name === spec.user;
}

/** The wanted state of a user; without rules it is removed. */
export interface UserChange {
  readonly name: string;
  readonly rules: AclUser["rules"] | undefined;
}

/** Applies a user to one node. Rejects with EngineError for a rule that the server refuses. */
export async function putUser(login: Login, { name, rules }: UserChange): Promise<void> {
  const words = rules === undefined ? ["DELUSER", name] : ["SETUSER", name, ...rules];
  try {
    await talk(login, (ask) => ask("ACL", ...words));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw new EngineError("user-refused", `user ${name}: ${error.message.replace(/^ERR /, "")}`);
  }
}

/** The change that restores an additional user as the spec has it. */
export function changeTo(spec: DatabaseSpec, username: string): UserChange {
  const user = spec.users?.find((candidate) => candidate.username === username);
  return user === undefined ? { name: username, rules: undefined } : additional(user);
}

/** Throws EngineError for a reserved name. */
export function refuseReserved(username: string, spec: DatabaseSpec): void {
  if (isReserved(username, spec))
    throw new EngineError("user-refused", `user ${username} belongs to the database itself`);
}

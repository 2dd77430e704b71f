/** @module Builds the ACL users of a database: operator, tenant and additional users. */
import { createHash } from "node:crypto";
import { isErrorReply, type Login, talk } from "./connection.ts";
import { type DatabaseSpec, type DatabaseUser, EngineError } from "./spec.ts";

/** The platform's own user; replicas sign in to their primary with it, too. */
export const operator: string = "graphform-platform";

/** The tenant's commands, on every key; CONFIG and ACL are not among them. */
const tenantCommands =
  `INFO CLIENT DBSIZE PING HELLO AUTH ROLE SELECT ECHO MEMORY SLOWLOG MONITOR MODULE|LIST READONLY
  RESTORE DUMP DEL EXISTS UNLINK TYPE FLUSHALL TOUCH EXPIRE PEXPIREAT TTL PTTL EXPIRETIME RENAME RENAMENX SCAN
  MULTI EXEC DISCARD WATCH UNWATCH WAIT WAITAOF BGREWRITEAOF
  GRAPH.INFO GRAPH.LIST GRAPH.QUERY GRAPH.RO_QUERY GRAPH.EXPLAIN GRAPH.PROFILE GRAPH.DELETE GRAPH.CONSTRAINT
  GRAPH.SLOWLOG GRAPH.BULK GRAPH.CONFIG GRAPH.COPY GRAPH.MEMORY GRAPH.UDF`.split(/\s+/);

export const tenantRules: readonly string[] = ["~*", "&*", ...tenantCommands.map((command) => `+${command}`)];

export function hashOf(password: string): string {
  return createHash("sha256").update(password).digest("hex");
}

/** Single rules of an ACL: separated by white space; single quotes group and are removed. */
export function splitRules(acl: string): readonly string[] {
  return (acl.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((rule) => rule.replaceAll("'", ""));
}

/** Name and complete rules of every user of a database. The built-in `default` user is off unless it is the tenant. */
export function usersOf(spec: DatabaseSpec, secret: string): readonly (readonly string[])[] {
  const builtIn = spec.user === "default" ? [] : [["default", "reset", "off"]];
  return [
    [operator, ...withHash(hashOf(secret)), "~*", "&*", "+@all"],
    ...builtIn,
    [spec.user, ...withHash(hashOf(spec.password)), ...tenantRules],
    ...(spec.users ?? []).map((user) => [user.username, ...rulesOf(user)]),
  ];
}

/** True for names of the database itself, which no additional user may have. */
export function isReserved(name: string, spec: Pick<DatabaseSpec, "user">): boolean {
  return name === operator || name === "default" || name === spec.user;
}

/** Creates or replaces a user on one node, or removes it. Throws EngineError `user-refused` for a rule that the server refuses. */
export async function putUser(login: Login, name: string, user: DatabaseUser | undefined): Promise<void> {
  const words = user === undefined ? ["DELUSER", name] : ["SETUSER", name, ...rulesOf(user)];
  try {
    await talk(login, (ask) => ask("ACL", ...words));
  } catch (error) {
    if (!isErrorReply(error)) throw error;
    throw new EngineError("user-refused", `user ${name}: ${error.message.replace(/^ERR /, "")}`);
  }
}

function rulesOf({ username, passwordHash, acl }: DatabaseUser): readonly string[] {
  if (!/^[0-9a-f]{64}$/.test(passwordHash))
    throw new EngineError("user-refused", `user ${username}: the password's hash must be SHA-256 in hex`);
  return [...withHash(passwordHash), ...splitRules(acl)];
}

/** `reset` first: the rules then define the user completely. */
function withHash(hash: string): readonly string[] {
  return ["reset", "on", `#${hash}`];
}

import { createHash } from "node:crypto";
import type { DatabaseSpec, DatabaseUser } from "./database.ts";
import { EngineError } from "./engine-error.ts";

/** The user that the platform itself signs in as, and that replicas sign in to their primary as. */
export const operator: string = "graphform-platform";

/** A user as the server is told of it. */
export interface AclUser {
  readonly name: string;
  /** Arguments of `ACL SETUSER name`; they say everything about the user. */
  readonly rules: readonly string[];
}

/** What the tenant may run on every key: neither CONFIG nor ACL. */
const tenantCommands =
  `INFO CLIENT DBSIZE PING HELLO AUTH ROLE SELECT ECHO MEMORY SLOWLOG MONITOR MODULE|LIST READONLY
  RESTORE DUMP DEL EXISTS UNLINK TYPE FLUSHALL TOUCH EXPIRE PEXPIREAT TTL PTTL EXPIRETIME RENAME RENAMENX SCAN
  MULTI EXEC DISCARD WATCH UNWATCH WAIT WAITAOF BGREWRITEAOF
  GRAPH.INFO GRAPH.LIST GRAPH.QUERY GRAPH.RO_QUERY GRAPH.EXPLAIN GRAPH.PROFILE GRAPH.DELETE GRAPH.CONSTRAINT
  GRAPH.SLOWLOG GRAPH.BULK GRAPH.CONFIG GRAPH.COPY GRAPH.MEMORY GRAPH.UDF`.split(/\s+/);

/** The tenant's rules, as its ACL would have them. */
export const tenantRules: readonly string[] = ["~*", "&*", ...tenantCommands.map((command) => `+${command}`)];

/** SHA-256 in hex, the form in which the server keeps passwords. */
export function hashOf(password: string): string {
  return createHash("sha256").update(password).digest("hex");
}

/** The tenant's user with this password. */
export function tenant(user: string, password: string): AclUser {
  return { name: user, rules: ["reset", "on", `#${hashOf(password)}`, ...tenantRules] };
}

/** Single rules of an ACL as the server gets them: white space separates, single quotes group and are taken off. */
export function splitRules(acl: string): readonly string[] {
  return (acl.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((rule) => rule.replaceAll("'", ""));
}

/** A user besides the tenant. Throws EngineError for a hash that is none. */
export function additional({ username, passwordHash, rules }: DatabaseUser): AclUser {
  if (!/^[0-9a-f]{64}$/.test(passwordHash)) {
    throw new EngineError("engine-refused", `user ${username}: the password's hash must be SHA-256 in hex`);
  }
  return { name: username, rules: ["reset", "on", `#${passwordHash}`, ...splitRules(rules)] };
}

/** Every user of a database. The built-in default user is off unless it is the tenant. */
export function usersOf(spec: DatabaseSpec, secret: string): readonly AclUser[] {
  const builtIn = spec.user === "default" ? [] : [{ name: "default", rules: ["reset", "off"] }];
  return [
    { name: operator, rules: ["reset", "on", `#${hashOf(secret)}`, "~*", "&*", "+@all"] },
    ...builtIn,
    tenant(spec.user, spec.password),
    ...(spec.users ?? []).map(additional),
  ];
}

/** True for names that `setUser` and `removeUser` must not touch. */
export function isReserved(name: string, spec: Pick<DatabaseSpec, "user">): boolean {
  return name === operator || name === "default" || name === spec.user;
}

/** @module Creates, changes or removes a user on one node. */
import { type AclUser, additional, isReserved } from "./acl.ts";
import { isRefusal, type Login, talk } from "./connection.ts";
import type { DatabaseSpec } from "./database.ts";
import { EngineError } from "./engine-error.ts";

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

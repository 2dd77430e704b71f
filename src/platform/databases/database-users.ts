import type { Database } from "../engine/index.ts";
import { EngineError } from "../engine/index.ts";
import type { UserRecord } from "../model/records.ts";

/** A user that the database does not take, in the database's words. */
export interface RefusedUser {
  readonly username: string;
  readonly reason: string;
}

/** The additional users of one running database. */
export interface DatabaseUsers {
  /** True where exactly these users are in force; a refused one counts, since another attempt changes nothing. */
  have(users: readonly UserRecord[]): boolean;
  /**
   * Puts exactly these users in force, after what was asked for before. Resolves with those that the database refuses; rejects
   * when it does not answer.
   */
  put(users: readonly UserRecord[]): Promise<readonly RefusedUser[]>;
}

/** Keeps account of a database's users; `started` are those that it was started with. */
export function databaseUsers(
  database: Pick<Database, "setUser" | "removeUser">,
  started: readonly UserRecord[],
): DatabaseUsers {
  /** By name; undefined where nobody knows, since an attempt was not answered. */
  const inForce = new Map<string, UserRecord | undefined>(started.map((user) => [user.username, user]));
  let last: Promise<unknown> = Promise.resolve();

  const putNow = async (users: readonly UserRecord[]): Promise<readonly RefusedUser[]> => {
    const names = new Set(users.map(({ username }) => username));
    for (const name of [...inForce.keys()].filter((known) => !names.has(known))) {
      await database.removeUser(name);
      inForce.delete(name);
    }
    const refused: RefusedUser[] = [];
    for (const user of users) {
      const { username, passwordHash, acl } = user;
      if (inForce.get(username) === user) continue;
      inForce.set(username, undefined);
      try {
        await database.setUser({ username, passwordHash, rules: acl });
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refused.push({ username, reason: error.message });
      }
      inForce.set(username, user);
    }
    return refused;
  };

  return {
    have: (users) =>
      users.length === inForce.size && users.every((user) => inForce.get(user.username) === user),
    put(users) {
      const next = last.catch(() => undefined).then(() => putNow(users));
      last = next;
      return next;
    },
  };
}

/** True for an error by which the engine says that it does not want to, not that it cannot. */
export function isRefusal(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code === "engine-refused";
}

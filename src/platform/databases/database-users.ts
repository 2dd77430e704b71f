/** @module Applies the additional users of an instance to its running database. */
import type { Database } from "../engine/index.ts";
import { EngineError } from "../engine/index.ts";
import type { UserRecord } from "../model/records.ts";

/** A user that the database refuses, with the database's reason. */
export interface RefusedUser {
  readonly username: string;
  readonly reason: string;
}

/** The additional users of one running database. */
export interface DatabaseUsers {
  /** True where the database has exactly these users; refused ones count as applied, since another attempt changes nothing. */
  have(users: readonly UserRecord[]): boolean;
  /** Applies exactly these users, one call after another. Resolves with the refused ones; rejects where the database does not answer. */
  put(users: readonly UserRecord[]): Promise<readonly RefusedUser[]>;
}

/** Tracks the users of a database; `started` are the users that it was started with. */
export function databaseUsers(
  database: Pick<Database, "setUser" | "removeUser">,
  started: readonly UserRecord[],
): DatabaseUsers {
  /** By name; undefined where an attempt was not answered, so that the state is not known. */
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

/** True if the engine refuses a user; false for a failure, such as a full disk. */
export function isRefusal(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code === "user-refused";
}

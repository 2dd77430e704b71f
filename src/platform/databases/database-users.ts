/** @module Applies the additional users of an instance to its running database, and checks their rules in a temporary one. */

import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Database, type Engine, EngineError } from "../engine/index.ts";
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

/** A check of rules. Its database runs while checks are pending. */
export interface RuleCheck {
  /** Resolves for rules that the engine accepts; rejects with EngineError `user-refused` for others. */
  check(rules: string): Promise<void>;
  /** Ends the database, also one of an earlier platform process that was killed. */
  close(): Promise<void>;
}

const user = { username: "proof", passwordHash: createHash("sha256").update("proof").digest("hex") };

/** Creates a check whose database is stored beside the instances' databases, so that it is cleaned up with them. */
export function createRuleCheck(engine: Engine, folder: string, signal: AbortSignal): RuleCheck {
  const dir = join(folder, "rule-proof");
  let asking = 0;
  let database: Promise<Database> | undefined;
  let ended: Promise<void> = Promise.resolve();

  const end = (): Promise<void> => {
    database = undefined;
    ended = ended.then(() => engine.destroy(dir)).catch(() => undefined);
    return ended;
  };
  const start = async (): Promise<Database> => {
    await ended;
    const password = randomBytes(24).toString("base64url");
    return engine.start({ dir, user: "default", password, nodes: 1, parameters: {} }, signal);
  };

  return {
    async check(rules) {
      asking += 1;
      database ??= start();
      try {
        await (await database).setUser({ ...user, rules });
      } finally {
        asking -= 1;
        if (asking === 0) void end();
      }
    },
    close: end,
  };
}

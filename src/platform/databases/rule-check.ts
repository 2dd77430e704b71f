/** @module Checks ACL rules with the engine in a temporary, empty database. */
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Database, Engine } from "../engine/index.ts";

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

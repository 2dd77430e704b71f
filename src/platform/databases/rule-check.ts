import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Database, Engine } from "../engine/index.ts";

/** Asks the engine whether it takes rules for a user, on a database that holds nothing and lives as long as it is asked. */
export interface RuleCheck {
  /** Resolves where the engine takes the rules; rejects with EngineError `engine-refused` where it does not. */
  check(rules: string): Promise<void>;
  /** Ends the database; also one that a platform left behind that was killed. */
  close(): Promise<void>;
}

const user = { username: "proof", passwordHash: createHash("sha256").update("proof").digest("hex") };

/** Makes a proof whose database has its folder among the others, so that what ends those ends it, too. */
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

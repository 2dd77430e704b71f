/** @module Starts a database even if one of its additional users is refused. */
import {
  type Database,
  type DatabaseSpec,
  type Engine,
  EngineError,
  type StartOptions,
} from "../engine/index.ts";
import type { UserRecord } from "../model/records.ts";

/**
 * Starts a database with its users, or without them where that fails. Resolves with the users that it was started with. Rejects as
 * `Engine.start`, with the first error.
 */
export async function startWithUsers(
  engine: Engine,
  spec: DatabaseSpec,
  users: readonly UserRecord[],
  signal: AbortSignal,
  options: StartOptions = {},
): Promise<{ readonly database: Database; readonly users: readonly UserRecord[] }> {
  try {
    return { database: await engine.start(spec, signal, options), users };
  } catch (error) {
    if (users.length === 0 || !(error instanceof EngineError) || error.code !== "engine-start") throw error;
    const database = await engine.start({ ...spec, users: [] }, signal, options).catch(() => {
      throw error;
    });
    return { database, users: [] };
  }
}

import { setupEngine } from "../../src/platform/engine/setup/setup-engine.ts";

/** Global set-up of the tests: they run on real databases, and fail where no engine can be had. */
export async function setup(): Promise<void> {
  const found = await setupEngine();
  if (found.engine === undefined) throw new Error(`the tests need a database engine: ${found.reason}`);
}

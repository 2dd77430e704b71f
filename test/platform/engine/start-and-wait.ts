import type { DatabaseSpec } from "../../../src/platform/engine/database.ts";
import { findEngine } from "../../../src/platform/engine/find-engine.ts";

/** A platform in small: starts the database of the spec that it is sent, tells its nodes, and waits to be killed. */
process.on("message", async (spec: DatabaseSpec) => {
  const { engine } = await findEngine();
  const database = await engine?.start(spec);
  process.send?.(database?.nodes() ?? []);
});

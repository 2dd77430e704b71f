/** @module Loads the dialect of a service profile. */
import { defaultDialect } from "./default.ts";
import type { Dialect, DialectName } from "./dialect.ts";
import { falkordbCloud } from "./falkordb-cloud.ts";
import { readProfileFacts } from "./profile-facts.ts";

/** The dialect of a profile. Rejects where the profile's file is missing or incomplete. */
export async function loadDialect(name: DialectName = "default"): Promise<Dialect> {
  return name === "default" ? defaultDialect : falkordbCloud(await readProfileFacts(name));
}

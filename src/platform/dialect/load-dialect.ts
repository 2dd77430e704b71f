import { defaultDialect } from "./default.ts";
import type { Dialect, DialectName } from "./dialect.ts";
import { falkordbCloud } from "./falkordb-cloud.ts";
import { readProfileFacts } from "./profile-facts.ts";

/** The dialect of a profile. */
export async function loadDialect(name: DialectName = "default"): Promise<Dialect> {
  return name === "default" ? defaultDialect : falkordbCloud(await readProfileFacts(name));
}

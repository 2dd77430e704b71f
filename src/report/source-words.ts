/** @module Names the sources of observed values. */
import type { Source } from "../model/observed.ts";

/** Words for each source of a value, after a count: `49 read from the service`. */
export const sourceWords: { readonly [source in Source]: string } = {
  probed: "read from the database",
  described: "read from the service",
  echoed: "echoed back",
  recorded: "remembered",
};

/** A word for a source behind a value: ` (remembered)`. Empty for what the service describes, and where the source is not known. */
export function sourceNote(source: Source | undefined): string {
  if (source === undefined || source === "described") return "";
  return ` (${source === "recorded" ? "remembered" : source})`;
}

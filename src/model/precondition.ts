import type { Json } from "./json.ts";
import { stableJson } from "./json.ts";
import type { Live } from "./observed.ts";

/**
 * The text whose digest a step's `precondition` is: exactly the observed values that its decision used.
 * Values that only the state knows are left out: the service cannot change them behind our back.
 */
export function preconditionText(live: Live | undefined, checks: readonly string[]): string {
  if (live === undefined) return stableJson({ there: false });
  const values = checks.map((path): [string, Json] => {
    const seen = live.spec[path];
    return [path, seen === undefined || seen.source === "recorded" ? null : seen.value];
  });
  return stableJson({ there: true, id: live.id, values: Object.fromEntries(values) });
}

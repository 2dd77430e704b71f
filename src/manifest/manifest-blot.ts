import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import { type Blot, blotFor } from "./excerpt.ts";
import { secretPaths } from "./shape.ts";
import type { Parsed } from "./source.ts";
import { mapOf } from "./unresolved.ts";

/**
 * Hides what a source line of this manifest must not show: the values of secret fields, secrets that are known,
 * and those that somebody wrote where only their source belongs.
 */
export function manifestBlot(parsed: Parsed, kinds: readonly Kind[], texts: Iterable<string> = []): Blot {
  const fields = kinds.flatMap((kind) => [...secretPaths(kind.schema)]);
  const names = fields.map((path) => path.slice(path.lastIndexOf(".") + 1));
  return blotFor([...new Set(names)], [...texts, ...writtenOut(mapOf(parsed.value)["secrets"])]);
}

const sources: ReadonlySet<string> = new Set(["env", "file", "command"]);

function writtenOut(value: Json | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(writtenOut);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => (sources.has(key) ? [] : writtenOut(inner)));
}

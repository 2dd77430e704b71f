import { aclRules } from "../model/acl.ts";
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import { type Blot, blotFor } from "./blot.ts";
import { secretVariables, textOn } from "./secret-variables.ts";
import { leafPaths, secretPaths } from "./shape.ts";
import type { Parsed } from "./source.ts";
import { mapOf } from "./unresolved.ts";

/**
 * Hides what a source line of this manifest must not show: the values of secret fields, secrets that are known,
 * passwords in access lists, and those that somebody wrote where only their source belongs.
 */
export function manifestBlot(parsed: Parsed, kinds: readonly Kind[], texts: Iterable<string> = []): Blot {
  const secret = kinds.flatMap((kind) => [...secretPaths(kind.schema)]);
  const lists = kinds.flatMap(listPaths);
  const manifest = mapOf(parsed.value);
  const written = kinds.flatMap((kind) => inLists(manifest, kind));
  return blotFor({ secret: namesOf(secret), lists: namesOf(lists) }, [
    ...texts,
    ...writtenOut(manifest["secrets"]),
    ...inVariables(manifest, kinds),
    ...written,
  ]);
}

function namesOf(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.map((path) => path.slice(path.lastIndexOf(".") + 1)))];
}

function listPaths({ schema }: Kind): readonly string[] {
  return [...leafPaths(schema)].flatMap(([path, field]) => (field["x-compare"] === "acl" ? [path] : []));
}

/** What stands in access lists and is, or may be, a password. */
function inLists(manifest: { readonly [key: string]: Json }, kind: Kind): readonly string[] {
  const bodies = [mapOf(manifest["defaults"])[kind.name], ...Object.values(mapOf(manifest[kind.name]))];
  return listPaths(kind).flatMap((path) =>
    bodies.flatMap((body) =>
      aclRules(textOn(mapOf(body), path)?.text ?? "").flatMap(({ is, text }) =>
        is === "credential" ? [text.slice(1)] : is === "other" ? [text] : [],
      ),
    ),
  );
}

/** What is declared of variables that secret fields are made of, whether or not a value of theirs is right. */
function inVariables(manifest: { readonly [key: string]: Json }, kinds: readonly Kind[]): readonly string[] {
  const declared = mapOf(manifest["variables"]);
  return [...secretVariables(manifest, kinds).part].flatMap((name) => {
    const { default: fallback, allowed } = mapOf(declared[name]);
    return [...writtenOut(fallback), ...writtenOut(allowed)];
  });
}

const sources: ReadonlySet<string> = new Set(["env", "file", "command"]);

function writtenOut(value: Json | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(writtenOut);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => (sources.has(key) ? [] : writtenOut(inner)));
}

/** @module Collects the secrets of a manifest that its problems must not show. */
import { aclRules } from "../../model/acl.ts";
import type { Json } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";
import type { Kind } from "../../model/kind.ts";
import { loginsIn } from "../../model/login.ts";
import { leafPaths, secretPaths } from "../schema/shape.ts";
import { secretVariables, textOn } from "../secret-variables.ts";
import type { Parsed } from "../source.ts";
import { mapOf } from "../unresolved.ts";
import { type Redactor, redactorFor } from "./redactor.ts";
import { stateSecrets, withoutStateSecrets } from "./state-secrets.ts";

/**
 * Makes a redactor for one manifest. It masks the values of secret fields, known secrets, passwords in access lists, and
 * secrets written in place of their source.
 */
export function manifestRedactor(
  parsed: Parsed,
  kinds: readonly Kind[],
  texts: Iterable<string> = [],
): Redactor {
  const secret = kinds.flatMap((kind) => [...secretPaths(kind.schema)]);
  const lists = kinds.flatMap(listPaths);
  const manifest = mapOf(parsed.value);
  const written = kinds.flatMap((kind) => inLists(manifest, kind));
  const redactor = redactorFor({ secret: namesOf(secret), lists: namesOf(lists) }, [
    ...texts,
    ...writtenOut(manifest["secrets"]),
    ...inVariables(manifest, kinds),
    ...stateSecrets(manifest["state"] ?? null),
    ...loginsOf(parsed.value ?? null),
    ...written,
  ]);
  return { ...redactor, blanked: withoutStateSecrets };
}

function namesOf(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.map((path) => path.slice(path.lastIndexOf(".") + 1)))];
}

function listPaths({ schema }: Kind): readonly string[] {
  return [...leafPaths(schema)].flatMap(([path, field]) => (field["x-compare"] === "acl" ? [path] : []));
}

/** Credentials in any text of a manifest, its keys included: an address may stand anywhere by mistake. */
function loginsOf(value: Json): readonly string[] {
  if (typeof value === "string") return loginsIn(value);
  if (Array.isArray(value)) return value.flatMap(loginsOf);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [...loginsIn(key), ...loginsOf(inner)]);
}

/** Parts of access lists that are, or may be, a password. */
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

/** Declared values of the variables that secret fields are made of, the invalid ones included. */
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

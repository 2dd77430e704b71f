/** @module Finds the variables that secret fields are made of. */
import { isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import { perObject } from "../model/per-object.ts";
import { type Expression, mayHoldExpression, textParts } from "./expression.ts";
import { secretPaths } from "./schema/shape.ts";
import { mapOf, textsIn } from "./values.ts";

export interface SecretVariables {
  readonly whole: ReadonlySet<string>;
  /** Variables that are at least a part of a secret field, or contain one; includes `whole`. */
  readonly part: ReadonlySet<string>;
  /** Texts that stand in secret fields as they are, with no expression in them. */
  readonly literals: ReadonlySet<string>;
}

/** Decides by the use of a variable in the manifest, never by its value. */
export const secretVariables: (manifest: JsonObject) => (kinds: readonly Kind[]) => SecretVariables =
  perObject((manifest) =>
    perObject((kinds) => {
      const whole = new Set<string>();
      const part = new Set<string>();
      const literals = new Set<string>();
      for (const { text, isField, forEach } of secretTexts(manifest, kinds)) {
        if (isField && !text.includes("${")) literals.add(text);
        const sources = openSources(text);
        const [only] = sources;
        if (isField && only?.scope === "variable" && only.text === text) whole.add(only.name);
        for (const source of sources)
          for (const name of source.scope === "variable" ? [source.name] : variablesIn(forEach))
            part.add(name);
      }
      return { whole, part, literals };
    }),
  );

/** The text of every secret field as it is written. */
function* secretTexts(
  manifest: JsonObject,
  kinds: readonly Kind[],
): Iterable<NonNullable<ReturnType<typeof textOn>> & { readonly forEach: Json | undefined }> {
  for (const kind of kinds) {
    const defaults = mapOf(mapOf(manifest["defaults"])[kind.name]);
    for (const written of Object.values(mapOf(manifest[kind.name]))) {
      const body = mapOf(written);
      for (const path of secretPaths(kind.schema)) {
        const found = textOn(body, path) ?? textOn(defaults, path);
        if (found !== undefined) yield { ...found, forEach: body["forEach"] ?? defaults["forEach"] };
      }
    }
  }
}

type OpenSource = Expression & { readonly scope: "variable" | "each" };

/** Variables and `each` expressions of a text; none if the text has a declared secret or an environment variable. */
export function openSources(text: string): readonly OpenSource[] {
  const parts = textParts(text).filter((part) => typeof part !== "string");
  if (parts.some(({ scope }) => scope === "secret" || scope === "environment")) return [];
  return parts.flatMap((part): OpenSource[] => {
    if (part.scope === "variable") return [{ ...part, scope: part.scope }];
    return part.scope === "each" ? [{ ...part, scope: part.scope }] : [];
  });
}

/** The text of a field, or the expression in place of a map around it; undefined if there is neither. */
export function textOn(
  body: JsonObject,
  path: string,
): { readonly text: string; readonly isField: boolean } | undefined {
  let value: Json | undefined = body;
  for (const key of path.split(".")) {
    if (typeof value === "string") return { text: value, isField: false };
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return typeof value === "string" ? { text: value, isField: true } : undefined;
}

function variablesIn(value: Json | undefined): readonly string[] {
  const parts = [...textsIn(value, mayHoldExpression)].flatMap(({ text }) => textParts(text));
  return parts.flatMap((part) => (typeof part !== "string" && part.scope === "variable" ? [part.name] : []));
}

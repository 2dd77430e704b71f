/** @module Decides which values of a manifest an excerpt shows: those of plain fields, without userinfo. */
import { holdsPassword } from "../../model/acl.ts";
import { isObject, type Json, type JsonObject, own } from "../../model/json.ts";
import type { Kind } from "../../model/kind.ts";
import { perObject } from "../../model/once.ts";
import { sensitive } from "../../model/sealed.ts";
import { mayHoldLogin, withoutUserinfo } from "../../model/userinfo.ts";
import { documentShape } from "../schema/document-shape.ts";
import { resourceShape, shapeAt } from "../schema/shape.ts";
import { secretVariables } from "../secrets.ts";
import type { Path } from "../source.ts";
import { mapOf } from "../values.ts";

/** Stands in place of a value that belongs to no field, or to none that is plain. */
const elsewhere = "…";

/** The text of a value at a path, as an excerpt shows it; of a map or a list `(sensitive)` if it is hidden as a whole. */
export type ShownAt = (path: Path, value: Json) => string;

/** One reference and nothing beside it names a secret, and holds none. */
const reference = /^\$\{[^}]*\}$/;

const shapeOf = perObject((kinds: readonly Kind[]) =>
  documentShape(kinds, (section) => {
    const schema = kinds.find(({ name }) => name === section)?.schema;
    const resource = schema === undefined ? {} : resourceShape(schema);
    return { resource, defaults: resource };
  }),
);

export function plainFields(manifest: JsonObject, kinds: readonly Kind[]): ShownAt {
  const outputs = mapOf(manifest["outputs"]);
  /** Sections whose values no field describes, and those whose values have rules of their own. */
  const hides: { readonly [section: string]: (path: Path, text: string) => boolean } = {
    outputs: ([, name]) => mapOf(outputs[String(name)])["sensitive"] === true,
    variables: ([, name, key]) =>
      (key === "default" || key === "allowed") && secretVariables(manifest)(kinds).part.has(String(name)),
    secrets: ([, , key], text) => !(key === "env" || key === "file") || mayHoldLogin(text),
    state: (_, text) => mayHoldLogin(text),
    service: (_, text) => mayHoldLogin(text),
  };
  return (path, value) => {
    const text = String(value);
    const section = String(path[0]);
    const field = shapeAt(shapeOf(kinds), path);
    if (isObject(value))
      return field?.["x-secret"] === true && field.properties === undefined ? sensitive : "";
    if (field === undefined && !["outputs", "variables"].includes(section)) return elsewhere;
    if (reference.test(text)) return text;
    const rule = own(hides, section);
    // A secret of another field too: an anchor, or the same text once more.
    const acl = field?.["x-compare"] === "acl" ? text.replaceAll(/\$\{[^${}]*\}/g, "~x") : "";
    const isSecret = field?.["x-secret"] === true || holdsPassword(acl);
    const isHidden = secretVariables(manifest)(kinds).literals.has(text) || (rule?.(path, text) ?? isSecret);
    return isHidden ? sensitive : withoutUserinfo(text);
  };
}

/** A key as an excerpt and a message show it: one that may hold a login is none of a field. */
export function shownKey(key: string): string {
  return mayHoldLogin(key) ? elsewhere : key;
}

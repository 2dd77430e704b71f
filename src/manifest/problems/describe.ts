/** @module Writes values and paths as messages show them. */
import type { Json } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";
import { withoutUserinfo } from "../../model/userinfo.ts";
import type { Path } from "../source.ts";

const longest = 60;

/** A value in words: `"text"` in quotes, shortened and without credentials, `a list`, `a map`, `empty`. */
export function describe(value: Json): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "a map";
  if (typeof value !== "string") return String(value);
  const shown = withoutUserinfo(value);
  return JSON.stringify(shown.length > longest ? `${shown.slice(0, longest)}…` : shown);
}

/** A path in dotted form: `config.name`, `imports[0].id`. */
export function dotted(path: Path): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return text.replace(/^\./, "");
}
